/**
 * The nodes of a graph as the table's columns have them, and which of them are shown in what order.
 *
 * @typedef {{key: number, name: string, label: string, kind: string, kernel: string, median_ns: number|null,
 *   launch_ns: number|null, share: number|null, body: number|null} & Record<string, any>} NodeRow  of
 *   the table: see gviz.app.views.table.table
 */

import * as nodeList from "../core/node_list.js";
import { listOf, textsOf } from "./coded.js";

/** Compares texts; made when it is first wanted: that takes some milliseconds. @type {Intl.Collator|null} */
let collator = null;
/** Columns that words are not looked for in: the place of a colour, and stacks, which have most words of all. */
const NO_WORDS = ["slot", "src"];
/** A condition on one column: kind:memcpy, median>20. */
const CONDITION = /^(\w+)([:<>])(.+)$/;
/** What a number can be found by. */
const NUMBER = /^[\d.e+-]+$/;
/** Names of columns as a search has them, where the column is called otherwise; times are in µs there. */
const CALLED = /** @type {Record<string, string>} */ ({
  id: "node", median: "median_ns", p95: "p95_ns",
});

/**
 * The order of two values; what is null comes last either way.
 * @param {any} a @param {any} b @param {boolean} falling
 */
export function compare(a, b, falling) {
  if (a === null || b === null || a === undefined || b === undefined) return Number(a === null) - Number(b === null);
  const order = typeof a === "number" ? a - b : (collator ??= new Intl.Collator("en", { numeric: true })).compare(a, b);
  return falling ? -order : order;
}

export class Nodes {
  /** @param {Record<string, any>} sent columns by name, in order of numbers on the page */
  constructor({ stack, stacks, calls, families = [], ...sent }) {
    const count = sent.key?.length ?? 0;
    /** @type {Record<string, any[]>} */
    const columns = Object.fromEntries(Object.entries(sent).map(([name, column]) => [name, listOf(column, count)]));
    /** The functions that each node was made in, in lower case. @type {string[]} */
    this.calls = [];
    if (stack) {
      const lower = calls.map((/** @type {string} */ names) => names.toLowerCase());
      this.calls = stack.map((/** @type {number|null} */ place) => (place === null ? "" : lower[place]));
    }
    // Each stack and each family was sent once.
    /** The names of the kernel families, and the place of each node's among them. @type {{names: string[], codes: number[]}} */
    this.families = { names: families, codes: columns.family ?? [] };
    if (columns.family) columns.family = this.families.codes.map((code) => families[code]);
    this.columns = columns;
    if (stack) columns.src = stack.map((/** @type {number|null} */ place) => (place === null ? null : stacks[place]));
    /** @type {number[]} */ this.ids = columns.key || [];
    this.places = new Map(this.ids.map((id, place) => [id, place]));
    /** What a search looks in. @type {{texts: {texts: string[], codes: number[]}[], numbers: any[][]}|null} */
    this.searched = null;
  }

  /** @param {number} id */
  has(id) {
    return this.places.has(id);
  }

  /**
   * The place of a node in the columns.
   * @param {number} id
   */
  place(id) {
    return /** @type {number} */ (this.places.get(id));
  }

  /**
   * The values of a node by name.
   * @param {number} id
   * @returns {NodeRow}
   */
  row(id) {
    const place = this.place(id);
    const entries = Object.entries(this.columns).map(([name, values]) => [name, values[place]]);
    return /** @type {any} */ (Object.fromEntries(entries));
  }

  /** The places of nodes in the columns: of all nodes in their order nothing is looked up. @param {number[]} ids */
  placesOf(ids) {
    const places = new Int32Array(ids.length);
    for (let at = 0; at < ids.length; at++) places[at] = this.ids[at] === ids[at] ? at : this.place(ids[at]);
    return places;
  }

  /** The places of those of some nodes that are in no other of them. @param {number[]} ids */
  outermost(ids) {
    const { parent } = this.columns;
    const places = this.placesOf(ids);
    if (!parent || places.every((place) => parent[place] === null)) return places;
    const chosen = new Set(ids);
    return places.filter((place) => {
      let around = parent[place];
      while (around !== null && !chosen.has(around)) around = parent[this.place(around)];
      return around === null;
    });
  }

  /** The nodes that a row is about. @param {number} id */
  nodesOf(id) {
    return [id];
  }

  /**
   * The ids of the nodes shown, in order; what has no value comes last either way.
   * @param {{search: string, only: Set<number>|null, by: string, falling: boolean}} how
   */
  arrange({ search, only, by, falling }) {
    const shown = this.filter(search, only);
    const values = this.columns[by];
    if (!values) return shown;
    return shown.sort((one, other) => compare(values[this.place(one)], values[this.place(other)], falling));
  }

  /**
   * The ids of the nodes that a search finds: words in any column or in the functions a node was made in, or
   * conditions on one column.
   * @param {string} search @param {Set<number>|null} only
   */
  filter(search, only) {
    const tests = search.toLowerCase().split(/\s+/).filter(Boolean).map((word) => this.matcherOf(word));
    return this.ids.filter((id, place) => (!only || only.has(id)) && tests.every((test) => test(place)));
  }

  /** @param {string} word @returns {(place: number) => boolean} */
  matcherOf(word) {
    const [, name, sign, wanted] = CONDITION.exec(word) ?? [];
    const field = CALLED[name] ?? name;
    const values = name === undefined ? undefined : this.columns[field];
    if (!values) return this.finderOf(word);
    if (name === "id" && sign === ":") {
      const ids = new Set(nodeList.read(wanted));
      return (place) => ids.has(values[place]);
    }
    if (sign === ":") return (place) => String(values[place] ?? "").toLowerCase().includes(wanted);
    const limit = Number(wanted) * (field.endsWith("_ns") ? 1000 : 1);
    return (place) => values[place] !== null && (sign === "<" ? values[place] < limit : values[place] > limit);
  }

  /** Columns of texts, each text once, and columns of numbers: made at the first search. */
  columnsOfWords() {
    if (!this.searched) {
      const columns = Object.entries(this.columns).filter(([name]) => !NO_WORDS.includes(name)).map(([, values]) => values);
      const isNumbers = (/** @type {any[]} */ values) => typeof values.find((value) => value !== null && value !== undefined) === "number";
      this.searched = { texts: columns.filter((values) => !isNumbers(values)).map(textsOf), numbers: columns.filter(isNumbers) };
    }
    return this.searched;
  }

  /** Whether a node has a word in any column, or in the functions that it was made in. @param {string} word @returns {(place: number) => boolean} */
  finderOf(word) {
    const { texts: columns, numbers } = this.columnsOfWords();
    const found = columns.map(({ texts: all, codes }) => ({ codes, has: all.map((text) => text.includes(word)) })).filter(({ has }) => has.includes(true));
    const asked = NUMBER.test(word) ? numbers : [];
    return (place) => found.some(({ codes, has }) => has[codes[place]]) || (this.calls[place] ?? "").includes(word) ||
      asked.some((values) => String(values[place] ?? "").includes(word));
  }
}
