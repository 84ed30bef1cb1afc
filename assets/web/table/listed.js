/** Rows that the server has made, each about one node or several: changes, edges, sums by name. */
import { compare } from "./nodes.js";

export class Listed {
  /**
   * @param {Record<string, any[]>} columns by name; `key` is the node of a row, or `keys` are its nodes
   * @param {{search: string, only: Set<number>|null}} how of all rows those that a search finds, and
   *   those about one of these nodes
   */
  constructor(columns, { search, only }) {
    this.columns = columns;
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    const places = Array.from({ length: Object.values(columns)[0]?.length ?? 0 }, (_, place) => place);
    /** The places of the rows there are. */
    this.places = places.filter((place) =>
      (!only || this.nodesOf(place).some((node) => only.has(node))) && words.every((word) => this.has(place, word)));
  }

  /** @param {number} place @param {string} word in small letters */
  has(place, word) {
    return Object.values(this.columns).some((values) => String(values[place] ?? "").toLowerCase().includes(word));
  }

  /** The values of a row by name. @param {number} place */
  row(place) {
    const entries = Object.entries(this.columns).map(([name, values]) => [name, values[place]]);
    return /** @type {Record<string, any>} */ (Object.fromEntries(entries));
  }

  /** The nodes that a row is about. @param {number} place @returns {number[]} */
  nodesOf(place) {
    const { key, keys } = this.columns;
    return keys ? keys[place] : [key[place]];
  }

  /** The places of the rows, in order. @param {{by: string, falling: boolean}} how */
  arrange({ by, falling }) {
    const values = this.columns[by];
    if (!values) return this.places;
    return this.places.toSorted((one, other) => compare(values[one], values[other], falling));
  }
}
