/**
 * The header of an overlay's table: which columns say what a row is about, and which are laid on the graph.
 *
 * @typedef {"node"|"name"|"range"|"layer"} KeyKind
 * @typedef {{kind: KeyKind, at: number}} Key
 * @typedef {{name: string, unit: string, at: number}} Named  a column
 * @typedef {{keys: Key[], columns: Named[], long: {name: number, unit: number, value: number}|null,
 *   launch: {id: number, process: number}|null}} Header  `long`: the table has a row a value, as ncu's details have, and
 *   these columns say which value that is; `launch`: it is ncu's, and these say of which launch
 */

import { trimmed } from "./cell.js";

/** Names of columns that say what a row is about, in the order in which they are tried. @type {[KeyKind, string[]][]} */
export const KEYS = [
  ["node", ["node", "nodeid", "graphnodeid"]],
  ["name", ["name", "kernel", "kernelname", "function", "functionname"]],
  ["range", ["range", "nvtx", "nvtxrange", "nvtxpath"]],
  ["layer", ["layer", "module"]],
];
/** What was wanted where none of them is there. */
export const WANTED = "wanted a column that says what a row is about: node (an id), name or kernel, range (NVTX), or layer";
/** Columns of ncu that are no figures of a kernel. */
const OF_NCU = new Set([
  "id", "processid", "processname", "hostname", "threadid", "context", "stream", "device", "cc", "sectionname",
  "blocksize", "gridsize", "rulename", "ruletype", "ruledescription", "estimatedspeeduptype", "estimatedspeedup", "pushpopranges", "startendranges",
]);
/** A unit at the end of a name: "dram [MB]", "dram (MB)"; or a suffix of this project's names. */
const BRACKETED = /^(.*\S)\s*[[(]([^[\]()]{1,24})[\])]$/;
const SUFFIXED = /^(.+)_(ns|us|ms|bytes|percent|pct|[mµu]?J|[mk]?W|[kKMGT]B|[KMG]iB|[kMG]?Hz)$/;

/** @param {string} name of a column */
const plain = (name) => name.toLowerCase().replace(/[^a-z0-9]/g, "");

/** The header that names are; null: none of them says what a row is about. @param {string[]} names @returns {Header|null} */
export function headerOf(names) {
  const short = names.map(plain);
  /** @type {Key[]} */
  const keys = KEYS.flatMap(([kind, all]) => short.flatMap((own, at) => (all.includes(own) ? [{ kind, at }] : [])));
  if (!keys.length) return null;
  const [name, unit, value] = ["metricname", "metricunit", "metricvalue"].map((part) => short.indexOf(part));
  const [id, process] = ["id", "processid"].map((part) => short.indexOf(part));
  const isNcu = id >= 0 && process >= 0;
  const launch = isNcu ? { id, process } : null;
  const isKey = new Set(keys.map((key) => key.at));
  const columns = names.flatMap((given, at) =>
    (isKey.has(at) || !given.trim() || (isNcu && OF_NCU.has(short[at])) ? [] : [{ ...namedOf(given), at }]));
  return name >= 0 && value >= 0 ? { keys, columns: [], long: { name, unit, value }, launch } : { keys, columns, long: null, launch };
}

/** A column's name without the unit that it ends in. @param {string} given */
export function namedOf(given) {
  const [, name, unit] = BRACKETED.exec(given.trim()) ?? SUFFIXED.exec(given.trim()) ?? ["", given.trim(), ""];
  return { name, unit: unit === "percent" || unit === "pct" ? "%" : unit };
}

/** The texts that stand for nothing. */
const MISSING = new Set(["", "n/a", "na", "nan", "-", "null", "none", "inf", "-inf", "(null)"]);
/** With commas between groups of three, as ncu writes numbers. */
const GROUPED = /^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** The number that a cell is: null: it is empty, NaN: it is a text. @param {string} cell */
export function numberOf(cell) {
  const text = trimmed(cell);
  if (NUMBER.test(text)) return Number(text);
  if (GROUPED.test(text)) return Number(text.replaceAll(",", ""));
  if (text.length > 1 && text.endsWith("%")) return numberOf(text.slice(0, -1));
  return MISSING.has(text.toLowerCase()) ? null : NaN;
}

/** Whether a row has units only, as ncu's second one. @param {Header} header @param {string[]} cells */
export function isUnits({ keys, columns }, cells) {
  const values = columns.map(({ at }) => cells[at]).filter((cell) => cell?.trim());
  return keys.every(({ at }) => !cells[at]?.trim()) && values.length > 0 && values.every((cell) => Number.isNaN(numberOf(cell)));
}
