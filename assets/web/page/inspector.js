/**
 * The inspector: elements that say what is selected. Nodes named in it (button[data-node]) are
 * selected by a click and pointed at by mouse and focus.
 */
import { closest } from "../core/dom.js";
import { element } from "../core/parts.js";
/** @import { Group } from "../core/bus.js" */

const NAMED = "button[data-node]";

/** The node that a button of the inspector names, or null. @param {Event} event on it */
function nodeOf(event) {
  const named = closest(event, NAMED);
  return named ? Number(named.dataset.node) : null;
}

export class Inspector {
  /** @param {HTMLElement} box @param {Group} group */
  constructor(box, group) {
    this.box = box;
    /**
     * What is shown, or on its way: a later answer to an earlier question is dropped.
     * @type {string|null}
     */
    this.key = null;
    box.addEventListener("click", (event) => {
      const node = nodeOf(event);
      if (node !== null) group.select([node]);
    });
    for (const name of ["mouseover", "focusin"]) box.addEventListener(name, (event) => group.hover(nodeOf(event)));
    for (const name of ["mouseleave", "focusout"]) box.addEventListener(name, () => group.hover(null));
  }

  /**
   * Show what is made, unless something else is requested meanwhile.
   * @param {string} key what it is about @param {() => Promise<HTMLElement>} make
   */
  async show(key, make) {
    if (key === this.key) return;
    this.key = key;
    try {
      const made = await make();
      if (key === this.key) this.box.replaceChildren(made);
    } catch (error) {
      if (key === this.key) this.say(/** @type {Error} */ (error).message);
    }
  }

  /** Say why nothing is shown. @param {string} text */
  say(text) {
    this.key = null;
    this.box.replaceChildren(notShown(text));
  }

  /** Point at a node where it is named. @param {number|null} node */
  mark(node) {
    /** @type {NodeListOf<HTMLElement>} */
    const buttons = this.box.querySelectorAll(NAMED);
    for (const named of buttons) {
      named.classList.toggle("gv-pointed", Number(named.dataset.node) === node);
    }
  }
}

/** Why a part of the page is not there. @param {string} text */
export function notShown(text) {
  return element("div", { class: "gv-message" }, element("h1", {}, "Not shown"), element("p", {}, text));
}
