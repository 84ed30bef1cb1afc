/**
 * Sums over some nodes, of a launch.
 *
 * @typedef {{count: number, ns: number|null, share: number|null}} Sums  `ns`, `share` null: none of them was timed
 */
import * as format from "../core/format.js";
/** @import { Nodes } from "./nodes.js" */

/**
 * The sums of some nodes; what is inside one of them counts with it.
 * @param {Nodes} nodes @param {number[]} ids @returns {Sums}
 */
export function sumsOf(nodes, ids) {
  const { launch_ns: times, share: shares, parent } = nodes.columns;
  const none = { count: ids.length, ns: null, share: null };
  if (!times) return none;
  const outer = parent ? nodes.outermost(ids) : ids;
  let [ns, share, timed] = [0, 0, 0];
  for (const id of outer) {
    const at = nodes.place(id);
    if (times[at] === null) continue;
    timed += 1;
    ns += times[at];
    share += shares?.[at] ?? 0;
  }
  return timed ? { count: ids.length, ns, share: shares ? share : null } : none;
}

/** @param {string} counted how many of what @param {Sums} sums */
export function wordsOf(counted, { ns, share }) {
  const time = ns === null ? "" : `, ${format.duration(ns)}`;
  return counted + time + (share === null ? "" : `, ${format.percent(share)}`);
}
