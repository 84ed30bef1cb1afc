/** Faults of an overlay's file, and the limits that it has to keep. */
import { integer } from "../../core/format.js";

/** Rows of a file, and bytes of it. */
export const MOST_ROWS = 1_000_000;
export const MOST_BYTES = 512 << 20;
/** Columns, and values of all of them together: those of a column are as many as keys that nodes have. */
export const MOST_COLUMNS = 1_000;
export const MOST_VALUES = 20_000_000;
/** Names of columns that a sentence lists. */
const LISTED = 8;

/** What is wrong with a file, where, and what was wanted. */
export class Fault extends Error {}

/** @param {number} line @param {string} words */
export const at = (line, words) => new Fault(`line ${integer(line)}: ${words}`);

/** Some names for a sentence. @param {string[]} names */
export function listed(names) {
  const more = names.length - LISTED;
  return names.slice(0, LISTED).join(", ") + (more > 0 ? ` and ${integer(more)} more` : "");
}
