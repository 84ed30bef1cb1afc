/** Contents of a node's memory before and after it, who wrote it and who is given it next. Python side: gviz.app.inspector.node_values. */
import * as format from "../core/format.js";
import { element } from "../core/parts.js";
import { picks } from "./picks.js";
/** @import { Nodes } from "../table/nodes.js" */
/**
 * @typedef {{hash: string, varies: boolean, nan: number|null, infinite: number|null, zero: number|null, finite: number|null, least: number|null,
 *   greatest: number|null, mean: number|null, histogram: number[]|null}} Held  numbers of what memory held; null: the type of its elements is not
 *   known, and of `histogram` (elements in equal parts from least to greatest) contents were not kept
 * @typedef {{count: number, keys: number[]}} Named
 * @typedef {{position: number, parameter: string|null, start: number, bytes: number, at_most: boolean, element: string|null, use: string, before: Held,
 *   after: Held|null, writers: Named, readers: Named}} Memory  `after` null: as before
 */

const VARIES = "A second launch of the same copy held something else";
/** What is wrong first: a narrow inspector shows the columns on the left. */
const HEADS = ["Memory", "Use", "Spread", "NaN", "Infinite", "Zero", "Least", "Greatest", "Mean"];
const WRITERS = "Written by", READERS = "Given next to";

/** @param {Memory[]} found @param {Nodes} nodes */
export function valueParts(found, nodes) {
  const head = HEADS.map((name, at) => element("th", at > 2 ? { class: "gv-number" } : {}, name));
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
  const { bytes, at_most: isMost, element: type, use, before, after } = memory;
  const holds = `${isMost ? "at most " : ""}${format.byteSize(bytes)}${type === null ? "" : ` of ${type}`}`;
  const first = line([element("td", { class: "gv-break", title: holds }, memoryName(memory)), element("td", { class: "gv-nowrap" }, use)], before);
  return after === null ? [first] : [first, line([element("td", {}), element("td", { class: "gv-muted" }, "after")], after)];
}

/** @param {Node[]} heads @param {Held} held */
function line(heads, held) {
  const { hash, varies, least, greatest, mean, nan, infinite, zero } = held;
  const numbers = [...[nan, infinite, zero].map((value) => format.integer(value)), ...[least, greatest, mean].map((value) => format.rounded(value))];
  const cells = numbers.map((text) => element("td", { class: "gv-number" }, text));
  const mark = varies ? { class: "gv-varies", title: `${VARIES}; hash ${hash}` } : { title: `Hash ${hash}` };
  return element("tr", mark, ...heads, element("td", {}, ...spread(held)), ...cells);
}

/** Elements by size where contents were kept, else by what they are; nothing of an unknown type. @param {Held} held */
function spread({ nan, infinite, zero, finite, least, greatest, histogram }) {
  if (nan === null || infinite === null || zero === null || finite === null) return [];
  if (histogram !== null) {
    const range = `${format.counted(finite, "finite element")} from ${format.rounded(least)} to ${format.rounded(greatest)}`;
    const most = Math.max(...histogram);
    return [bars("gv-histogram", range, histogram.map((count) => ({ style: { height: `${100 * count / most}%` } })))];
  }
  const counts = { NaN: nan, infinite, zero, other: finite - zero };
  const shares = Object.entries(counts).filter(([, count]) => count);
  const title = shares.map(([name, count]) => `${format.integer(count)} ${name}`).join(", ");
  return [bars("gv-shares", title, shares.map(([name, count]) => ({ class: `gv-of-${name}`, style: { flexGrow: String(count) } })))];
}

/** @param {string} name @param {string} title @param {Record<string, any>[]} parts */
const bars = (name, title, parts) =>
  element("span", { class: name, role: "img", title, "aria-label": title }, ...parts.map((part) => element("span", part)));

/** Who wrote it, and who is given it next. @param {Memory} memory @param {Nodes} nodes */
function flow(memory, nodes) {
  return [[WRITERS, memory.writers], [READERS, memory.readers]].flatMap(([title, found]) => {
    const { count, keys } = /** @type {Named} */ (found);
    if (!count) return [];
    return [element("div", { class: "gv-flow" }, `${memoryName(memory)}: ${/** @type {string} */ (title).toLowerCase()}`, picks(nodes, keys, count))];
  });
}
