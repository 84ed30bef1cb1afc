/** Records of a file's text as rows of a table, whichever way they are written. */
import { CsvReader } from "./csv.js";
import { Fault, at } from "./fault.js";
import { JsonReader } from "./json.js";
import { noKey } from "./table.js";
/** @import { Row } from "./csv.js" */
/** @import { Item } from "./json.js" */
/** @import { TableRows } from "./table.js" */

/** Lines before the header: programs print there, and so does ncu. */
const MOST_BEFORE = 10_000;
const DELIMITERS = [",", ";", "\t"];
/** Whether a text begins as JSON does. */
const JSON_BEGINS = /^\s*[[{]/;
const EMPTY = "there is nothing in it";

/** @typedef {{push: (text: string) => void, end: () => void}} Records  take a text piece by piece */

/** @implements {Records} */
export class CsvRecords {
  /** @param {TableRows} table */
  constructor(table) {
    this.table = table;
    /** The lines before the header, as far as they are whole. */ this.before = "";
    this.lines = 0;
    /** The first line, as cells: what stands there where no header is found. @type {Row|null} */ this.first = null;
    /** @type {CsvReader|null} */ this.reader = null;
  }

  /** @param {string} text @returns {void} */
  push(text) {
    if (this.reader) return this.put(this.reader.push(text));
    this.before += text;
    for (let end = this.before.indexOf("\n"); end >= 0; end = this.before.indexOf("\n")) {
      const line = this.before.slice(0, end);
      this.before = this.before.slice(end + 1);
      if (this.reads(line)) return this.push(this.rest());
    }
  }

  /** The text behind the header. */
  rest() {
    const { before } = this;
    this.before = "";
    return before;
  }

  /** Whether a line is the header. @param {string} line */
  reads(line) {
    this.lines += 1;
    for (const delimiter of DELIMITERS) {
      const cells = cellsOf(line, delimiter);
      if (!this.table.begin(cells, this.lines)) continue;
      this.reader = new CsvReader(delimiter, this.lines + 1);
      return true;
    }
    if (!this.first && line.trim()) this.first = { line: this.lines, cells: cellsOf(line, ",") };
    if (this.lines > MOST_BEFORE) this.fail();
    return false;
  }

  /** @returns {never} */
  fail() {
    if (!this.first) throw new Fault(EMPTY);
    throw noKey(this.first.line, this.first.cells);
  }

  /** @param {Row[]} rows */
  put(rows) {
    for (const { line, cells } of rows) this.table.take(line, cells);
  }

  end() {
    if (!this.reader && this.before) this.reads(this.before);
    if (!this.reader) this.fail();
    this.put(this.reader.end());
    if (!this.table.count) throw new Fault("there is a header and no row");
  }
}

/** The cells of one line; none where its quotes do not close. @param {string} line @param {string} delimiter */
function cellsOf(line, delimiter) {
  const reader = new CsvReader(delimiter);
  try {
    return [...reader.push(line), ...reader.end()][0]?.cells ?? [];
  } catch {
    return [];
  }
}

/** @implements {Records} */
export class JsonRecords {
  /** @param {TableRows} table */
  constructor(table) {
    this.table = table;
    this.reader = new JsonReader();
    /** The place of each name. @type {Map<string, number>} */ this.places = new Map();
  }

  /** @param {string} text */
  push(text) {
    for (const item of this.reader.push(text)) this.put(item);
  }

  /** @param {Item} item */
  put({ line, values }) {
    const names = Object.keys(values);
    // Objects may lack what others have.
    const known = this.places.size;
    for (const name of names) if (!this.places.has(name)) this.places.set(name, this.places.size);
    if (this.places.size > known && !this.table.begin(Array.from(this.places.keys()), line)) throw noKey(line, names);
    this.table.isFirst = false;
    const cells = new Array(this.places.size).fill("");
    for (const name of names) cells[/** @type {number} */ (this.places.get(name))] = cellOf(values[name], name, line);
    this.table.take(line, cells);
  }

  end() {
    this.reader.end();
    if (!this.table.count) throw new Fault(EMPTY);
  }
}

/** @param {unknown} value @param {string} name @param {number} line */
function cellOf(value, name, line) {
  if (value === null) return "";
  if (typeof value === "object") throw at(line, `"${name}" is a list or an object; wanted a number or a text`);
  return String(value);
}

/** What reads a text that begins so, into a table. @param {string} text @param {TableRows} table @returns {Records} */
export const recordsOf = (text, table) => (JSON_BEGINS.test(text) ? new JsonRecords(table) : new CsvRecords(table));
