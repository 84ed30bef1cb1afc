/**
 * Sums over some nodes, of a launch.
 *
 * @typedef {{of: number, timed: number, ns: number|null, share: number|null}} Sums  of how many nodes, and how many of
 *   these were timed; `ns`, `share` null: none was
 */
import * as format from "../core/format.js";
/** @import { Nodes } from "./nodes.js" */

/**
 * The sums of some nodes; what is inside one of them counts with it.
 * @param {Nodes} nodes @param {number[]} ids @returns {Sums}
 */
export function sumsOf(nodes, ids) {
  const { launch_ns: times, share: shares } = nodes.columns;
  const outer = nodes.outermost(ids);
  let [ns, share, timed] = [0, 0, 0];
  for (const at of times ? outer : []) {
    if (times[at] === null) continue;
    timed += 1;
    ns += times[at];
    share += shares?.[at] ?? 0;
  }
  return { of: outer.length, timed, ns: timed ? ns : null, share: timed && shares ? share : null };
}

/** @param {string} counted how many of what @param {Sums} sums */
export function wordsOf(counted, { ns, share }) {
  const time = ns === null ? "" : `, ${format.duration(ns)}`;
  return counted + time + (share === null ? "" : `, ${format.percent(share)}`);
}
