/** Cells and names of CSV files. */

/** Spreadsheets take a text that begins so for a formula. Reference: OWASP, CSV injection. */
const FORMULA = /^[=+\-@\t\r]/;
/** Of a file's name, in letters: file systems take 255, ending included. */
const LONGEST_NAME = 80;

/**
 * A text that would be taken for a formula gets an apostrophe; numbers stay numbers.
 * @param {unknown} value
 */
export function cell(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "string" && FORMULA.test(value) ? `'${value}` : value;
}

/** A name for a file, without its ending. @param {string} text */
export function nameOf(text) {
  return text.replace(/[^A-Za-z0-9._-]+/g, "-").slice(0, LONGEST_NAME);
}

/**
 * The text of a file.
 * @param {string[]} names of columns @param {Record<string, unknown>[]} rows
 */
export function textOf(names, rows) {
  /** @param {unknown} value */
  const quoted = (value) => `"${String(cell(value)).replaceAll('"', '""')}"`;
  const lines = rows.map((row) => names.map((name) => quoted(row[name])).join(","));
  return [names.map(quoted).join(","), ...lines].join("\r\n");
}
