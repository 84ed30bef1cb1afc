/**
 * Objects of a JSON text that comes in pieces: a list of objects, or one object a line.
 *
 * @typedef {{line: number, values: Record<string, unknown>}} Item  the line it begins in
 */
import { integer } from "../../core/format.js";
import { at } from "./fault.js";

const WANTED = 'wanted a list of objects such as [{"node": 3, "energy": 0.2}], or one object a line';
/** Between objects. */
const BETWEEN = /[\s,[\]]/;
/** Characters of an object. */
const LONGEST = 1_000_000;

export class JsonReader {
  constructor() {
    /** The object that has begun. */ this.begun = "";
    this.depth = 0;
    this.isText = false;
    this.isEscaped = false;
    this.line = 1;
    /** Where it begins. */ this.start = 1;
  }

  /** The objects that end in the text so far. @param {string} text what follows @returns {Item[]} */
  push(text) {
    /** @type {Item[]} */
    const items = [];
    let from = 0;
    for (let here = 0; here < text.length; here++) {
      const letter = text[here];
      if (letter === "\n") this.line += 1;
      if (this.isText) this.within(letter);
      else if (letter === '"' && this.depth) this.isText = true;
      else if (letter === "{") {
        if (!this.depth) [from, this.start] = [here, this.line];
        this.depth += 1;
      } else if (letter === "}" && this.depth) {
        this.depth -= 1;
        if (this.depth) continue;
        items.push(this.item(this.begun + text.slice(from, here + 1)));
        this.begun = "";
        from = here + 1;
      } else if (!this.depth && !BETWEEN.test(letter)) throw at(this.line, WANTED);
    }
    if (this.depth) this.begun += text.slice(from);
    if (this.begun.length > LONGEST) throw at(this.start, `an object of more than ${integer(LONGEST)} characters; ${WANTED}`);
    return items;
  }

  /** In a text. @param {string} letter */
  within(letter) {
    if (this.isEscaped) this.isEscaped = false;
    else if (letter === "\\") this.isEscaped = true;
    else if (letter === '"') this.isText = false;
  }

  /** @param {string} text @returns {Item} */
  item(text) {
    try {
      return { line: this.start, values: JSON.parse(text) };
    } catch (error) {
      throw at(this.start, `no JSON: ${/** @type {Error} */ (error).message}`);
    }
  }

  /** @returns {Item[]} */
  end() {
    if (this.depth) throw at(this.start, "the object that begins here is never closed");
    return [];
  }
}
