/**
 * The panes of a graph's page: how they share the room, and which of them has all of it. A double click on a
 * pane's bar, or its key, gives it the room and takes it back.
 *
 * @typedef {{pane: string, shares: number[]|null}} Room  `pane` "": none has all of it; `shares` of the first
 *   pane at each bar, in percent, null: as they are at first
 */
import { closest } from "../core/dom.js";
import * as split from "./split.js";

/** Keys of panes; that of the breakdown is its own. @type {Record<string, string>} */
export const KEYS = { g: "graph", t: "timeline", i: "inspector", l: "table" };
/** All that can have the room; the last two are the breakdown's. */
export const PANES = [...Object.values(KEYS), "breakdown", "what-if"];
const TYPED = "input, textarea, select, [contenteditable], dialog";
/** What of a bar does something else on a double click. */
const TOOLS = "button, select, label, a, input";

export class Panes {
  /**
   * @param {HTMLElement} page @param {(room: Partial<Room>) => void} changed a reader wants other room
   */
  constructor(page, changed) {
    this.page = page;
    this.changed = changed;
    this.pane = "";
    /** The bars' splits, in the order of the page. @type {HTMLElement[]} */
    this.splits = Array.from(page.querySelectorAll(".gv-split"));
    this.first = this.splits.map(split.shareOf);
    this.ending = new AbortController();
    this.listen();
  }

  /** @param {Room} room */
  show({ pane, shares }) {
    this.pane = pane;
    this.page.toggleAttribute("data-whole", Object.values(KEYS).includes(pane));
    for (const part of this.page.querySelectorAll("[data-pane]")) {
      part.classList.toggle("gv-pane-whole", part.getAttribute("data-pane") === pane);
    }
    this.splits.forEach((one, n) => split.setShare(one, shares?.[n] ?? this.first[n]));
  }

  /** Give a pane the room, or take it back. @param {string} pane */
  toggle(pane) {
    const whole = this.page.querySelector(`[data-pane="${pane}"]`);
    if (!whole) return;
    this.changed({ pane: this.pane === pane ? "" : pane });
    if (this.pane !== pane) return;
    /** @type {HTMLElement|null} */
    const within = whole.querySelector("canvas, .gv-rows:not([hidden]) > table");
    (within ?? /** @type {HTMLElement} */ (whole)).focus({ preventScroll: true });
  }

  listen() {
    const { signal } = this.ending;
    this.page.addEventListener("gviz-share", () => {
      const shares = this.splits.map(split.shareOf);
      const isFirst = shares.every((share, n) => share === this.first[n]);
      this.changed({ shares: isFirst ? null : shares });
    }, { signal });
    this.page.addEventListener("dblclick", (event) => {
      const pane = closest(event, ".gv-pane-head") && closest(event, "[data-pane]");
      if (pane && !closest(event, TOOLS)) this.toggle(pane.dataset.pane ?? "");
    }, { signal });
    document.addEventListener("keydown", (event) => {
      const { key, ctrlKey, metaKey, altKey, defaultPrevented } = event;
      if (defaultPrevented || ctrlKey || metaKey || altKey || closest(event, TYPED)) return;
      if (Object.hasOwn(KEYS, key)) this.toggle(KEYS[key]);
    }, { signal });
  }

  close() {
    this.ending.abort();
  }
}
