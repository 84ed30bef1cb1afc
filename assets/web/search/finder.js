/**
 * The hits of a search: the nodes that keep their colour while the others fade, how long they take together,
 * and walking through them.
 */
import * as announce from "../core/announce.js";
import * as format from "../core/format.js";
import * as sums from "../table/sums.js";
/** @import { Group } from "../core/bus.js" */
/** @import { Nodes } from "../table/nodes.js" */

export class Finder {
  /** @param {Group} group */
  constructor(group) {
    this.group = group;
    /** "": no hits, for nothing is searched. */ this.words = "";
    /** The hit walked to. @type {number|null} */ this.current = null;
  }

  /** Search in some nodes; what is empty ends the search. @param {Nodes} nodes @param {string} text */
  search(nodes, text) {
    const hits = text.trim() ? nodes.filter(text, null) : null;
    this.current = null;
    this.words = hits ? wordsOf(nodes, hits) : "";
    this.group.find(hits);
    if (hits) announce.say(`${this.words}.`);
  }

  /**
   * Walk to the next hit, from the last to the first.
   * @param {number[]} order hits as they stand in the table @param {number} by 1, or -1 for back
   */
  step(order, by) {
    if (!order.length) return null;
    const here = this.current === null ? -1 : order.indexOf(this.current);
    const next = here < 0 ? (by > 0 ? 0 : order.length - 1) : (here + by + order.length) % order.length;
    this.current = order[next];
    return this.current;
  }

  /** What stands beside the search. @param {number[]} order */
  note(order) {
    const here = this.current === null ? -1 : order.indexOf(this.current);
    return here < 0 ? this.words : `${format.integer(here + 1)} of ${this.words}`;
  }
}

/** How many nodes there are, what they take in a launch, and its share. @param {Nodes} nodes @param {number[]} hits */
export const wordsOf = (nodes, hits) => sums.wordsOf(format.counted(hits.length, "hit"), sums.sumsOf(nodes, hits));
