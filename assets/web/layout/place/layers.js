/**
 * Layered layout: rows by longest path, few crossings, each node over the middle of its kin. Python side:
 * gviz.layout.layers, which says why and where it comes from.
 */
import { wrap } from "./columns.js";
import { positions } from "./kin.js";
import { bisectRight } from "./order.js";
import { joinRoutes, routeAcross } from "./routes.js";
import { COLUMN_GAP, LANE_GAP, NODE_HEIGHT, NODE_WIDTH, NODE_WIDTH_LEAST, ROW_PITCH, aspectOf } from "./sizes.js";
/** @import { Columns } from "./columns.js" */
/** @import { Cover, Edges } from "./cover.js" */
/** @import { Placement } from "./lanes.js" */
/** @import { Ints } from "./order.js" */
/** @import { Points } from "./routes.js" */

/**
 * @typedef {{row: number[], width: number[], above: number[][], below: number[][], edge: number[], nodeCount: number}} Items
 *   nodes and, behind them, the dummies that stand for long edges where they pass a row
 */

/** Room for a long edge that passes a row. */
const TRACK_WIDTH = 14;
const ORDER_SWEEPS = 6;

/** How many rows are passed by edges: the extra size of a layered layout. @param {Edges} graph @param {Ints} row */
export function countDummies({ from, to }, row) {
  let count = 0;
  for (let e = 0; e < from.length; e++) count += row[to[e]] - row[from[e]] - 1;
  return count;
}

/** @param {Edges} graph @param {Cover} cover @returns {Placement} */
export function placeLayers(graph, cover) {
  const columns = wrap(graph, cover);
  const width = nodeWidth(cover, columns.starts);
  const items = addDummies(graph, cover.row, columns.column, width);
  const x = positions(items, orderRows(items, columns.lane));
  return measure(graph, items, x, columns, width);
}

/** @param {Cover} cover @param {number[]} starts */
function nodeWidth({ row, breaks }, starts) {
  if (!row.length) return NODE_WIDTH;
  /** @type {number[]} */ const inRow = [];
  for (let n = 0; n < row.length; n++) inRow[row[n]] = (inRow[row[n]] ?? 0) + 1;
  let widest = 0, rows = 0;
  starts.forEach((start, c) => {
    const end = starts[c + 1] ?? inRow.length;
    let most = 0;
    for (let r = start; r < end; r++) most = Math.max(most, inRow[r]);
    widest += most;
    rows = Math.max(rows, end - start);
  });
  const room = (2 * aspectOf(breaks) * rows * ROW_PITCH - COLUMN_GAP * starts.length) / widest - LANE_GAP;
  return Math.min(Math.max(room, NODE_WIDTH_LEAST), NODE_WIDTH);
}

/** @param {Edges} graph @param {Ints} row @param {Int32Array} column @param {number} ownWidth @returns {Items} */
function addDummies({ count, from, to }, row, column, ownWidth) {
  const rows = Array.from(row);
  /** @type {number[][]} */ const above = Array.from({ length: count }, () => []);
  /** @type {number[][]} */ const below = Array.from({ length: count }, () => []);
  /** @type {number[]} */ const edge = new Array(count).fill(-1);
  for (let e = 0; e < from.length; e++) {
    if (column[from[e]] !== column[to[e]]) continue;
    let upper = from[e];
    const last = to[e], end = rows[last];
    for (let r = rows[upper] + 1; r < end; r++) {
      const dummy = rows.length;
      rows.push(r);
      edge.push(e);
      above.push([upper]);
      below.push([]);
      below[upper].push(dummy);
      upper = dummy;
    }
    below[upper].push(last);
    above[last].push(upper);
  }
  const width = rows.map((_, item) => (item < count ? ownWidth : TRACK_WIDTH));
  return { row: rows, width, above, below, edge, nodeCount: count };
}

