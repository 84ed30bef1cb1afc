/** Rows wrapped into columns, and a lane for each node in its column. Python side: gviz.dag.lanes, gviz.dag.ranks. */
import { bisectLeft, bisectRight, roundEven, sortedBy } from "./order.js";
import { COLUMN_GAP, LANE_GAP, NODE_WIDTH, ROW_PITCH, aspectOf } from "./sizes.js";
/** @import { Cover, Edges } from "./cover.js" */
/** @import { Ints } from "./order.js" */

/** @typedef {[number, number]} Part  its first row, and that after its last */
/** @typedef {{starts: number[], column: Int32Array, lane: Int32Array}} Columns  the first row of each; one a node: its column, its lane in that */

/** Graphs of at most so many rows stay in one column. */
const ROWS_UNWRAPPED = 9;
/** Columns are no lower than this many rows. */
const ROWS_LEAST = 4;
/** Numbers of columns that are tried. */
const TRIED = 40;
/** How far a cut may move from equal heights, as a share of a column, to tear fewer edges. */
const CUT_REACH = 0.3;

/** @param {Edges} graph @param {Cover} cover @returns {Columns} */
export function wrap(graph, cover) {
  const starts = wrapRows(graph, cover);
  const column = new Int32Array(graph.count);
  for (let n = 0; n < graph.count; n++) column[n] = bisectRight(starts, cover.row[n]) - 1;
  return { starts, column, lane: assignLanes(graph, cover, column) };
}

/** How many rows there are; 1 without nodes. @param {Ints} row */
function countRows(row) {
  let rows = 1;
  for (let n = 0; n < row.length; n++) rows = Math.max(rows, row[n] + 1);
  return rows;
}

/** The first row of each column so that the plane comes near the aspect. @param {Edges} graph @param {Cover} cover */
function wrapRows(graph, { row, breaks = [] }) {
  const rows = countRows(row), begins = [0, ...breaks];
  if (rows <= ROWS_UNWRAPPED) return begins;
  /** @type {Part[]} */ const parts = begins.map((start, at) => [start, begins[at + 1] ?? rows]);
  const widths = new Float64Array(rows);
  for (let n = 0; n < row.length; n++) widths[row[n]] += 1;
  let best = parts.map(() => 1), least = Infinity;
  const aspect = aspectOf(breaks);
  for (const columns of numbersTried(Math.max(1, Math.floor(rows / ROWS_LEAST)))) {
    const counts = columnsOfParts(parts, columns), starts = evenStarts(parts, counts);
    let width = 0, highest = 0;
    starts.forEach((start, c) => {
      const end = starts[c + 1] ?? rows;
      let lanes = 0;
      for (let r = start; r < end; r++) lanes = Math.max(lanes, widths[r]);
      width += lanes * (NODE_WIDTH + LANE_GAP) + COLUMN_GAP;
      highest = Math.max(highest, end - start);
    });
    const miss = Math.abs(Math.log(width / (highest * ROW_PITCH) / aspect));
    if (miss < least) [best, least] = [counts, miss];
  }
  const crossing = crossingEdges(graph, row, rows);
  return parts.flatMap(([start, end], at) => cutRows(crossing.subarray(start, end), best[at]).map((first) => start + first));
}

/** How many columns each part has, so that all are about as high. @param {Part[]} parts @param {number} columns */
function columnsOfParts(parts, columns) {
  if (parts.length === 1) return [columns];
  const highest = Math.ceil(parts[parts.length - 1][1] / columns);
  return parts.map(([start, end]) => Math.ceil((end - start) / highest));
}

/** The first row of each column where the columns of a part are equally high. @param {Part[]} parts @param {number[]} counts */
function evenStarts(parts, counts) {
  return parts.flatMap(([start, end], at) =>
    Array.from({ length: counts[at] }, (_, c) => start + Math.floor((c * (end - start)) / counts[at])));
}

/** Numbers from 1 to `most`, each about the same multiple of the one before. @param {number} most */
function numbersTried(most) {
  const step = Math.log10(most) / (TRIED - 1);
  const found = Array.from({ length: TRIED }, (_, i) => roundEven(10 ** (i * step)));
  found[TRIED - 1] = most;
  return new Set(found);
}

