/**
 * Requests of an address: names of what is to be selected, and to be left by the filter. They are kept until the parts of
 * the page that know them are there; what is selected and left is named in turn.
 *
 * @typedef {"select"|"filter"} What
 * @typedef {{names: Names, isComing: () => boolean, miss: (names: string[]) => void}} Host  what knows names; whether more
 *   parts come that do; what says which names lead to nothing
 */
/** @import { Group } from "../core/bus.js" */
/** @import { State } from "./address.js" */
/** @import { Names } from "./names.js" */

const WHAT = /** @type {const} */ (["select", "filter"]);

export class Requests {
  /** @param {Group} group @param {Host} host @param {Partial<State>} requested taken by {@link settle} */
  constructor(group, host, { select = [], filter = [] }) {
    this.group = group;
    this.host = host;
    /** @type {Record<What, string[]>} */ this.wanted = { select, filter };
    /** Whether what was asked for is being selected. */ this.isTaking = false;
  }

  /** @param {Partial<State>} requested */
  ask({ select = [], filter = [] }) {
    this.wanted = { select, filter };
    this.settle();
  }

  /** More is there by now: take what it names. */
  settle() {
    const { names, isComing, miss } = this.host;
    names.forget();
    for (const what of WHAT) {
      const wanted = this.wanted[what];
      if (!wanted.length) continue;
      const found = wanted.map((name) => names.nodesOf(name));
      const missing = wanted.filter((_, n) => found[n] === null);
      // In part it would be another selection, with other sums.
      if (missing.length && isComing()) continue;
      this.wanted[what] = [];
      const nodes = Array.from(new Set(found.flatMap((some) => some ?? [])));
      if (nodes.length) this.take(what, nodes);
      if (missing.length) miss(missing);
    }
  }

  /** @param {What} what @param {number[]} nodes */
  take(what, nodes) {
    this.isTaking = true;
    if (what === "select") this.group.select(nodes);
    else this.group.filter(nodes);
    this.isTaking = false;
  }

  /** Selection or filter changed: what a reader chose is not asked for any more. @param {Record<"selected"|"filtered", boolean>} what */
  hear({ selected, filtered }) {
    if (this.isTaking) return;
    if (selected) this.wanted.select = [];
    if (filtered && this.group.filtered) this.wanted.filter = [];
  }

  /** Whether an address has no room for what the filter leaves. @param {State} state */
  isUnfiltered(state) {
    return this.group.filtered !== null && !state.brush && !this.named(state).filter.length;
  }

  /** The names of what is selected and left, or of what is asked for. @param {State} state @returns {Pick<State, "select"|"filter">} */
  named({ node, brush }) {
    const { names } = this.host;
    const { select, filter } = this.wanted;
    const { filtered } = this.group;
    const isOther = filter.length > 0 || brush !== null || !filtered;
    return { select: select.length ? select : names.namesOf(node), filter: isOther ? filter : names.filterOf(filtered) };
  }
}
