/** The nodes of a graph as the table's columns have them, and which of them are shown in what order. */

const texts = new Intl.Collator("en", { numeric: true });

export class Nodes {
  /** @param {Object<string, any[]>} columns by name, in order of numbers on the page */
  constructor(columns) {
    this.columns = columns;
    this.ids = columns.key || [];
    this.places = new Map(this.ids.map((id, place) => [id, place]));
    /** @type {string[]|null} what a search looks in */ this.words = null;
  }

  has(id) {
    return this.places.has(id);
  }

  /** The place of a node in the columns. */
  place(id) {
    return this.places.get(id);
  }

  /** The values of a node by name. */
  row(id) {
    const place = this.places.get(id);
    return Object.fromEntries(Object.entries(this.columns).map(([name, values]) => [name, values[place]]));
  }

  /** Those of some nodes that are in no other of them. @param {number[]} ids */
  outermost(ids) {
    const chosen = new Set(ids);
    const { holder } = this.columns;
    const isWithin = (id) => {
      let around = holder[this.place(id)];
      while (around !== null && !chosen.has(around)) around = holder[this.place(around)];
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
    const compare = (a, b) => (typeof a === "number" ? a - b : texts.compare(a, b));
    return shown.sort((one, other) => {
      const [a, b] = [values[this.place(one)], values[this.place(other)]];
      if (a === null || b === null) return (a === null) - (b === null);
      return sign * compare(a, b);
    });
  }

  wordsOf(place) {
    if (!this.words) {
      const columns = Object.values(this.columns);
      this.words = this.ids.map((id, at) => columns.map((values) => values[at] ?? "").join(" ").toLowerCase());
    }
    return this.words[place];
  }
}
