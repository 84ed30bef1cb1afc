/** Sums of a table's rows by the nodes they are about. */
import { trimmed } from "./cell.js";
import { MOST_COLUMNS, MOST_VALUES, Fault } from "./fault.js";
import { integer } from "../../core/format.js";
import { numberOf } from "./header.js";
/** @import { Target } from "./targets.js" */

/** Different texts of one key that are kept, and characters of each. */
const MOST_TEXTS = 3;
const LONGEST = 500;

/** The values of a column, by the number of a key. */
export class ColumnSums {
  /** @param {string} name @param {string} unit */
  constructor(name, unit) {
    this.name = name;
    this.unit = unit;
    this.sum = new Float64Array(0);
    this.count = new Uint32Array(0);
    /** Where it has texts: those of each key. @type {Map<number, string[]>|null} */ this.texts = null;
    /** The first text, and where: none where all are numbers. @type {{line: number, text: string}|null} */ this.first = null;
    this.numbers = 0;
  }

  /** @param {number} key @param {string} cell @param {number} line */
  add(key, cell, line) {
    const value = numberOf(cell);
    if (value === null) return;
    if (this.texts || Number.isNaN(value)) return this.addText(key, trimmed(cell), line);
    if (key >= this.sum.length) this.grow(key);
    this.sum[key] += value;
    this.count[key] += 1;
    this.numbers += 1;
  }

  /** @param {number} key @param {string} text @param {number} line */
  addText(key, text, line) {
    this.first ??= { line, text };
    this.texts ??= this.asTexts();
    const known = this.texts.get(key) ?? [];
    if (!known.includes(text) && known.length < MOST_TEXTS) known.push(text.slice(0, LONGEST));
    this.texts.set(key, known);
  }

  /** The numbers so far, as texts. */
  asTexts() {
    /** @type {Map<number, string[]>} */
    const texts = new Map();
    this.count.forEach((count, key) => {
      if (count) texts.set(key, [String(this.sum[key] / count)]);
    });
    return texts;
  }

  /** Have the values of a key be another's. @param {number} from @param {number} to */
  move(from, to) {
    if (Math.max(from, to) >= this.sum.length) this.grow(Math.max(from, to));
    this.sum[to] += this.sum[from];
    this.count[to] += this.count[from];
    this.sum[from] = this.count[from] = 0;
    for (const text of this.texts?.get(from) ?? []) this.addText(to, text, 0);
    this.texts?.delete(from);
  }

  /** @param {number} key */
  grow(key) {
    const size = Math.max(64, 2 * this.sum.length, key + 1);
    const [sum, count] = [new Float64Array(size), new Uint32Array(size)];
    sum.set(this.sum);
    count.set(this.count);
    Object.assign(this, { sum, count });
  }
}

export class Sums {
  constructor() {
    /** The number of each target. @type {Map<Target, number>} */ this.keys = new Map();
    /** Numbers given. */ this.count = 0;
    /** Rows about each target. @type {Map<Target, number>} */ this.rows = new Map();
    /** @type {Map<string, ColumnSums>} */ this.columns = new Map();
  }

  /** The number of a target. @param {Target} target */
  keyOf(target) {
    const known = this.keys.get(target);
    if (known !== undefined) return known;
    this.keys.set(target, this.count);
    this.count += 1;
    if (this.keys.size * this.columns.size > MOST_VALUES) {
      throw new Fault(`${integer(this.columns.size)} columns for ${integer(this.keys.size)} nodes: at most ` +
        `${integer(MOST_VALUES)} values; leave out the columns you do not need`);
    }
    return this.count - 1;
  }

  /** Have what was said of a target be said of another. @param {Target} from @param {Target} to */
  move(from, to) {
    const key = this.keys.get(from);
    if (key === undefined) return;
    this.keys.delete(from);
    const rows = this.rows.get(from) ?? 0;
    this.rows.delete(from);
    this.rows.set(to, (this.rows.get(to) ?? 0) + rows);
    const other = this.keyOf(to);
    for (const column of this.columns.values()) column.move(key, other);
  }

  /** Rows by how their nodes were found. @returns {Map<string, number>} */
  get how() {
    /** @type {Map<string, number>} */
    const how = new Map();
    for (const [target, rows] of this.rows) how.set(target.how, (how.get(target.how) ?? 0) + rows);
    return how;
  }

  /** The sums of a column of a name. @param {string} name @param {string} unit */
  column(name, unit) {
    const known = this.columns.get(name);
    if (known) return known;
    if (this.columns.size >= MOST_COLUMNS) {
      throw new Fault(`more than ${integer(MOST_COLUMNS)} columns; leave out those you do not need`);
    }
    const made = new ColumnSums(name, unit);
    this.columns.set(name, made);
    return made;
  }
}
