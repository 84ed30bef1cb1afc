/**
 * Rows of a table, taken one after the other: each adds its values to the nodes it is about.
 *
 * @typedef {{line: number, key: string}} Unmatched  a row that is about no node
 */
import { MOST_ROWS, Fault, at, listed } from "./fault.js";
import { WANTED, headerOf, isUnits, namedOf } from "./header.js";
import { LaunchOrder } from "./launch_order.js";
import { Sums } from "./sums.js";
import { integer } from "../../core/format.js";
/** @import { Header } from "./header.js" */
/** @import { Target, Targets } from "./targets.js" */

/** Rows without a node that are listed. */
const MOST_LISTED = 20;
/** Of what such a row is about, in letters. */
const LONGEST = 300;

export class TableRows {
  /** @param {Targets} targets */
  constructor(targets) {
    this.targets = targets;
    this.sums = new Sums();
    /** @type {Header|null} */ this.header = null;
    /** Cells of a row. */ this.width = 0;
    this.line = 0;
    this.count = 0;
    this.matched = 0;
    /** The first of those that are about no node. @type {Unmatched[]} */ this.unmatched = [];
    /** Of ncu. @type {LaunchOrder|null} */ this.order = null;
    this.isFirst = true;
  }

  /** Take the names of the columns; false: they do not say what a row is about. @param {string[]} names @param {number} line */
  begin(names, line) {
    this.header = headerOf(names);
    this.width = names.length;
    this.line = line;
    for (const { name, unit } of this.header?.columns ?? []) this.sums.column(name, unit);
    if (this.header?.launch) this.order ??= new LaunchOrder(this.header.launch);
    return this.header !== null;
  }

  /** @param {number} line @param {string[]} cells */
  take(line, cells) {
    const header = /** @type {Header} */ (this.header);
    if (cells.length !== this.width) {
      throw at(line, `${integer(cells.length)} cells, where the header in line ${integer(this.line)} has ${integer(this.width)}`);
    }
    const isFirst = this.isFirst;
    this.isFirst = false;
    if (isFirst && isUnits(header, cells)) return this.takeUnits(header, cells);
    this.count += 1;
    if (this.count > MOST_ROWS) throw new Fault(`more than ${integer(MOST_ROWS)} rows, the most that are taken`);
    const target = this.targetOf(header, cells);
    if (!target) return this.miss(line, header, cells);
    this.matched += 1;
    this.sums.rows.set(target, (this.sums.rows.get(target) ?? 0) + 1);
    const key = this.sums.keyOf(target);
    const { long } = header;
    if (long) {
      const { name, unit } = namedOf(cells[long.name]);
      if (name) this.sums.column(name, unit || (cells[long.unit] ?? "")).add(key, cells[long.value], line);
    } else for (const column of header.columns) this.sums.column(column.name, "").add(key, cells[column.at], line);
  }

  /** The row under the header says in which units values are. @param {Header} header @param {string[]} cells */
  takeUnits({ columns }, cells) {
    for (const { name, at: place } of columns) {
      const column = this.sums.column(name, "");
      column.unit = cells[place].trim() || column.unit;
    }
  }

  /** @param {Header} header @param {string[]} cells @returns {Target|null} */
  targetOf({ keys }, cells) {
    for (const { kind, at: place } of keys) {
      const target = this.targets.find(kind, cells[place]);
      if (target) return this.order && kind === "name" && target.places.length > 1 ? this.order.nodeOf(target, cells) : target;
    }
    return null;
  }

  /** All rows were taken. */
  settle() {
    for (const [node, together] of this.order?.others() ?? []) this.sums.move(node, together);
  }

  /** @param {number} line @param {Header} header @param {string[]} cells */
  miss(line, { keys }, cells) {
    if (this.unmatched.length >= MOST_LISTED) return;
    const key = keys.map(({ at: place }) => cells[place]).find((cell) => cell.trim()) ?? "";
    this.unmatched.push({ line, key: key.slice(0, LONGEST) });
  }
}

/** What is wrong with a header that says nothing of nodes. @param {number} line @param {string[]} names */
export const noKey = (line, names) => at(line, `${WANTED}; found ${listed(names.map((name) => name.trim()).filter(Boolean)) || "nothing"}`);
