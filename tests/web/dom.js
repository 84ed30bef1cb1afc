/** As much of a document as core/parts.js makes elements with, for tests without a browser. */

class Element {
  /** @param {string} tag */
  constructor(tag) {
    this.tag = tag;
    /** @type {Record<string, string>} */ this.attributes = {};
    /** @type {Record<string, string>} */ this.style = {};
    /** @type {(Element|string)[]} */ this.children = [];
  }

  /** @param {string} name @param {string} value */
  setAttribute(name, value) {
    this.attributes[name] = String(value);
  }

  /** @param {...(Element|string)} children */
  append(...children) {
    this.children.push(...children);
  }

  /** @param {...(Element|string)} children */
  replaceChildren(...children) {
    this.children = children;
  }

  /** @returns {string} */
  get textContent() {
    return this.children.map((child) => (typeof child === "string" ? child : child.textContent)).join("");
  }
}

/** Have elements made without a browser. */
export function standIn() {
  globalThis.document = /** @type {any} */ ({ createElement: (/** @type {string} */ tag) => new Element(tag) });
}

/** All elements below one, itself first. @param {any} element @returns {any[]} */
export function all(element) {
  return [element, ...element.children.filter((/** @type {any} */ child) => typeof child !== "string").flatMap(all)];
}
