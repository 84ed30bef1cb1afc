/**
 * An overlay: a table of a reader's own, laid on a graph. Its columns have a value for each node that a row is about.
 *
 * Rows about one node, or one name, count as their mean. What a row says of several nodes together, such as a range,
 * is spread over them in equal parts where it is summed up.
 *
 * @typedef {{source: Source, side: Side, title: string}} Given  where it is from, and what it lies on
 */
import * as format from "../core/format.js";
import { SEVERAL } from "./colours.js";
import { measureOf } from "./unit.js";
/** @import { Pace } from "../core/pace.js" */
/** @import { Side, Source } from "./overlays.js" */
/** @import { ColumnSums } from "./read/sums.js" */
/** @import { TableRows, Unmatched } from "./read/table.js" */
/** @import { Target } from "./read/targets.js" */
/** @import { Measure } from "./unit.js" */

/** Words in the name of a value that is no part of a whole. */
const NO_SUM = new Set([
  "avg", "average", "mean", "ratio", "rate", "pct", "percent", "occupancy", "throughput", "utilization", "utilisation", "per",
  "frequency", "clock", "min", "max", "median", "fraction", "share", "temperature", "registers", "size", "error", "loss", "speedup",
]);
const NO_SUM_UNIT = /%|\/|hz\b|°|kelvin|celsius|^watts?$|^m?w$|^x$/i;

export class Column {
  /**
   * @param {Overlay} overlay @param {string} name @param {Measure} measure
   * @param {Float64Array|null} numbers by key, NaN: none @param {Map<number, string>|null} texts by key
   */
  constructor(overlay, name, measure, numbers, texts) {
    this.overlay = overlay;
    this.name = name;
    this.measure = measure;
    this.numbers = numbers;
    this.texts = texts;
    /** What made texts of its values, where some are numbers. @type {{line: number, text: string}|null} */ this.firstText = null;
    /** What addresses and choices call it. */ this.id = `overlay:${overlay.side && `${overlay.side}:`}${overlay.name}:${name}`;
    this.isNumber = numbers !== null;
    /** @type {Map<string, number>|null} */ this.ranks = null;
    /** Whether some values are below zero. */ this.isSigned = !!numbers?.some((value) => value < 0);
    /** Whether values of several nodes have a sum; else they have a mean. */
    this.isSummed = this.isNumber && !NO_SUM_UNIT.test(measure.unit) &&
      !name.toLowerCase().split(/[^a-z]+/).some((word) => NO_SUM.has(word));
  }

  /** What a column of a table and a legend call it. */
  get label() {
    return this.overlay.side ? `${this.name} ${this.overlay.side}` : this.name;
  }

  /** What it is of. */
  get title() {
    return this.overlay.title;
  }

  /** The place of each text, those of most nodes first: it has the same colour everywhere. */
  get places() {
    return this.ranks ??= this.rank();
  }

  /** @returns {Map<string, number>} */
  rank() {
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (const key of this.overlay.keys) {
      const text = this.texts?.get(key);
      if (text !== undefined) counts.set(text, (counts.get(text) ?? 0) + 1);
    }
    const sorted = Array.from(counts).sort(([a, many], [b, more]) => more - many || a.localeCompare(b));
    return new Map(sorted.map(([text], place) => [text, place]));
  }

  /** The value of a key; null: none. @param {number} key -1: no row's @returns {number|string|null} */
  at(key) {
    if (key < 0) return null;
    if (!this.numbers) return this.texts?.get(key) ?? null;
    const value = this.numbers[key];
    return Number.isNaN(value) ? null : value;
  }

  /** The value of a node; null: none. @param {number} id */
  of(id) {
    return this.at(this.overlay.keyOf(id));
  }

  /** The part of a sum that a node is: of what several have together, an equal one. @param {number} id @returns {number|null} */
  partOf(id) {
    const key = this.overlay.keyOf(id);
    const value = this.at(key);
    return typeof value === "number" ? value / this.overlay.sharedBy(key) : null;
  }

