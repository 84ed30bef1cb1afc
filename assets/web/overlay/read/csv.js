/**
 * Records of a CSV text that comes in pieces: RFC 4180, with any delimiter. Lines of ncu itself ("==PROF==…") and
 * empty ones are none.
 *
 * @typedef {{line: number, cells: string[]}} Row  the line it begins in
 */
import { at } from "./fault.js";

const [QUOTE, NEWLINE, RETURN] = [34, 10, 13];
/** A longer record has a quote that nothing closes. */
const LONGEST = 1 << 20;
const OPEN = "a quote opens here that nothing closes";
const BEHIND = "there is text behind a closing quote";

export class CsvReader {
  /** @param {string} delimiter @param {number} line the first one's number */
  constructor(delimiter, line = 1) {
    this.delimiter = delimiter.charCodeAt(0);
    /** What of the text is in no record yet. */ this.rest = "";
    this.line = line;
  }

  /** The records that end in the text so far. @param {string} text what follows */
  push(text) {
    this.rest += text;
    return this.read(false);
  }

  /** The last record, which nothing ends. */
  end() {
    return this.read(true);
  }

  /** @param {boolean} isLast @returns {Row[]} */
  read(isLast) {
    const { rest } = this;
    /** @type {Row[]} */
    const rows = [];
    let from = 0;
    while (from < rest.length) {
      const record = this.record(from, isLast);
      if (!record) break;
      const { cells, end, lines } = record;
      if (cells.length > 1 || !(cells[0] === "" || cells[0].startsWith("=="))) rows.push({ line: this.line, cells });
      this.line += lines;
      from = end;
    }
    this.rest = rest.slice(from);
    return rows;
  }

  /** The record that begins at a place; null: its end has not come. @param {number} from @param {boolean} isLast */
  record(from, isLast) {
    const { rest, delimiter } = this;
    /** @type {string[]} */
    const cells = [];
    let lines = 0;
    for (let here = from; ; here++) {
      let cell = "";
      if (rest.charCodeAt(here) === QUOTE) {
        const quoted = this.quoted(here + 1, isLast);
        if (!quoted) {
          if (isLast || rest.length - from > LONGEST) throw at(this.line, OPEN);
          return null;
        }
        cell = quoted.text;
        lines += quoted.lines;
        here = quoted.end;
      }
      const start = here;
      let code = rest.charCodeAt(here);
      if (here > from && rest.charCodeAt(here - 1) === QUOTE && !this.ends(here)) throw at(this.line, BEHIND);
      while (here < rest.length && code !== delimiter && code !== NEWLINE) code = rest.charCodeAt(++here);
      const isEnd = here >= rest.length;
      if (isEnd && !isLast) return null;
      const stop = (isEnd || code === NEWLINE) && here > start && rest.charCodeAt(here - 1) === RETURN ? here - 1 : here;
      cells.push(cell + rest.slice(start, stop));
      if (isEnd || code === NEWLINE) return { cells, end: here + 1, lines: lines + 1 };
    }
  }

  /** Whether a cell ends at a place. @param {number} here */
  ends(here) {
    const code = this.rest.charCodeAt(here);
    return here >= this.rest.length || code === this.delimiter || code === NEWLINE || code === RETURN;
  }

  /** A quoted text that begins at a place; null: its quote has not come. @param {number} from @param {boolean} isLast */
  quoted(from, isLast) {
    const { rest } = this;
    let text = "";
    for (let start = from; ;) {
      const close = rest.indexOf('"', start);
      // Whether another quote follows is not known at the end of a piece.
      if (close < 0 || (close + 1 === rest.length && !isLast)) return null;
      text += rest.slice(start, close);
      if (rest.charCodeAt(close + 1) !== QUOTE) return { text, end: close + 1, lines: text.split("\n").length - 1 };
      text += '"';
      start = close + 2;
    }
  }
}
