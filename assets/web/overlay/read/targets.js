/**
 * The nodes that a row of a table is about: by id, by the name of their kernel, by a range or a layer that they are in.
 *
 * @typedef {{label: string, nodes: number[]}} Group  a layer, or another part of the launch, by what it is called
 * @typedef {{places: number[], how: string, isShared: boolean}} Target  nodes by their places in the table; `isShared`:
 *   the row is about them together
 */
import { trimmed } from "./cell.js";
import { ownOf, wholeOf } from "./kernel_name.js";
/** @import { Pace } from "../../core/pace.js" */
/** @import { KeyKind } from "./header.js" */

/** Between the ranges of a path, on pages and as files have it. */
const BETWEEN = "›";
const SLASHES = /\s*(?:\/|›|\s>\s)\s*/;
/** Ids of CUPTI have gviz's number of a node in their lower half. */
const LOWER = 0xffffffffn;
/** Nodes that are looked at in one go. */
const EACH = 1_000;
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

  /** Make what keys are looked up in, once. @param {Pace} pace */
  async prepare(pace) {
    if (this.tables.size) return;
    const { node, name, kernel, label, nvtx } = this.columns;
    /** @type {[string, string, (place: number) => Iterable<string>, boolean][]} */
    const tables = [
      // Graphs within nodes number theirs anew.
      ["id", "id", (place) => [String(node[place])], false],
      ["name", "name", (place) => [name[place], kernel[place], label[place]], false],
      ["whole", "name", rememberedOf((place) => kernel[place], (given) => [wholeOf(given)]), false],
      ["own", "function name", rememberedOf((place) => kernel[place], (given) => [ownOf(given)]), false],
      ["range", "range", rememberedOf((place) => nvtx?.[place] ?? "", partsOf), true],
    ];
    for (const [key, how, namesOf, isShared] of tables) this.tables.set(key, await this.index(how, namesOf, isShared, pace));
    this.tables.set("group", await this.listGroups(pace));
  }

  /** @param {string} name */
  table(name) {
    return /** @type {Map<string, Target>} */ (this.tables.get(name));
  }

  /**
   * Places of nodes by what they are called.
   * @param {string} how @param {(place: number) => Iterable<string>} namesOf @param {boolean} isShared @param {Pace} pace
   */
  async index(how, namesOf, isShared, pace) {
    /** @type {Map<string, Target>} */
    const index = new Map();
    for (let place = 0; place < this.count; place++) {
      for (const name of namesOf(place)) {
        const target = index.get(name);
        if (!target) index.set(name, { places: [place], how, isShared });
        else if (target.places.at(-1) !== place) target.places.push(place);
      }
      if (place % EACH === 0) await pace.rest();
    }
    return index;
  }

  /** @param {string} cell */
  byId(cell) {
    const text = trimmed(cell);
    if (!/^\d{1,20}$/.test(text)) return null;
    const id = text.length < 10 ? Number(text) : Number(BigInt(text) & LOWER);
    return this.table("id").get(String(id)) ?? null;
  }

  /** The name as it is, else without what programs write differently, else the function's alone. @param {string} cell */
  byName(cell) {
    const text = trimmed(cell);
    const found = this.table("name").get(text);
    if (found) return found;
    const same = this.table("whole").get(wholeOf(text));
    // With template arguments it is one of several, and not these.
    if (same || text.includes("<")) return same ?? null;
    return this.table("own").get(ownOf(text)) ?? null;
  }

  /** @param {string} cell */
  byRange(cell) {
    const ranges = this.table("range");
    const text = trimmed(cell);
    const path = text.split(SLASHES).filter(Boolean).join(BETWEEN);
    return ranges.get(text) ?? ranges.get(path) ?? this.table("group").get(text) ?? null;
  }

  /** By its name, or its number. @param {string} cell */
  byLayer(cell) {
    return this.table("group").get(trimmed(cell)) ?? this.byRange(cell);
  }

  /** Layers by what they are called. @param {Pace} pace @returns {Promise<Map<string, Target>>} */
  async listGroups(pace) {
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
      await pace.rest();
    }
    /** @type {Map<string, Target>} */
    const found = new Map();
    for (const [name, all] of members) {
      found.set(name, { places: Array.from(all).sort((a, b) => a - b), how: "layer", isShared: true });
      await pace.rest();
    }
    return found;
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
