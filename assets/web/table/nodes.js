/**
 * The nodes of a graph as the table's columns have them, and which of them are shown in what order.
 *
 * @typedef {{key: number, name: string, kind: string, kernel: string, median_ns: number|null,
 *   launch_ns: number|null, share: number|null, body: number|null} & Record<string, any>} NodeRow  of
 *   the table: see gviz.app.views.table.table
 */

const texts = new Intl.Collator("en", { numeric: true });

export class Nodes {
  /** @param {Record<string, any[]>} columns by name, in order of numbers on the page */
  constructor(columns) {
    this.columns = columns;
    /** @type {number[]} */ this.ids = columns.key || [];
    this.places = new Map(this.ids.map((id, place) => [id, place]));
    /** @type {string[]|null} what a search looks in */ this.words = null;
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

  /** Those of some nodes that are in no other of them. @param {number[]} ids */
  outermost(ids) {
    const chosen = new Set(ids);
    const { parent } = this.columns;
    /** @param {number} id */
    const isWithin = (id) => {
      let around = parent[this.place(id)];
      while (around !== null && !chosen.has(around)) around = parent[this.place(around)];
      return around !== null;
    };
    return ids.filter((id) => !isWithin(id));
  }

  /**
   * The ids of the nodes shown, in order; what has no value comes last either way.
   * @param {{search: string, only: Set<number>|null, by: string, falling: boolean}} how
   */
  arrange({ search, only, by, falling }) {
    const wanted = search.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = this.ids.filter((id, place) => {
      if (only && !only.has(id)) return false;
      return wanted.every((word) => this.wordsOf(place).includes(word));
    });
    const values = this.columns[by];
    const sign = falling ? -1 : 1;
    /** @param {any} a @param {any} b */
    const compare = (a, b) => (typeof a === "number" ? a - b : texts.compare(a, b));
    return shown.sort((one, other) => {
      const [a, b] = [values[this.place(one)], values[this.place(other)]];
      if (a === null || b === null) return Number(a === null) - Number(b === null);
      return sign * compare(a, b);
    });
  }

  /** @param {number} place */
  wordsOf(place) {
    if (!this.words) {
      const columns = Object.values(this.columns);
      this.words = this.ids.map((id, at) => columns.map((values) => values[at] ?? "").join(" ").toLowerCase());
    }
    return this.words[place];
  }
}
