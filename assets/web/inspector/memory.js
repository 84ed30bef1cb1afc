/** The memory that a node is given, and who else is given it, in words. */
import * as format from "../core/format.js";
import { element } from "../core/parts.js";
import { address } from "./node_facts.js";
import { picks } from "./picks.js";
/** @import { Nodes } from "../table/nodes.js" */
/** @import { Given, Named, Way, memoryOf } from "./memory_uses.js" */

/** By gviz.model.memory.uses.Access. */
const WORDS = ["is given", "reads", "writes", "allocates", "frees", "is given", "reads"];
/** A word of the arguments that looks like an address. */
const LOOKS = 5;
const ANY = "An allocation, or a segment of a framework's allocator";
const NONE = "Host memory of copies, and words inside structures that look like addresses";

/** What a node is given. @param {ReturnType<typeof memoryOf>} memory @param {Nodes} nodes */
export function memoryParts({ given, more }, nodes) {
  const parts = given.map((one) => allocation(one, nodes));
  if (more) parts.push(element("p", { class: "gv-muted" }, `and ${format.counted(more, "more allocation")}`));
  return element("div", {}, ...parts);
}

/** @param {Given} given @param {Nodes} nodes @returns {HTMLElement} */
function allocation({ allocation: around, ways, moreWays, same, near }, nodes) {
  const lines = ways.map((way) => element("li", {}, ...wayParts(way)));
  if (moreWays) lines.push(element("li", {}, `and ${format.counted(moreWays, "more address", "more addresses")}`));
  return element("div", { class: "gv-memory" },
    title(around, nodes),
    element("ul", { class: "gv-plain" }, ...lines),
    ...group("Also given to, or used by, at the same address", same, nodes),
    ...group("Elsewhere in it", near, nodes));
}

/** @param {Given["allocation"]} around @param {Nodes} nodes */
function title(around, nodes) {
  if (!around) return element("p", { title: NONE }, element("strong", {}, "No allocation known"));
  const size = element("strong", {}, format.byteSize(around.bytes)), where = ` at ${address(around.address)}`;
  if (around.node === null) return element("p", { title: ANY }, size, where);
  return element("div", {}, element("p", {}, size, where, ", allocated by"), picks(nodes, [around.node]));
}

/** What a node does at an address, in a line. @param {Way} way */
export function wayText({ access, bytes, address: where, offset }) {
  const amount = Number.isFinite(bytes) ? `${format.byteSize(bytes)} at ` : "";
  let place = `${access === LOOKS ? "what looks like " : ""}${address(where)}`;
  if (offset !== null) place = offset === 0 ? "its start" : `${format.byteSize(offset)} into it`;
  return `${WORDS[access]} ${amount}${place} `;
}

/** @param {Way} way @returns {(Node|string)[]} */
function wayParts(way) {
  if (!way.letter) return [wayText(way)];
  return [element("span", { class: "gv-buffer" }, way.letter), wayText(way), follow(way)];
}

/** @param {Way} way */
function follow({ address: where, bytes }) {
  const text = where.toString(16) + (Number.isFinite(bytes) ? `.${bytes.toString(16)}` : "");
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
