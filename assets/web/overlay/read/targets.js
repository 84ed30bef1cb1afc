/**
 * The nodes that a row of a table is about: by id, by the name of their kernel, by a range or a layer that they are in.
 *
 * @typedef {{label: string, nodes: number[]}} Group  a layer, or another part of the launch, by what it is called
 * @typedef {{places: number[], how: string, isShared: boolean}} Target  nodes by their places in the table; `isShared`:
 *   the row is about them together
 */
import { ownOf, wholeOf } from "./kernel_name.js";
/** @import { KeyKind } from "./header.js" */

/** Between the ranges of a path, on pages and as files have it. */
const BETWEEN = "›";
const SLASHES = /\s*(?:\/|›|\s>\s)\s*/;
/** Ids of CUPTI have gviz's number of a node in their lower half. */
const LOWER = 0xffffffffn;
/** Keys without a target that are remembered. */
const MOST_MISSED = 10_000;

export class Targets {
  /**
   * @param {{columns: Record<string, any[]>, places: Map<number, number>}} nodes of the page: node, name, label, kernel, nvtx
   * @param {Group[]} groups
   */
  constructor({ columns, places }, groups) {
    this.columns = columns;
    /** The place of each node, by its number on the page. */ this.places = places;
    this.groups = groups;
    this.count = columns.node?.length ?? 0;
    /** @type {Map<number, Target>|null} */ this.ids = null;
    /** @type {Map<string, Map<string, Target>>} */ this.tables = new Map();
    /** @type {Map<string, Target|null>} */ this.found = new Map();
    this.missed = 0;
  }

  /** What a cell is about; null: no node. @param {KeyKind} kind @param {string} cell @returns {Target|null} */
  find(kind, cell) {
    if (!cell) return null;
    if (kind === "node") return this.byId(cell);
    const key = `${kind} ${cell}`;
    const known = this.found.get(key);
    if (known !== undefined) return known;
    const target = kind === "name" ? this.byName(cell) : kind === "range" ? this.byRange(cell) : this.byLayer(cell);
    if (!target) this.missed += 1;
    if (target || this.missed <= MOST_MISSED) this.found.set(key, target);
    return target;
  }

  /** @param {string} name @param {() => Map<string, Target>} make */
  table(name, make) {
    const known = this.tables.get(name) ?? make();
    this.tables.set(name, known);
    return known;
  }

  /**
   * Places of nodes by what they are called.
   * @param {string} how @param {(place: number) => Iterable<string>} namesOf @param {boolean} [isShared]
   */
  index(how, namesOf, isShared = false) {
    /** @type {Map<string, Target>} */
    const index = new Map();
    for (let place = 0; place < this.count; place++) {
      for (const name of namesOf(place)) {
        const target = index.get(name);
        if (!target) index.set(name, { places: [place], how, isShared });
        else if (target.places.at(-1) !== place) target.places.push(place);
      }
    }
    return index;
  }

  /** @param {string} cell */
  byId(cell) {
    const text = cell.trim();
    if (!/^\d{1,20}$/.test(text)) return null;
    this.ids ??= this.listIds();
    return this.ids.get(text.length < 10 ? Number(text) : Number(BigInt(text) & LOWER)) ?? null;
  }

  listIds() {
    /** @type {Map<number, Target>} */
    const ids = new Map();
    this.columns.node?.forEach((id, place) => {
      const known = ids.get(id);
      // Graphs within nodes number theirs anew.
      if (known) known.places.push(place);
      else ids.set(id, { places: [place], how: "id", isShared: false });
    });
    return ids;
  }

  /** The name as it is, else without what programs write differently, else the function's alone. @param {string} cell */
  byName(cell) {
    const { name, kernel, label } = this.columns;
    const text = cell.trim();
    const exact = this.table("name", () => this.index("name", (place) => [name[place], kernel[place], label[place]]));
    const found = exact.get(text);
    if (found) return found;
    const whole = this.table("whole", () => this.index("name", rememberedOf((place) => kernel[place], (given) => [wholeOf(given)])));
    const same = whole.get(wholeOf(text));
    // With template arguments it is one of several, and not these.
    if (same || text.includes("<")) return same ?? null;
    const own = this.table("own", () => this.index("function name", rememberedOf((place) => kernel[place], (given) => [ownOf(given)])));
    return own.get(ownOf(text)) ?? null;
  }

  /** @param {string} cell */
  byRange(cell) {
    const { nvtx } = this.columns;
    const ranges = this.table("range", () => this.index("range", rememberedOf((place) => nvtx?.[place] ?? "", partsOf), true));
    const text = cell.trim();
    const path = text.split(SLASHES).filter(Boolean).join(BETWEEN);
    return ranges.get(text) ?? ranges.get(path) ?? this.byGroup().get(text) ?? null;
  }

  /** By its name, or its number. @param {string} cell */
  byLayer(cell) {
    return this.byGroup().get(cell.trim()) ?? this.byRange(cell);
  }

  byGroup() {
    return this.table("group", () => {
      const { places } = this;
      /** @type {Map<string, Set<number>>} */
      const members = new Map();
      for (const { label, nodes } of this.groups) {
        const number = /(?:^|\s)(\d+)$/.exec(label)?.[1];
        for (const name of new Set([label, ...(number ? [number] : [])])) {
          const all = members.get(name) ?? new Set();
          for (const id of nodes) if (places.has(id)) all.add(/** @type {number} */ (places.get(id)));
          members.set(name, all);
        }
      }
      return new Map(Array.from(members, ([name, all]) =>
        [name, { places: Array.from(all).sort((a, b) => a - b), how: "layer", isShared: true }]));
    });
  }
}

/** What is made of a text of each node, once a text. @param {(place: number) => string} textOf @param {(text: string) => string[]} make */
function rememberedOf(textOf, make) {
  /** @type {Map<string, string[]>} */
  const made = new Map();
  return (/** @type {number} */ place) => {
    const text = textOf(place);
    const known = made.get(text) ?? make(text);
    made.set(text, known);
    return known;
  };
}

/** The paths that a path of ranges has in it. @param {string} path */
function partsOf(path) {
  const steps = path.split(` ${BETWEEN} `).filter(Boolean);
  const parts = steps.flatMap((_, from) => steps.slice(from).map((__, n) => steps.slice(from, from + n + 1).join(BETWEEN)));
  return Array.from(new Set(path ? [path, ...parts] : parts));
}
