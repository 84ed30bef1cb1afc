/**
 * The search of a graph's page: its field, its hits in every view, the walk through them, and what stands beside it.
 *
 * @typedef {{nodes: () => Nodes|null, left: () => number[], rows: () => number[], narrowed: (text: string) => void, there: () => Promise<void>, show: (node: number) => void}} Page
 *   whose search it is: its nodes, once they are there, those left of them, and these as the table has them; what hears of a
 *   reader's search, waits for the table to have its rows, and brings a hit into view
 */
import { byId } from "../core/dom.js";
import { integer } from "../core/format.js";
import { Finder } from "./finder.js";
/** @import { Group } from "../core/bus.js" */
/** @import { Nodes } from "../table/nodes.js" */

/** Characters of a search: an address has room for it. */
export const MOST_SEARCHED = 300;

export class Search {
  /** @param {Group} group @param {Page} page */
  constructor(group, page) {
    this.group = group;
    this.page = page;
    this.finder = new Finder(group);
  }

  /** Have the field be as the state says. @param {string} text */
  write(text) {
    const field = /** @type {HTMLInputElement} */ (byId("search"));
    if (field.value !== text) field.value = text;
  }

  /** Search the nodes that there are. @param {string} text */
  run(text) {
    const nodes = this.page.nodes();
    if (nodes) this.finder.search(nodes, text);
  }

  /** A reader searches, as far as an address has room for it. @param {string} text */
  find(text) {
    const kept = text.slice(0, MOST_SEARCHED);
    this.write(kept);
    this.page.narrowed(kept);
  }

  /** Walk to the next hit, or back. @param {number} by */
  async walk(by) {
    // Enter may be pressed sooner than the table has the rows of what was typed.
    await this.page.there();
    const hit = this.finder.step(this.page.rows(), by);
    if (hit === null) return;
    this.group.select([hit]);
    this.page.show(hit);
    this.count();
  }

  /** Say how many nodes are shown, and which hit of how many is. */
  count() {
    const [left, all] = [this.page.left().length, this.page.nodes()?.ids.length ?? 0];
    const note = this.finder.note(this.finder.current === null ? [] : this.page.rows());
    byId("row-count").textContent = note || (left === all ? "" : `${integer(left)} of ${integer(all)}`);
    const clear = byId("filter-clear");
    const { filtered } = this.group;
    clear.hidden = !filtered;
    clear.textContent = filtered ? `${integer(filtered.length)} of ${integer(all)} nodes ✕` : "";
  }

  /** @param {AbortSignal} signal ends it */
  listen(signal) {
    const field = /** @type {HTMLInputElement} */ (byId("search"));
    field.addEventListener("input", () => this.find(field.value), { signal });
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.walk(event.shiftKey ? -1 : 1);
      else if (event.key === "Escape") this.find("");
    }, { signal });
    byId("filter-clear").addEventListener("click", () => this.group.filter(null), { signal });
  }
}
