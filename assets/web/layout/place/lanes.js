/** Layout in lanes, of which a long graph has several columns, and of nodes without edges. Python side: gviz.dag.lanes, gviz.dag.unconnected. */
import { wrap } from "./columns.js";
import { roundEven } from "./order.js";
import { routeEdges } from "./routes.js";
import { ASPECT, COLUMN_GAP, LANE_GAP, NODE_HEIGHT, NODE_WIDTH, NODE_WIDTH_LEAST, ROW_PITCH, aspectOf } from "./sizes.js";
/** @import { Cover, Edges } from "./cover.js" */
/** @import { Routes } from "./routes.js" */

/**
 * @typedef {{x: Float64Array, y: Float64Array, column: Int32Array, width: number, height: number, node_width: number,
 *   node_height: number, style: "structure"|"lanes"|"table"} & Routes} Placement  centres of nodes, and the size of the plane
 */

/** @param {Edges} graph @param {Cover} cover @returns {Placement} */
export function placeLanes(graph, cover) {
  const { count } = graph, { row } = cover;
  const columns = wrap(graph, cover), { starts, column, lane } = columns;
  const lanes = new Int32Array(starts.length);
  let highest = 1, all = 0;
  for (let n = 0; n < count; n++) {
    lanes[column[n]] = Math.max(lanes[column[n]], lane[n] + 1);
    highest = Math.max(highest, row[n] - starts[column[n]] + 1);
  }
  for (const some of lanes) all += some;
  const height = highest * ROW_PITCH;
  const room = (2 * aspectOf(cover.breaks) * height - COLUMN_GAP * starts.length) / Math.max(1, all) - LANE_GAP;
  const width = Math.min(Math.max(room, NODE_WIDTH_LEAST), NODE_WIDTH), pitch = width + LANE_GAP;
  const left = new Float64Array(starts.length + 1);
  for (let c = 0; c < starts.length; c++) left[c + 1] = left[c] + (lanes[c] * pitch + COLUMN_GAP);
  const x = new Float64Array(count), y = new Float64Array(count);
  for (let n = 0; n < count; n++) {
    x[n] = left[column[n]] + lane[n] * pitch + pitch / 2;
    y[n] = (row[n] - starts[column[n]] + 0.5) * ROW_PITCH;
  }
  return {
    x, y, column,
    ...routeEdges(graph, row, columns, { x, y }, left, pitch),
    width: left[starts.length] - COLUMN_GAP, height, node_width: width, node_height: NODE_HEIGHT, style: "lanes",
  };
}

/** Without edges to draw, lines of nodes can stand closer. */
const LINE_PITCH = ROW_PITCH - 16;
const COLUMN_PITCH = NODE_WIDTH + LANE_GAP - 12;

/** Nodes line by line, as text is read. @param {number} count @returns {Placement} */
export function placeTable(count) {
  const ideal = Math.sqrt((Math.max(1, count) * ASPECT * LINE_PITCH) / COLUMN_PITCH);
  const across = Math.max(1, Math.min(roundEven(ideal), Math.max(1, count)));
  return {
    x: Float64Array.from({ length: count }, (_, n) => ((n % across) + 0.5) * COLUMN_PITCH),
    y: Float64Array.from({ length: count }, (_, n) => (Math.floor(n / across) + 0.5) * LINE_PITCH),
    column: new Int32Array(count),
    route_offset: new Uint32Array(1), route_x: new Float64Array(0), route_y: new Float64Array(0),
    width: count ? across * COLUMN_PITCH : 0, height: Math.ceil(count / across) * LINE_PITCH,
    node_width: NODE_WIDTH, node_height: NODE_HEIGHT, style: "table",
  };
}