/** The items of each row from left to right: the best of a few barycentre sweeps. @param {Items} items @param {Int32Array} lane */
function orderRows(items, lane) {
  const { row, above, below, nodeCount } = items;
  const start = Array.from(lane);
  // A long edge starts out just right of where it comes from.
  for (let item = nodeCount; item < row.length; item++) start.push(start[above[item][0]] + 0.3);
  /** @type {number[][]} */ const rows = [];
  for (const r of row) rows[r] ??= [];
  for (const item of row.map((_, i) => i).sort((a, b) => start[a] - start[b])) rows[row[item]].push(item);
  const at = new Float64Array(row.length);
  for (const members of rows) members.forEach((item, place) => (at[item] = place));
  let best = rows.map((members) => members.slice()), fewest = crossings(rows, items, at);
  for (let sweep = 0; sweep < ORDER_SWEEPS && fewest; sweep++) {
    const down = sweep % 2 === 0;
    for (const members of down ? rows : rows.toReversed()) settleOrder(members, down ? above : below, at);
    const found = crossings(rows, items, at);
    if (found < fewest) [best, fewest] = [rows.map((members) => members.slice()), found];
  }
  return best;
}

/** @param {number[]} members @param {number[][]} near @param {Float64Array} at */
function settleOrder(members, near, at) {
  if (members.length < 2) return;
  const keys = new Map(members.map((i) => [i, mean(near[i], at, at[i])]));
  const key = (/** @type {number} */ i) => /** @type {number} */ (keys.get(i));
  members.sort((a, b) => key(a) - key(b) || at[a] - at[b]);
  members.forEach((item, place) => (at[item] = place));
}

/** @param {number[]} near @param {Float64Array} at @param {number} alone */
function mean(near, at, alone) {
  let sum = 0;
  for (const n of near) sum += at[n];
  return near.length ? sum / near.length : alone;
}

/** Pairs of links between neighbouring rows that cross. @param {number[][]} rows @param {Items} items @param {Float64Array} at */
function crossings(rows, { below }, at) {
  let total = 0;
  for (const members of rows) {
    /** @type {number[]} */ const seen = [];
    for (const item of members) {
      const ends = below[item].map((n) => at[n]).sort((a, b) => a - b);
      for (const end of ends) total += seen.length - bisectRight(seen, end);
      for (const end of ends) {
        if (end >= (seen[seen.length - 1] ?? -1)) seen.push(end);
        else seen.splice(bisectRight(seen, end), 0, end);
      }
    }
  }
  return total;
}

/**
 * Set the columns side by side and turn dummies into routes.
 * @param {Edges} graph @param {Items} items @param {Float64Array} x @param {Columns} columns @param {number} ownWidth
 * @returns {Placement}
 */
function measure(graph, items, x, columns, ownWidth) {
  const { starts, column } = columns, { row, width, nodeCount: count } = items;
  const least = starts.map(() => Infinity), most = starts.map(() => -Infinity);
  const inColumn = Int32Array.from(row, (r) => bisectRight(starts, r) - 1);
  inColumn.forEach((c, i) => {
    least[c] = Math.min(least[c], x[i] - width[i] / 2);
    most[c] = Math.max(most[c], x[i] + width[i] / 2);
  });
  const left = new Float64Array(starts.length + 1);
  for (let c = 0; c < starts.length; c++) {
    const own = (Number.isFinite(most[c]) ? most[c] - least[c] : 0) + LANE_GAP;
    left[c + 1] = left[c] + (own + COLUMN_GAP);
  }
  const middle = x.map((at, i) => at - least[inColumn[i]] + left[inColumn[i]] + LANE_GAP / 2);
  const y = Float64Array.from(row, (r, i) => (r - starts[inColumn[i]] + 0.5) * ROW_PITCH);
  let bottom = -ROW_PITCH / 2;
  for (const one of y) bottom = Math.max(bottom, one);
  const points = routesOf(items, middle, y);
  routeAcross(graph, column, { x: middle, y }, left, points);
  return {
    x: middle.slice(0, count), y: y.slice(0, count), column,
    ...joinRoutes(points, graph.from.length),
    width: Math.max(0, left[starts.length] - COLUMN_GAP), height: bottom + ROW_PITCH / 2,
    node_width: ownWidth, node_height: NODE_HEIGHT, style: "structure",
  };
}

/** The ends of each straight run of dummies. @param {Items} items @param {Float64Array} x @param {Float64Array} y @returns {Points} */
function routesOf({ row, above, below, edge, nodeCount }, x, y) {
  /** @type {Points} */ const points = { edge: [], x: [], y: [] };
  const half = NODE_HEIGHT / 2;
  for (let item = nodeCount; item < row.length; item++) {
    for (const [next, side] of [[above[item][0], -half], [below[item][0], half]]) {
      if (next >= nodeCount && x[next] === x[item]) continue;
      points.edge.push(edge[item]);
      points.x.push(x[item]);
      points.y.push(y[item] + side);
    }
  }
  return points;
}
