/** Room in a placement for nodes that are larger than the others. Python side: gviz.layout.room, which says why. */
import { bisectLeft } from "./order.js";
import { joinRoutes } from "./routes.js";
/** @import { Edges } from "./cover.js" */
/** @import { Placement } from "./lanes.js" */

/** Heights that differ by less are equal. */
const EQUAL = 1e-6;

/** A map of a line onto itself that nowhere shrinks and makes some intervals long enough. */
class Stretch {
  /** @param {number[]} low @param {number[]} high the intervals @param {number[]} least how long each must become */
  constructor(low, high, least) {
    this.at = Float64Array.from(new Set([...low, ...high])).sort();
    const length = Array.from({ length: this.at.length - 1 }, (_, k) => this.at[k + 1] - this.at[k]);
    const added = length.map(() => 0);
    for (const { first, last, wanted } of this.intervals(low, high, least)) {
      let before = 0, grown = 0;
      for (let k = first; k < last; k++) [before, grown] = [before + length[k], grown + (length[k] + added[k])];
      const lack = wanted - grown;
      if (lack > 0) for (let k = first; k < last; k++) added[k] += (lack * length[k]) / before;
    }
    this.shift = new Float64Array(this.at.length);
    added.forEach((more, k) => (this.shift[k + 1] = this.shift[k] + more));
  }

  /**
   * Equal intervals once, the largest first: what it stretches serves those that stand in part above it.
   * @param {number[]} low @param {number[]} high @param {number[]} least
   */
  intervals(low, high, least) {
    /** @type {Map<string, {first: number, last: number, wanted: number}>} */ const found = new Map();
    low.forEach((value, k) => {
      const first = bisectLeft(this.at, value), last = bisectLeft(this.at, high[k]);
      const known = found.get(`${first} ${last}`);
      if (known) known.wanted = Math.max(known.wanted, least[k]);
      else found.set(`${first} ${last}`, { first, last, wanted: Math.max(0, least[k]) });
    });
    const inOrder = Array.from(found.values()).sort((a, b) => a.first - b.first || a.last - b.last);
    return inOrder.sort((a, b) => b.wanted - a.wanted);
  }

  /** Where a value goes. @param {number} value */
  of(value) {
    const { at, shift } = this, end = at.length - 1;
    if (value <= at[0]) return value + shift[0];
    if (value >= at[end]) return value + shift[end];
    let k = bisectLeft(at, value);
    if (at[k] !== value) k -= 1;
    return value + (((shift[k + 1] - shift[k]) / (at[k + 1] - at[k])) * (value - at[k]) + shift[k]);
  }
}

/**
 * A placement in which some nodes have the room they need around their centre.
 * @param {Placement} place @param {Edges} graph @param {Map<number, {width: number, height: number}>} large nodes, and what they need
 * @returns {Placement}
 */
export function makeRoom(place, graph, large) {
  if (!large.size) return place;
  const halfWidth = place.node_width / 2, halfHeight = place.node_height / 2;
  const nodes = Array.from(large.keys()).sort((a, b) => a - b);
  /** @param {number} n */
  const need = (n) => /** @type {{width: number, height: number}} */ (large.get(n));
  const low = nodes.map((n) => place.x[n] - halfWidth), high = nodes.map((n) => place.x[n] + halfWidth);
  const across = new Stretch(low, high, nodes.map((n) => need(n).width));
  const x = place.x.map((at) => across.of(at));
  nodes.forEach((n, k) => (x[n] = (across.of(low[k]) + across.of(high[k])) / 2));
  /** @type {Map<number, Stretch>} */ const down = new Map();
  for (const column of new Set(nodes.map((n) => place.column[n]))) {
    const inside = nodes.filter((n) => place.column[n] === column);
    down.set(column, new Stretch(inside.map((n) => place.y[n] - halfHeight), inside.map((n) => place.y[n] + halfHeight),
      inside.map((n) => need(n).height)));
  }
  /** @param {number} column @param {number} value */
  const fall = (column, value) => down.get(column)?.of(value) ?? value;
  const y = place.y.map((at, n) => fall(place.column[n], at));
  const bottom = place.y.map((at, n) => fall(place.column[n], at + halfHeight));
  const routes = routesMoved(place, graph, across, fall);
  let lowest = -Infinity, before = -Infinity;
  for (let n = 0; n < y.length; n++) {
    lowest = Math.max(lowest, bottom[n]);
    before = Math.max(before, place.y[n] + halfHeight);
  }
  const grown = y.map((at, n) => Number(!large.has(n) && bottom[n] - at > halfHeight + EQUAL));
  return {
    ...place, x, y, ...clearRows({ x, y, bottom, grown, column: place.column }, graph, routes),
    width: across.of(place.width), height: lowest + place.height - before,
  };
}

/**
 * The points of edges where they go; an edge to another column bends twice: beside its source, then beside its target.
 * @param {Placement} place @param {Edges} graph @param {Stretch} across @param {(column: number, value: number) => number} fall
 */
function routesMoved(place, { from, to }, across, fall) {
  /** @type {import("./routes.js").Points} */ const points = { edge: [], x: [], y: [] };
  for (let e = 0; e < from.length; e++) {
    const begin = place.route_offset[e], count = place.route_offset[e + 1] - begin;
    for (let k = 0; k < count; k++) {
      const beside = place.column[2 * k >= count ? to[e] : from[e]];
      points.edge.push(e);
      points.x.push(across.of(place.route_x[begin + k]));
      points.y.push(fall(beside, place.route_y[begin + k]));
    }
  }
  return points;
}

/**
 * Lead edges straight out of rows that have grown before they bend, clear of what is large.
 * @param {{x: Float64Array, y: Float64Array, bottom: Float64Array, grown: Float64Array, column: Int32Array}} place
 * @param {Edges} graph @param {import("./routes.js").Points} routes
 */
function clearRows({ x, y, bottom, grown, column }, { from, to }, routes) {
  /** @type {import("./routes.js").Points} */ const out = { edge: [], x: [], y: [] };
  /** @type {import("./routes.js").Points} */ const into = { edge: [], x: [], y: [] };
  /** @param {import("./routes.js").Points} points @param {number} edge @param {number} atX @param {number} atY */
  const add = (points, edge, atX, atY) => {
    points.edge.push(edge);
    points.x.push(atX);
    points.y.push(atY);
  };
  for (let e = 0; e < from.length; e++) {
    const a = from[e], b = to[e];
    if (column[a] !== column[b]) continue;
    if (grown[a]) add(out, e, x[a], bottom[a]);
    if (grown[b]) add(into, e, x[b], 2 * y[b] - bottom[b]);
  }
  return joinRoutes({
    edge: out.edge.concat(routes.edge, into.edge), x: out.x.concat(routes.x, into.x), y: out.y.concat(routes.y, into.y),
  }, from.length);
}
