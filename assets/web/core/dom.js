/** Elements of a page. */

/**
 * The element that an event happened at, or that is around it, of a selector; null: none.
 * @param {Event} event @param {string} selector
 * @returns {HTMLElement|null}
 */
export function closest({ target }, selector) {
  return target instanceof Element ? target.closest(selector) : null;
}

/**
 * An element that the page has for certain.
 * @param {string} id @returns {HTMLElement}
 */
export function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/**
 * The pen of a canvas.
 * @param {HTMLCanvasElement} canvas @returns {CanvasRenderingContext2D}
 */
export function penOf(canvas) {
  return /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
}

/**
 * The canvas in an element of the page; null: there is none.
 * @param {string} id @returns {HTMLCanvasElement|null}
 */
export function canvasOf(id) {
  return document.querySelector(`#${id} canvas`);
}

/**
 * An element of a class, made at the end of another.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag @param {string} className @param {Element} parent
 */
export function append(tag, className, parent) {
  const made = document.createElement(tag);
  made.className = className;
  parent.appendChild(made);
  return made;
}

/** Characters at the end of a name that stay where it is cut: siblings often differ there. */
const TAIL = 7;
/** A name so short is cut no better in its middle. */
const LEAST = 13;

/** The beginning of a name, which is cut, and its end, which is not; "": there is none apart. @param {string} name @returns {[string, string]} */
export const inTwo = (name) => (name.length < LEAST ? [name, ""] : [name.slice(0, -TAIL), name.slice(-TAIL)]);
