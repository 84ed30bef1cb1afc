/**
 * Layout along time: a node stands where it started in a launch and is as long as it took. Python side:
 * gviz.layout.timed, gviz.dag.untimed, gviz.dag.interval_lanes.
 */
import { bisectRight, sortedBy } from "./order.js";
/** @import { Cover, Edges } from "./cover.js" */

/**
 * @typedef {{node: Uint32Array, start: Float64Array, end: Float64Array}} Bars  executions of nodes, by node and then by start (ns)
 * @typedef {{start: Float64Array, end: Float64Array, busy: Float64Array, iterations: Bars}} Ran  when nodes ran, NaN: no
 *   time; `iterations` of those that ran several times
 * @typedef {{start: Float64Array, end: Float64Array, bars: Bars, first: Uint32Array, lane: Int32Array}} TimePlacement
 *   one a node: its first start, last end and first bar; one a bar: its lane
 */

/** @param {Edges} graph @param {Cover} cover @param {Ran} ran @param {number} floor where nodes without a time stand that wait for nothing @returns {TimePlacement} */
export function placeTime(graph, cover, ran, floor) {
  const { start, end } = earliest(graph, cover, ran, floor);
  const bars = barsOf(start, end, ran.iterations);
  const count = bars.node.length;
  const byRow = sortedBy(Uint32Array.from(bars.node, (n) => cover.row[n]));
  const order = byRow.sort((a, b) => bars.start[a] - bars.start[b]);
  const lanes = packLanes(order, bars, cover), lane = new Int32Array(count);
  order.forEach((bar, k) => (lane[bar] = lanes[k]));
  const first = new Uint32Array(graph.count);
  for (let bar = count - 1; bar >= 0; bar--) first[bars.node[bar]] = bar;
  return { start, end, bars, first, lane };
}

/** How many lanes there are. @param {TimePlacement} place */
export const countLanes = ({ lane }) => lane.reduce((most, one) => Math.max(most, one), 0) + 1;

/** Start and end of all nodes, those without a time where their dependencies had ended. @param {Edges} graph @param {Cover} cover @param {Ran} ran @param {number} floor */
function earliest({ from, to }, { row }, ran, floor) {
  const start = ran.start.slice(), end = ran.end.slice();
  const lacks = start.map((at) => Number(Number.isNaN(at)));
  if (!lacks.includes(1)) return { start, end };
  lacks.forEach((is, n) => { if (is) start[n] = end[n] = floor; });
  for (const e of sortedBy(Uint32Array.from(to, (n) => row[n]))) {
    const a = from[e], b = to[e];
    if (lacks[b] && end[a] > end[b]) start[b] = end[b] = end[a];
  }
  return { start, end };
}

/** @param {Float64Array} start @param {Float64Array} end @param {Bars} iterations @returns {Bars} */
function barsOf(start, end, iterations) {
  const node = Uint32Array.from(start, (_, n) => n);
  if (!iterations.node.length) return { node, start, end };
  const several = new Set(iterations.node);
  const once = node.filter((n) => !several.has(n));
  const nodes = Uint32Array.from([...once, ...iterations.node]);
  const starts = Float64Array.from([...once].map((n) => start[n]).concat(...[Array.from(iterations.start)]));
  const ends = Float64Array.from([...once].map((n) => end[n]).concat(...[Array.from(iterations.end)]));
  const order = nodes.map((_, k) => k).sort((a, b) => nodes[a] - nodes[b] || starts[a] - starts[b]);
  return { node: order.map((k) => nodes[k]), start: Float64Array.from(order, (k) => starts[k]), end: Float64Array.from(order, (k) => ends[k]) };
}

/**
 * A lane for each bar so that none overlap; a chain keeps its lane if it can.
 * @param {Uint32Array} order of the bars, by start @param {Bars} bars @param {Cover} cover
 */
function packLanes(order, bars, { chain }) {
  const found = new Int32Array(order.length);
  if (follow(order, bars)) return found;
  /** @type {Map<number, number>} */ const final = new Map();
  order.forEach((bar, i) => final.set(chain[bars.node[bar]], i));
  const most = mostAtOnce(bars);
  /** @type {number[]} */ const ends = [];
  /** @type {number[]} */ const owner = [];
  /** @type {Map<number, number>} */ const own = new Map();
  order.forEach((bar, i) => {
    const begin = bars.start[bar], member = chain[bars.node[bar]];
    let lane = own.get(member) ?? -1;
    if (lane < 0 || ends[lane] > begin) lane = freeLane(ends, begin, ends.length >= most, (n) => (final.get(owner[n]) ?? 0) < i);
    ends[lane] = bars.end[bar];
    owner[lane] = member;
    if (!own.has(member)) own.set(member, lane);
    found[i] = lane;
  });
  return found;
}

/** Whether none starts before all before it have ended. @param {Uint32Array} order @param {Bars} bars */
function follow(order, bars) {
  let ended = -Infinity;
  return order.every((bar) => {
    const isAfter = bars.start[bar] >= ended;
    ended = Math.max(ended, bars.end[bar]);
    return isAfter;
  });
}

/**
 * The first lane that is free, of those whose chain does not go on; else, where there would be too many, of all; else a new one.
 * @param {number[]} ends @param {number} begin @param {boolean} isFull @param {(lane: number) => boolean} isIdle
 */
function freeLane(ends, begin, isFull, isIdle) {
  let any = -1;
  for (let n = 0; n < ends.length; n++) {
    if (ends[n] > begin) continue;
    if (isIdle(n)) return n;
    if (any < 0) any = n;
  }
  return isFull && any >= 0 ? any : ends.length;
}

/** How many bars overlap at most; one that starts where another ends does not. @param {Bars} bars */
function mostAtOnce(bars) {
  const starts = bars.start.toSorted(), ends = bars.end.toSorted();
  return starts.reduce((most, at, k) => Math.max(most, k + 1 - bisectRight(ends, at)), 0);
}
