/**
 * The inspector: elements that say what is selected. Nodes named in it (button[data-node]) are
 * selected by a click and pointed at by mouse and focus.
 */
import { closest } from "../core/dom.js";
import { element } from "../core/parts.js";

const NAMED = "button[data-node]";

/** The node that a button of the inspector names, or null. @param {Event} event on it */
export function nodeOf(event) {
  const named = closest(event, NAMED);
  return named ? Number(named.dataset.node) : null;
}

export class Inspector {
  /** @param {HTMLElement} box @param {(nodes: number[]) => void} select */
  constructor(box, select) {
    this.box = box;
    /**
     * What is shown, or on its way: a later answer to an earlier question is dropped.
     * @type {string|null}
     */
    this.key = null;
    box.addEventListener("click", (event) => {
      const node = nodeOf(event);
      if (node !== null) select([node]);
    });
  }

  /**
   * Show what is made, unless something else is requested meanwhile.
   * @param {string} key what it is about @param {() => Promise<HTMLElement>} make
   * @returns {Promise<HTMLElement|null>} what is shown now; null: nothing new
   */
  async show(key, make) {
    if (key === this.key) return null;
    this.key = key;
    const made = await make();
    if (key !== this.key) return null;
    this.box.replaceChildren(made);
    return made;
  }

  /** Say why nothing is shown. @param {string} text */
  say(text) {
    this.key = null;
    this.box.replaceChildren(
      element("div", { class: "gv-message" }, element("h1", {}, "Not shown"), element("p", {}, text)));
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