/** How many edges lead from above each row to it or below. @param {Edges} graph @param {Ints} row @param {number} rows */
function crossingEdges({ from, to }, row, rows) {
  const crossing = new Int32Array(rows + 1);
  for (let e = 0; e < from.length; e++) {
    crossing[row[from[e]] + 1] += 1;
    crossing[row[to[e]] + 1] -= 1;
  }
  for (let r = 1; r < rows; r++) crossing[r] += crossing[r - 1];
  return crossing.subarray(0, rows);
}

/** The first row of each column: near equal heights, where few edges are cut. @param {Int32Array} crossing @param {number} columns */
function cutRows(crossing, columns) {
  const rows = crossing.length;
  const reach = Math.max(0, Math.floor((CUT_REACH * rows) / columns));
  const starts = [0];
  for (let column = 1; column < columns; column++) {
    const aim = roundEven((column * rows) / columns);
    const low = Math.max(starts[starts.length - 1] + 1, aim - reach), high = Math.min(rows - 1, aim + reach);
    let best = -1, least = Infinity;
    for (let r = low; r <= high; r++) {
      const cost = crossing[r] + Math.abs(r - aim) / (reach + 1);
      if (cost < least) [best, least] = [r, cost];
    }
    if (best >= 0) starts.push(best);
  }
  return starts;
}

/**
 * Each node's lane: free over all rows of its chain in its column, near its parent's.
 * @param {Edges} graph @param {Cover} cover @param {Int32Array} column
 */
function assignLanes({ count, from, to }, { row, chain }, column) {
  const parent = new Int32Array(count).fill(-1);
  // In reverse, so that the first edge of a node wins.
  for (let e = from.length - 1; e >= 0; e--) parent[to[e]] = from[e];
  const order = sortedBy(column, sortedBy(chain, sortedBy(row)));
  const piece = new Int32Array(count);
  /** @type {number[]} */ const heads = [];
  /** @type {number[]} */ const ends = [];
  for (let k = 0; k < count; k++) {
    const node = order[k], before = order[k - 1];
    if (!k || chain[node] !== chain[before] || column[node] !== column[before]) heads.push(node);
    piece[node] = heads.length - 1;
    ends[piece[node]] = row[node];
  }
  const lanes = sweep({ heads, ends, piece, parent, row, column });
  return piece.map((p) => lanes[p]);
}

/**
 * Give each piece of a chain a lane, from top to bottom.
 * @param {{heads: number[], ends: number[], piece: Int32Array, parent: Int32Array, row: Ints, column: Int32Array}} pieces
 */
function sweep({ heads, ends, piece, parent, row, column }) {
  const lanes = new Int32Array(heads.length);
  const columns = heads.map((n) => column[n]), begins = heads.map((n) => row[n]);
  /** @type {number[]} */ let free = [];
  /** @type {Map<number, number[]>} */ let busy = new Map();
  let used = 0, at = -1, reached = 0;
  for (const p of sortedBy(columns, sortedBy(begins, sortedBy(heads)))) {
    if (columns[p] !== at) {
      [free, busy, used, at, reached] = [[], new Map(), 0, columns[p], begins[p]];
    }
    for (; reached < begins[p]; reached++) {
      for (const lane of busy.get(reached) ?? []) free.splice(bisectRight(free, lane), 0, lane);
      busy.delete(reached);
    }
    const above = parent[heads[p]];
    const wish = above >= 0 ? lanes[piece[above]] : 0;
    lanes[p] = free.length ? free.splice(nearest(free, wish), 1)[0] : used++;
    const ending = busy.get(ends[p]);
    if (ending) ending.push(lanes[p]);
    else busy.set(ends[p], [lanes[p]]);
  }
  return lanes;
}

/** The place of the value of a sorted list that is nearest. @param {number[]} values @param {number} wish */
function nearest(values, wish) {
  const at = bisectLeft(values, wish);
  return at === values.length || (at > 0 && wish - values[at - 1] <= values[at] - wish) ? at - 1 : at;
}
