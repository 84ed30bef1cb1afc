/** Everything that is known of one node, as elements. */
import { element, facts, link, section } from "../core/parts.js";
import { copied } from "./copied.js";
import { memoryParts } from "./memory.js";
import { operationFacts } from "./node_facts.js";
import { calledParts, forwardParts, originLine, rangeText, stackParts } from "./origin.js";
import { parameterParts } from "./parameters.js";
import { picks } from "./picks.js";
import { histogram, timeFacts } from "./times.js";
import { valueParts } from "./values.js";
/** @import { Nodes } from "../table/nodes.js" */
/** @import { Side } from "./memory_uses.js" */
/** @import { NodeRecord } from "./records.js" */

/** Longer names of kernels are shown on request. */
const LONG_NAME = 160;
const NOT_DRAWN = "Not drawn in this graph, because the parent node of its body graph is not recorded; the page of the body graph draws it.";
const CYCLE = "Who else is given its memory is not known: the dependencies form a cycle.";

/** @param {string} text */
const muted = (text) => element("p", { class: "gv-muted" }, text);
/** @template T @param {T|null|undefined|false|""|0} value @param {(value: T) => Node} make @returns {Node[]} */
const where = (value, make) => (value ? [make(value)] : []);

/**
 * What the inspector says of a node.
 * @param {NodeRecord} record @param {Nodes} nodes of the table @param {Side[]|Promise<Side[]>} memory what it is given; a
 *   promise: shown once it is there
 */
export function nodeParts(record, nodes, memory) {
  const { node, kernel, stack, forward, nvtx, called, arguments: given } = record;
  const what = operationFacts(record);
  return element("div", {},
    heading(record),
    ...where(!record.drawn, () => muted(NOT_DRAWN)),
    ...where(record.bodies?.lines.length && record.bodies, bodies),
    ...times(record),
    ...where(what.length && what, (found) => section(kernel ? "Launch" : "Operation", facts(found))),
    ...where(stack?.frames.length && stack, (found) => section("Python", stackParts(found))),
    ...where(forward, (found) => section("Forward operation", forwardParts(found, node.autograd_name ?? "None"))),
    ...where(nvtx, () => section("NVTX", element("p", {}, rangeText(record)))),
    ...where(record.module, (path) => section("Module", element("p", {}, path))),
    ...where(called, (ranges) => section("Eager call in", calledParts(ranges))),
    ...where(given.length && given, (found) => section(`Parameters (${found.length})`, parameterParts(record))),
    ...where(record.values.length && record.values, (found) => section("Values", valueParts(found, nodes))),
    ...where(record.memoryUnknown, () => section("Memory", muted(CYCLE))),
    ...(Array.isArray(memory) ? memoryParts(memory, nodes, record.argumentWords) : [memoryLater(memory, nodes, record)]),
    neighbours(record, nodes));
}

/** A section until it is known what a node is given. @param {Promise<Side[]>} memory @param {Nodes} nodes @param {NodeRecord} record */
function memoryLater(memory, nodes, record) {
  const made = element("div", {}, section("Memory", muted("Being looked up…")));
  memory.then(
    (sides) => made.replaceChildren(...memoryParts(sides, nodes, record.argumentWords)),
    (error) => made.replaceChildren(section("Memory", muted(error.message))));
  return made;
}

/** @param {NodeRecord} record */
function heading(record) {
  const { node, kernel, label, kind, place } = record;
  const whole = kernel ? kernel.name : node.name;
  return element("div", { class: "gv-inspector-head" },
    element("div", { class: "gv-inspector-line" },
      element("span", { class: "gv-kind" }, kind),
      element("span", { class: "gv-muted" }, `node ${node.node_id}`),
      ...where(place, ([path, href]) => element("span", { class: "gv-muted gv-ellipsis" }, "in ", link(href, path))),
      element("div", { class: "gv-grow" }),
      element("button", {
        type: "button", class: "gv-button gv-copy", title: "Copy all that is recorded of this node as JSON", "data-copy": copied(record),
      }, "Copy JSON")),
    element("h2", { class: "gv-clamp" }, label),
    originLine(record),
    ...where(whole !== label || whole.length > LONG_NAME, () => wholeName(whole)));
}

/** A node's whole name, folded where it would push everything else away. @param {string} name */
function wholeName(name) {
  const text = element("p", { class: "gv-mono gv-muted gv-break gv-full-name" }, name);
  return name.length <= LONG_NAME ? text : element("details", { class: "gv-whole" }, element("summary", {}, "Whole name"), text);
}

/** The bodies of a node, with what is in them and how often they ran. @param {{lines: [string, string, string][]}} found */
function bodies({ lines }) {
  const list = lines.map(([name, href, words]) =>
    element("li", {}, link(href, name), element("span", { class: "gv-muted" }, ` ${words}`)));
  return section(lines.length === 1 ? "Body graph" : "Body graphs",
    element("div", {}, element("ul", {}, ...list), muted("A double click in the graph, or o, opens it there.")));
}

/** @param {NodeRecord} record @returns {Node[]} */
function times(record) {
  const { statistics, untimed, bodies: inside, node, inflation, spread } = record;
  if (!statistics) {
    return [section("Time", muted(untimed ?? "")), ...where(inside?.times.length && inside, (found) => facts(found.times))];
  }
  const class_ = node.match_class;
  return [
    section("Time", element("div", {},
      facts(timeFacts(record)),
      ...where(class_ !== undefined, () => muted(`Exchangeable (class ${class_}): these times may be those of another node of the ` +
        "class, for all dependencies would hold.")),
      ...where(inflation, muted))),
    ...where(spread, (found) => section("Distribution over launches", histogram(found, node.name))),
  ];
}

/** @param {NodeRecord} record @param {Nodes} nodes */
function neighbours({ edgesUnknown, edgesNote, dependencies: before, dependents: after }, nodes) {
  if (edgesUnknown) return section("Edges", muted(edgesUnknown));
  return element("div", {},
    ...where(edgesNote, muted),
    before.count
      ? section(`Depends on (${before.count})`, picks(nodes, before.keys, before.count))
      : section("Depends on", muted("Nothing: a root node.")),
    ...where(after.count, (count) => section(`Dependents (${count})`, picks(nodes, after.keys, count))));
}
