/** Everything that is recorded of a node as JSON to take away. */
import { signature } from "./parameters.js";
/** @import { NodeRecord, Row } from "./records.js" */

/** Stands before the digits of an integer that JavaScript's numbers are not exact for. */
const DIGITS = "\u0000";

/** @param {Row|null} row */
const known = (row) => (row && Object.keys(row).length ? row : undefined);
/** @param {any[]} list */
const some = (list) => (list.length ? list : undefined);

/**
 * A node as JSON: its columns as docs/recording.md has them, and what belongs to it. Values that are not
 * recorded are left out; bytes are hexadecimal, in order.
 * @param {NodeRecord} record
 */
export function copied({ run, graph, node, kind, kernel, statistics, nvtx, parameters, stack, ...record }) {
  const found = {
    run: run || undefined, graph: graph || undefined,
    node: { ...node, kind },
    kernel_function: known(kernel), statistics: known(statistics), nvtx: nvtx || undefined,
    signature: record.arguments.length ? signature({ node, ...record }) : undefined, arguments: some(record.arguments), parameters: known(Object.fromEntries(parameters)), stack: stack ? some(stack.frames) : undefined,
  };
  const text = JSON.stringify(found, (_, value) => (typeof value === "bigint" ? DIGITS + value : value), 1);
  return text.replace(/"\\u0000(-?\d+)"/g, "$1");
}
