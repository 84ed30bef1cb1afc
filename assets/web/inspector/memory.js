/** The memory that a node is given, and who else is given it, in words. */
import * as format from "../core/format.js";
import { element, section } from "../core/parts.js";
import { address } from "./node_facts.js";
import { picks } from "./picks.js";
/** @import { Nodes } from "../table/nodes.js" */
/** @import { Given, Named, Neighbour, Side, Way } from "./memory_uses.js" */
/** @import { Row } from "./records.js" */

/** By gviz.model.memory.uses.Access. */
const ACCESS = ["is given", "reads", "writes", "allocates", "frees", "is given", "reads"];
/** A word of the arguments that looks like an address. */
const LOOKS = 5;
const ANY = "An allocation, or a segment of a framework's allocator";
const EITHER = "No type says whether the kernel reads or writes there.";
/** What the end of a buffer is known by: gviz.model.memory.buffers.ExtentKind. */
const ENDS = ["", "", "its block", "to the next address in use", "to the end of the allocation"];
const REPORTED = 1, BLOCK = 2;
/** Nodes before and after that are named. */
const NEIGHBOURS = 4;
const NONE = "Host memory of copies, and words inside structures that look like addresses";

/** What a node is given, a section a side. @param {Side[]} sides @param {Nodes} nodes @param {Row[]} words of its arguments */
export function memoryParts(sides, nodes, words) {
  return sides.map(({ title: name, given, more }) => {
    const parts = given.map((one) => allocation(one, nodes, words));
    if (name === "Inputs or outputs") parts.unshift(element("p", { class: "gv-muted" }, EITHER));
    if (more) parts.push(element("p", { class: "gv-muted" }, `and ${format.counted(more, "more allocation")}`));
    return section(name, element("div", {}, ...parts));
  });
}

/** @param {Given} given @param {Nodes} nodes @param {Row[]} words @returns {HTMLElement} */
function allocation({ allocation: around, ways, moreWays, same, near }, nodes, words) {
  const lines = ways.map((way) => element("li", {}, ...wayParts(way, words), ...neighbours(way, nodes)));
  if (moreWays) lines.push(element("li", {}, `and ${format.counted(moreWays, "more address", "more addresses")}`));
  return element("div", { class: "gv-memory" },
    title(around, nodes),
    element("ul", { class: "gv-plain" }, ...lines),
    ...group("Also given to, or used by, at the same address", same, nodes),
    ...group("Elsewhere in it", near, nodes));
}

/** Who had it before, and who has it next. @param {Way} way @param {Nodes} nodes */
function neighbours({ before, after }, nodes) {
  return [...neighbour(before, "Written by", "Given before to", nodes), ...neighbour(after, "Read by", "Given next to", nodes)];
}

/** @param {Neighbour|null} found @param {string} sure @param {string} likely @param {Nodes} nodes */
function neighbour(found, sure, likely, nodes) {
  if (found === null) return [];
  const { count, keys } = found.nodes;
  return [element("div", { class: "gv-flow" }, found.sure ? sure : likely, picks(nodes, keys.slice(0, NEIGHBOURS), count))];
}

/** @param {Given["allocation"]} around @param {Nodes} nodes */
function title(around, nodes) {
  if (!around) return element("p", { title: NONE }, element("strong", {}, "No allocation known"));
  const size = element("strong", {}, format.byteSize(around.bytes)), where = ` at ${address(around.address)}`;
  if (around.node === null) return element("p", { title: ANY }, size, where);
  return element("div", {}, element("p", {}, size, where, ", allocated by"), picks(nodes, [around.node]));
}

/** What a node does at an address, in a line. @param {Way} way @param {Row[]} words of its arguments */
export function wayText({ access, bytes, how, address: where, offset, position, byte }, words) {
  const parameter = words[position]?.text, inside = byte ? ` at byte ${byte}` : "";
  const name = parameter === undefined ? ACCESS[access] : `${parameter}${inside}: ${ACCESS[access]}`;
  let place = `${access === LOOKS ? "what looks like " : ""}${address(where)}`;
  if (offset !== null) place = offset === 0 ? "its start" : `${format.byteSize(offset)} into it`;
  return `${name} ${amount(bytes, how)}${place} `;
}

/** How much of it, and how that is known. @param {number} bytes @param {number} how */
function amount(bytes, how) {
  if (!Number.isFinite(bytes)) return "";
  const size = format.byteSize(bytes);
  if (how === REPORTED) return `${size} at `;
  return how === BLOCK ? `${size} (${ENDS[how]}) at ` : `at most ${size} (${ENDS[how]}) at `;
}

/** @param {Way} way @param {Row[]} words @returns {(Node|string)[]} */
function wayParts(way, words) {
  if (!way.letter) return [wayText(way, words)];
  return [element("span", { class: "gv-buffer" }, way.letter), wayText(way, words), follow(way)];
}

/** @param {Way} way */
function follow({ address: where, bytes, how }) {
  const text = where.toString(16) + (how === REPORTED ? `.${bytes.toString(16)}` : "");
  return element("button", {
    type: "button", class: "gv-follow", title: "Show in the graph all nodes that are given this address",
    "data-follow": text, "aria-label": `Follow ${address(where)}`,
  }, "Follow");
}

/** @param {string} label @param {Named} named @param {Nodes} nodes */
function group(label, { count, keys }, nodes) {
  if (!count) return [];
  return [element("details", {}, element("summary", {}, `${label}: ${format.counted(count, "node")}`), picks(nodes, keys, count))];
}
