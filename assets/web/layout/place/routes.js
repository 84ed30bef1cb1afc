/** Points through which long edges run, clear of nodes. Python side: gviz.dag.lanes, gviz.dag.placement. */
import { sortedBy } from "./order.js";
import { COLUMN_GAP, LANE_GAP, NODE_HEIGHT, ROW_PITCH } from "./sizes.js";
/** @import { Columns } from "./columns.js" */
/** @import { Edges } from "./cover.js" */
/** @import { Ints } from "./order.js" */

/**
 * @typedef {{edge: number[], x: number[], y: number[]}} Points  each with the edge that it belongs to
 * @typedef {{route_offset: Uint32Array, route_x: Float64Array, route_y: Float64Array}} Routes  those of edge e are from
 *   `route_offset[e]` to before `route_offset[e + 1]`
 */

/** Long edges that share a gap run side by side in this many tracks. */
const TRACKS = 4;

/** Where in a gap (-0.5 to 0.5) an edge runs. @param {number} edge */
const track = (edge) => ((edge % TRACKS) - (TRACKS - 1) / 2) / TRACKS;

/**
 * A longer edge than to the next row runs down in the gap beside its source's lane.
 * @param {Edges} graph @param {Ints} row @param {Columns} columns @param {{x: Float64Array, y: Float64Array}} place
 * @param {Float64Array} left where each column starts @param {number} pitch of lanes
 */
export function routeEdges(graph, row, columns, { x, y }, left, pitch) {
  const { from, to } = graph, { column } = columns;
  /** @type {Points} */ const points = { edge: [], x: [], y: [] };
  const bend = ROW_PITCH - NODE_HEIGHT / 2;
  for (let e = 0; e < from.length; e++) {
    const a = from[e], b = to[e];
    if (row[b] - row[a] <= 1 || column[a] !== column[b]) continue;
    const side = x[b] < x[a] ? -0.5 : 0.5;
    const at = x[a] + side * pitch + track(e) * (LANE_GAP - 8);
    points.edge.push(e, e);
    points.x.push(at, at);
    points.y.push(y[a] + bend, y[b] - bend);
  }
  routeAcross(graph, column, { x, y }, left, points);
  return joinRoutes(points, from.length);
}

/**
 * Add the points of edges to another column: each runs between rows to the gap before that, and along it.
 * @param {Edges} graph @param {Int32Array} column @param {{x: Float64Array, y: Float64Array}} place
 * @param {Float64Array} left @param {Points} points
 */
export function routeAcross({ from, to }, column, { y }, left, points) {
  for (let e = 0; e < from.length; e++) {
    const a = from[e], b = to[e];
    if (column[a] === column[b]) continue;
    const run = left[column[b]] - COLUMN_GAP / 2 + track(e) * (COLUMN_GAP - 20);
    points.edge.push(e, e);
    points.x.push(run, run);
    points.y.push(y[a] + ROW_PITCH / 2, y[b] - ROW_PITCH / 2);
  }
}

/**
 * Points by edge; those of one edge stay in their order.
 * @param {Points} points @param {number} edgeCount
 * @returns {Routes}
 */
export function joinRoutes({ edge, x, y }, edgeCount) {
  const offset = new Uint32Array(edgeCount + 1);
  for (const e of edge) offset[e + 1] += 1;
  for (let e = 0; e < edgeCount; e++) offset[e + 1] += offset[e];
  const order = sortedBy(edge);
  return {
    route_offset: offset,
    route_x: Float64Array.from(order, (k) => x[k]),
    route_y: Float64Array.from(order, (k) => y[k]),
  };
}
