/**
 * Records of nodes out of the columns that the server sends and a saved file has. Python side:
 * gviz.app.inspector.node_records.
 *
 * @typedef {{file: string, line: number, function: string, source?: string}} Frame
 * @typedef {{frames: Frame[], own: number|null, line: string}} Stack  innermost first; `own`: the innermost of the user's own
 * @typedef {{node_id: number, name: string, nvtx: string|null, stack: Stack|null, stack_reason: string|null, exact: boolean}} Forward
 *   the first node of the operation whose backward pass a node is
 * @typedef {{count: number, keys: number[]}} Neighbours  how many, and the first of them
 * @typedef {{lines: [name: string, href: string, words: string][], times: Fact[]}} Bodies
 * @typedef {{shortest: number, longest: number, median: number, interval: [low: number, high: number]|null, counts: number[]}} Spread
 * @typedef {Record<string, any>} Row  the columns of a table that are known, by name; of `argumentWords`: text (as signatures have
 *   it), number (its value, where the type tells it), known_by (what told the type)
 * @typedef {{
 *   run: string, graph: string, place: [string, string]|null, at: number, drawn: boolean, edgesUnknown: string|null, edgesNote: string|null,
 *   memoryUnknown: string|null, timedCount: number, inflation: string|null, key: number, node: Row, kind: string, label: string, direction: string|null,
 *   kernel: Row|null, statistics: Row|null, share: number|null, untimed: string|null, nvtx: string|null, nvtxFrom: "forward"|"capture"|null, module: string|null,
 *   spread: Spread|null, arguments: Row[], argumentWords: Row[], parameters: [string, string][], values: Memory[], stack: Stack|null, forward: Forward|null,
 *   eager: [count: number, median: number]|null, called: string|null, bodies: Bodies|null, released: Fact[], dependencies: Neighbours, dependents: Neighbours,
 * }} NodeRecord
 */
import { valueOf } from "../table/coded.js";
/** @import { Fact } from "../core/parts.js" */
/** @import { Memory } from "./values.js" */
/** @import { Coded } from "../table/coded.js" */

/** What is known of a row of columns. @param {Record<string, Coded>} columns @param {number} at @returns {Row} */
function rowOf(columns, at) {
  const found = Object.entries(columns).map(([name, column]) => [name, valueOf(column, at)]);
  return Object.fromEntries(found.filter(([, value]) => value !== null));
}

/** @param {any} level @param {number} at @returns {{arguments: Row[], argumentWords: Row[]}} */
function argumentsOf({ arguments: columns, argument_words: words, argument_count: count }, at) {
  let first = 0;
  for (let before = 0; before < at; before++) first += valueOf(count, before);
  /** @param {Record<string, Coded>} of */
  const rows = (of) => Array.from({ length: valueOf(count, at) }, (_, i) => rowOf(of, first + i));
  return { arguments: rows(columns), argumentWords: rows(words) };
}

/** @param {any} level @param {number} at @returns {Forward|null} */
function forwardOf(level, at) {
  const place = valueOf(level.forward, at);
  if (place === null) return null;
  const { stack_id: id, ...operation } = level.operations[place];
  return { ...operation, stack: id === null ? null : level.stacks[id], exact: valueOf(level.forward_exact, at) };
}

/** @param {any} level @param {number} at @returns {Spread|null} */
function spreadOf({ spread: { counts, shortest, longest, median, interval } }, at) {
  return counts[at] && { counts: counts[at], shortest: shortest[at], longest: longest[at], median: median[at], interval: interval[at] };
}

/**
 * The record of a node.
 * @param {any} records of nodes that follow each other @param {number} place of the node among them
 * @returns {NodeRecord}
 */
export function recordOf(records, place) {
  let at = place;
  const level = records.levels.find((/** @type {any} */ one) => at < one.count || ((at -= one.count), false));
  const node = rowOf(level.node, at);
  const statistics = rowOf(level.statistics, at);
  return {
    run: records.run, timedCount: records.timed_count, inflation: records.inflation,
    graph: level.graph, place: level.place, at: level.at, drawn: level.drawn,
    edgesUnknown: level.edges_unknown, edgesNote: level.edges_note, memoryUnknown: level.memory_unknown,
    key: level.key[at], node, kind: valueOf(level.kind, at), label: valueOf(level.label, at),
    direction: valueOf(level.direction, at),
    kernel: level.functions[node.function_id] ?? null,
    statistics: "count" in statistics ? statistics : null,
    share: valueOf(level.share, at), untimed: valueOf(level.untimed, at),
    nvtx: valueOf(level.nvtx, at), nvtxFrom: valueOf(level.nvtx_from, at), module: valueOf(level.module, at),
    spread: spreadOf(level, at),
    ...argumentsOf(level, at), parameters: level.parameters[at] ?? [],
    values: level.values[at] ?? [],
    stack: level.stacks[node.stack_id] ?? null, forward: forwardOf(level, at),
    eager: level.eager[at] ?? null, called: level.called[at] ?? null,
    bodies: level.bodies[at] ?? null, released: level.released[at] ?? [],
    dependencies: { count: valueOf(level.dependencies.count, at), keys: level.dependencies.keys[at] },
    dependents: { count: valueOf(level.dependents.count, at), keys: level.dependents.keys[at] },
  };
}