  /** The value of several nodes together: a sum or a mean, or the text that all have. @param {Iterable<number>} ids */
  over(ids) {
    let [sum, count] = [0, 0];
    /** @type {string|null} */ let text = null;
    for (const id of ids) {
      const key = this.overlay.keyOf(id);
      const value = this.at(key);
      if (value === null) continue;
      count += 1;
      if (typeof value === "number") sum += this.isSummed ? value / this.overlay.sharedBy(key) : value;
      else if (text === null) text = value;
      else if (text !== value) return SEVERAL;
    }
    if (!count) return null;
    return this.isNumber ? (this.isSummed ? sum : sum / count) : text;
  }

  /** What several nodes together are coloured by: where nodes have the value of their range, so has this. @param {number[]} ids */
  shade(ids) {
    if (!this.isSummed || !this.overlay.isShared) return this.over(ids);
    const values = ids.map((id) => this.of(id)).filter((value) => typeof value === "number");
    return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
  }

  /** How values of several nodes become one, in a word. */
  get together() {
    return this.isSummed ? "sum" : this.isNumber ? "mean" : "the same in all, or several";
  }

  /** A value with its unit. @param {number|string|null} value */
  write = (value) => {
    if (value === null) return format.MISSING;
    return typeof value === "number" ? this.measure.write(value) : value;
  };
}

export class Overlay {
  /** @param {Given} given @param {TableRows} table */
  constructor({ source, side, title }, table) {
    const { keys } = table.sums;
    this.source = source;
    /** Of its file. */ this.name = source.name;
    this.side = side;
    this.title = title;
    /** @type {number} */ this.rowCount = table.count;
    this.matchedCount = table.matched;
    /** @type {Unmatched[]} */ this.unmatched = table.unmatched;
    this.how = table.sums.how;
    /** Of each node, by its number on the page. */ this.places = table.targets.places;
    /** By a node's place the key of the row about it; -1: none. */ this.keys = new Int32Array(table.targets.count).fill(-1);
    /** How many nodes share the value of a key; 1: each has it. */
    this.shares = new Uint32Array(table.sums.count);
    this.join(keys);
    /** Whether some nodes have their value together with others. */ this.isShared = this.shares.some((count) => count > 1);
    this.nodeCount = this.keys.reduce((count, key) => count + Number(key >= 0), 0);
    /** @type {Column[]} */ this.columns = [];
  }

  /** Add what the table has of each column. @param {TableRows} table @param {Pace} pace */
  async addColumns(table, pace) {
    for (const sums of table.sums.columns.values()) {
      const column = columnOf(this, sums);
      if (column) this.columns.push(column);
      await pace.rest();
    }
  }

  /** Give each node its key: where several have it, that of the fewest nodes. @param {Map<Target, number>} keys */
  join(keys) {
    const targets = Array.from(keys).sort(([a], [b]) => b.places.length - a.places.length);
    for (const [target, key] of targets) for (const place of target.places) this.keys[place] = key;
    for (const key of this.keys) if (key >= 0) this.shares[key] += 1;
    for (const [target, key] of targets) if (!target.isShared) this.shares[key] = 1;
  }

  /** The key of a node; -1: no row is about it. @param {number} id */
  keyOf(id) {
    const place = this.places.get(id);
    return place === undefined ? -1 : this.keys[place];
  }

  /** How many nodes share the value of a key. @param {number} key */
  sharedBy(key) {
    return this.shares[key];
  }

  /** What became of the rows, as a sentence. */
  words() {
    const ways = Array.from(this.how, ([how, count]) => `${format.integer(count)} by ${how}`);
    const missing = this.rowCount - this.matchedCount;
    const nodes = format.counted(this.nodeCount, "node");
    return `${format.counted(this.rowCount, "row")}, ${missing ? `${format.integer(missing)} match no node` : "all match"}. ` +
      (this.matchedCount ? `On ${nodes}: ${ways.join(", ")}.` : "");
  }
}

/** A column of what was summed up; null: it has no value. @param {Overlay} overlay @param {ColumnSums} sums */
function columnOf(overlay, { name, unit, sum, count, texts, first, numbers }) {
  const measure = measureOf(unit);
  if (texts) {
    const column = new Column(overlay, name, measure, null, new Map(Array.from(texts, ([key, some]) => [key, some.join("; ")])));
    column.firstText = numbers ? first : null;
    return column;
  }
  if (!numbers) return null;
  return new Column(overlay, name, measure, sum.map((whole, key) => (count[key] ? whole / count[key] : NaN)), null);
}
