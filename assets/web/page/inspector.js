/**
 * The inspector: elements that say what is selected. Nodes named in it (button[data-node]) are
 * selected by a click and pointed at by mouse and focus.
 */
import { element } from "../core/parts.js";

const NAMED = "button[data-node]";

/** The node that a button of the inspector names, or null. @param {Element} target */
export function nodeOf(target) {
  const named = target?.closest?.(NAMED);
  return named ? Number(named.dataset.node) : null;
}

export class Inspector {
  /** @param {Element} box @param {function(number[]): void} select */
  constructor(box, select) {
    this.box = box;
    /** What is shown, or on its way: a later answer to an earlier question is dropped. */
    this.key = null;
    box.addEventListener("click", (event) => {
      const node = nodeOf(event.target);
      if (node !== null) select([node]);
    });
  }

  /**
   * Show what is made, unless something else is asked for meanwhile.
   * @param {string} key what it is about @param {function(): Promise<Element>} make
   * @returns {Promise<Element|null>} what is shown now; null: nothing new
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
    for (const named of this.box.querySelectorAll(NAMED)) {
      named.classList.toggle("gv-pointed", Number(named.dataset.node) === node);
    }
  }
}
