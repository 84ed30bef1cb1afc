/** The parameters of a node's kernel: its signature with values, what each value means, and the bytes on request. */
import * as format from "../core/format.js";
import { element } from "../core/parts.js";
import { allocation, guess, hexadecimal } from "./argument_value.js";
/** @import { NodeRecord, Row } from "./records.js" */

const GUESSED = "Guessed from the bytes: neither the kernel's name nor its framework tells the type";

/** The call of a kernel: short name, types, names, values. @param {{node: Row, argumentWords: Row[]}} record */
export function signature({ node, argumentWords: words }) {
  return `${node.name}(${words.map(({ text }) => text).join(", ")})`;
}

/** What a node gives its kernel. @param {NodeRecord} record */
export function parameterParts(record) {
  const { arguments: given, argumentWords: words } = record;
  const lines = given.map((argument, at) => element("tr", {},
    element("td", { class: "gv-number" }, String(argument.position)),
    element("td", { class: "gv-mono gv-break", ...known(words[at]) }, words[at].text),
    element("td", {}, ...meaning(argument, words[at]))));
  return element("div", {},
    element("p", { class: "gv-mono gv-break gv-signature" }, signature(record)),
    table(["#", "Parameter", "Value"], lines),
    element("details", { class: "gv-whole" }, element("summary", {}, "Bytes"), bytesTable(given)));
}

/** @param {Row} words */
const known = ({ known_by: by }) => (by === undefined ? {} : { title: `Type known by ${by}` });

/** @param {Row} argument @param {Row} words @returns {(string|Node)[]} */
function meaning(argument, { number }) {
  const points = allocation(argument);
  if (points !== null) return [points];
  if (number !== undefined) return [number];
  const guessed = guess(argument);
  return guessed === null ? [] : [element("span", { title: GUESSED }, guessed, element("span", { class: "gv-muted" }, " guess"))];
}

/** @param {Row[]} given */
function bytesTable(given) {
  const lines = given.map((argument) => element("tr", {},
    element("td", { class: "gv-number" }, String(argument.position)),
    element("td", { class: "gv-number" }, format.byteSize(argument.size_bytes)),
    element("td", { class: "gv-mono gv-break" }, hexadecimal(argument))));
  return table(["#", "Size", "Bytes"], lines);
}

/** @param {string[]} titles @param {Node[]} lines */
function table(titles, lines) {
  const head = titles.map((title) => element("th", title === "#" || title === "Size" ? { class: "gv-number" } : {}, title));
  return element("table", { class: "gv-table gv-table-tight" },
    element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...lines));
}
