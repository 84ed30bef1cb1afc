/**
 * The table by kernel family: a row for each family, and inside it, where it is open, its nodes.
 * Python side: gviz.app.views.table.family_table.
 *
 * @typedef {{id: string, name: string, label: string, slot: number, count: number, total_ns: number|null,
 *   share: number|null, min_ns: number|null, max_ns: number|null, each: string, ranges: string, nodes: number[]}} FamilyRow
 * @typedef {{by: string, falling: boolean, open: Set<number>}} Order  of the rows, and which families are open
 */
import * as format from "../core/format.js";
import { compare } from "./nodes.js";
/** @import { Nodes } from "./nodes.js" */

/** Nodes are sorted by these where families are sorted by sums and extremes. @type {Record<string, string>} */
const OF_NODES = { total_ns: "launch_ns", max_ns: "median_ns", count: "key", ranges: "nvtx" };
/** More ranges than these are counted. */
const MOST_RANGES = 3;
const INSIDE = " › ";

/** A family's number among rows: nodes have theirs from 0 on. @param {number} code */
export const rowOf = (code) => -1 - code;

/** @param {number} row @returns {number} its place among the families */
export const codeOf = (row) => -1 - row;

export class Families {
  /** @param {Nodes} nodes @param {number[]} ids those of them that search and filter leave */
  constructor(nodes, ids) {
    this.nodes = nodes;
    const { names, codes } = nodes.families;
    this.names = names;
    /** Places of the nodes of each family, in order of their numbers. @type {number[][]} */
    this.places = names.map(() => []);
    for (const at of nodes.placesOf(ids)) this.places[codes[at]].push(at);
    /** Of the families that have nodes left. @type {Map<number, FamilyRow>} */
    this.families = new Map();
    this.places.forEach((places, code) => places.length && this.families.set(rowOf(code), this.sum(code)));
    /** The greatest share of a family. */
    this.widest = Math.max(0, ...Array.from(this.families.values(), ({ share }) => share ?? 0));
    /** All nodes as they were ordered last. @type {{key: string, nodes: number[]}|null} */ this.ordered = null;
  }

  /** Whether a row is that of a family. @param {number} row */
  isGroup(row) {
    return row < 0;
  }

  /** The row of a node's family. @param {number} id */
  around(id) {
    return this.nodes.has(id) ? rowOf(this.nodes.families.codes[this.nodes.place(id)]) : null;
  }

  /** @param {number} code @returns {FamilyRow} */
  sum(code) {
    const { median_ns: medians, launch_ns: launches, share: shares, slot, kind } = this.nodes.columns;
    const places = this.places[code];
    let [total, share, least, most] = [0, 0, Infinity, -Infinity];
    for (const at of places) {
      // Work inside a node counts for the nested nodes.
      if (medians[at] === null) continue;
      total += launches[at] ?? 0;
      share += shares[at] ?? 0;
      least = Math.min(least, medians[at]);
      most = Math.max(most, medians[at]);
    }
    const isTimed = least <= most;
    const name = this.names[code] || kind[places[0]];
    return {
      // Never the name of something that every object has, such as "constructor".
      id: `family ${name}`, name, label: name, slot: slot[places[0]], count: places.length,
      total_ns: isTimed ? total : null, share: isTimed ? share : null,
      min_ns: isTimed ? least : null, max_ns: isTimed ? most : null,
      each: isTimed ? between(least, most) : format.MISSING, ranges: this.rangesOf(places),
      nodes: places.map((at) => this.nodes.ids[at]),
    };
  }

  /** The outer ranges of some nodes. @param {number[]} places */
  rangesOf(places) {
    const { nvtx } = this.nodes.columns;
    const all = new Set(nvtx && places.map((at) => nvtx[at]));
    const outer = new Set(Array.from(all).filter(Boolean).map((range) => range.split(INSIDE, 1)[0]));
    return outer.size > MOST_RANGES ? format.counted(outer.size, "range") : Array.from(outer).join(", ");
  }

  /** The values of a row by name. @param {number} row @returns {Record<string, any>} */
  row(row) {
    const family = this.families.get(row);
    if (family) return family;
    const node = this.nodes.row(row);
    return {
      ...node, count: "", total_ns: node.launch_ns, each: format.microseconds(node.median_ns),
      min_ns: node.median_ns, max_ns: node.median_ns, ranges: node.nvtx,
    };
  }

  /** The nodes that a row is about. @param {number} row */
  nodesOf(row) {
    return this.isGroup(row) ? this.families.get(row)?.nodes ?? [] : [row];
  }

  /** The rows in order, each open family with its nodes behind it. @param {Order} how */
  arrange({ by, falling, open }) {
    return this.sorted(by, falling).flatMap((row) =>
      open.has(codeOf(row)) ? [row, ...this.inside(row, by, falling)] : [row]);
  }

  /** All nodes in the order in which rows have them, whether their families are open or not. @param {Order} how */
  order({ by, falling }) {
    const key = `${by} ${falling}`;
    if (this.ordered?.key !== key) {
      this.ordered = { key, nodes: this.sorted(by, falling).flatMap((row) => this.inside(row, by, falling)) };
    }
    return this.ordered.nodes;
  }

  /** The rows of families. @param {string} by @param {boolean} falling */
  sorted(by, falling) {
    /** @param {number} row */
    const value = (row) => /** @type {Record<string, any>} */ (this.families.get(row))[by];
    return Array.from(this.families.keys()).sort((a, b) => compare(value(a), value(b), falling));
  }

  /** The nodes of a family. @param {number} row @param {string} by @param {boolean} falling */
  inside(row, by, falling) {
    const values = this.nodes.columns[OF_NODES[by] ?? by];
    const places = this.places[codeOf(row)];
    const ordered = values ? sort(places, values, falling) : places;
    return ordered.map((at) => this.nodes.ids[at]);
  }
}

/**
 * Places in the order of their values, those without one last.
 * @param {number[]} places @param {any[]} values @param {boolean} falling
 */
function sort(places, values, falling) {
  if (places.some((at) => typeof values[at] === "string")) {
    return places.toSorted((a, b) => compare(values[a], values[b], falling));
  }
  // A family may have all nodes of a large graph: numbers are compared as such.
  const sign = falling ? -1 : 1;
  const keys = Float64Array.from(places, (at) => (values[at] === null ? Infinity : sign * values[at]));
  const order = Uint32Array.from(keys, (_, n) => n).sort((a, b) => keys[a] - keys[b] || a - b);
  return Array.from(order, (n) => places[n]);
}

/** @param {number} least @param {number} most */
function between(least, most) {
  const [first, last] = [format.microseconds(least), format.microseconds(most)];
  return first === last ? first : `${first} – ${last}`;
}
