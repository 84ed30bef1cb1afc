/** Two graphs in one picture: whose their edges are, which of them run back, and what is said of both. Python side: gviz.app.pages.compare.union_dag. */
import { scaleOf } from "./scales.js";
/** @import { Payload } from "../../core/payload.js" */
/** @import { OpenLevel, WholeDag } from "./levels.js" */

/** Verdicts on what one side alone has. */
const ADDED = "added", REMOVED = "removed";

/** Whether it is two graphs. @param {WholeDag} whole */
export const isUnion = (whole) => "runs_back" in whole.arrays;

/**
 * Make of a DAG that is laid out one of two graphs.
 * @param {WholeDag} whole @param {OpenLevel[]} levels @param {Payload} drawn @param {Set<number>} frames items without a colour
 */
export function joinGraphs(whole, levels, drawn, frames) {
  const { header } = drawn, { verdicts } = header.change;
  /** @param {string} name */
  const edges = (name) => Uint8Array.from(levels.flatMap(({ level }) => Array.from(whole.arrays[name].subarray(...level.edges))));
  drawn.edge_origin = edges("edge_origin");
  turn(drawn, edges("runs_back"));
  /** @param {string} verdict */
  const count = (verdict) => drawn.verdict.filter((/** @type {number} */ at) => verdicts[at] === verdict).length;
  const { least, most, log } = scaleOf(Array.from(drawn.median_ns).filter((_, i) => !frames.has(i)), whole.header.log_ratio);
  Object.assign(header, {
    edges_known: levels.every(({ level }) => level.edges_known), scale: { least_ns: least, most_ns: most, log },
    change: { ...header.change, added: count(ADDED), gone: count(REMOVED) },
  });
  return drawn;
}

/** Have edges, and their routes, lead from source to target that were laid out the other way. @param {Payload} drawn @param {Uint8Array} isBack */
function turn({ edge_from: from, edge_to: to, route_offset: offset, route_x: x, route_y: y }, isBack) {
  isBack.forEach((back, e) => {
    if (!back) return;
    [from[e], to[e]] = [to[e], from[e]];
    for (const places of [x, y]) places.subarray(offset[e], offset[e + 1]).reverse();
  });
}
