/** Contents of a node's memory before and after it, who wrote it and who is given it next. Python side: gviz.app.inspector.node_values. */
import * as format from "../core/format.js";
import { element } from "../core/parts.js";
import { picks } from "./picks.js";
/** @import { Nodes } from "../table/nodes.js" */
/**
 * @typedef {{hash: string, varies: boolean, nan: number|null, infinite: number|null, zero: number|null, least: number|null,
 *   greatest: number|null, mean: number|null}} Held  numbers of what memory held; null: the type of its elements is not known
 * @typedef {{count: number, keys: number[]}} Named
 * @typedef {{position: number, parameter: string|null, start: number, bytes: number, element: string|null, use: string, before: Held,
 *   after: Held|null, writers: Named, readers: Named}} Memory  `after` null: as before
 */

const VARIES = "A second launch of the same copy held something else";
const HEADS = ["Memory", "Use", "Least", "Greatest", "Mean", "NaN", "Infinite", "Zero"];
const WRITERS = "Written by", READERS = "Given next to";

/** @param {Memory[]} found @param {Nodes} nodes */
export function valueParts(found, nodes) {
  const head = HEADS.map((name, at) => element("th", at > 1 ? { class: "gv-number" } : {}, name));
  return element("div", {},
    element("table", { class: "gv-table gv-table-tight" },
      element("thead", {}, element("tr", {}, ...head)),
      element("tbody", {}, ...found.flatMap(lines))),
    ...found.flatMap((memory) => flow(memory, nodes)));
}

/** Memory by the argument that leads to it. @param {Memory} memory */
export function memoryName({ position, parameter, start }) {
  const beyond = start ? ` + ${format.byteSize(start)}` : "";
  return `${position}${parameter === null ? "" : ` ${parameter}`}${beyond}`;
}

/** @param {Memory} memory */
function lines(memory) {
  const { bytes, element: type, use, before, after } = memory;
  const holds = `${format.byteSize(bytes)}${type === null ? "" : ` of ${type}`}`;
  const first = line([element("td", { class: "gv-break", title: holds }, memoryName(memory)), element("td", { class: "gv-nowrap" }, use)], before);
  return after === null ? [first] : [first, line([element("td", {}), element("td", { class: "gv-muted" }, "after")], after)];
}

/** @param {Node[]} heads @param {Held} held */
function line(heads, { hash, varies, least, greatest, mean, nan, infinite, zero }) {
  const numbers = [...[least, greatest, mean].map((value) => format.rounded(value)), ...[nan, infinite, zero].map((value) => format.integer(value))];
  const cells = numbers.map((text) => element("td", { class: "gv-number" }, text));
  const mark = varies ? { class: "gv-varies", title: `${VARIES}; hash ${hash}` } : { title: `Hash ${hash}` };
  return element("tr", mark, ...heads, ...cells);
}

/** Who wrote it, and who is given it next. @param {Memory} memory @param {Nodes} nodes */
function flow(memory, nodes) {
  return [[WRITERS, memory.writers], [READERS, memory.readers]].flatMap(([title, found]) => {
    const { count, keys } = /** @type {Named} */ (found);
    if (!count) return [];
    return [element("div", { class: "gv-flow" }, `${memoryName(memory)}: ${/** @type {string} */ (title).toLowerCase()}`, picks(nodes, keys, count))];
  });
}
