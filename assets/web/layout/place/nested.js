/** Graphs inside nodes of graphs: each open node becomes a frame around its bodies. Python side: gviz.layout.nested. */
import { makeRoom } from "./room.js";
/** @import { Edges } from "./cover.js" */
/** @import { Placement } from "./lanes.js" */

/**
 * @typedef {[number, number]|null} Parent  (level, node of it) that holds a level; null for the first
 * @typedef {{place: Placement, graph: Edges, parent: Parent}} Level  a graph or an open body, placed by itself
 * @typedef {{left: number, top: number, right: number, bottom: number}} Box
 * @typedef {{place: Placement, half_width: Float64Array, half_height: Float64Array, box: Box}} PlacedLevel  in the
 *   plane of all; of an open node its frame's size, the box that of a body with its name
 * @typedef {{left: number, top: number, width: number, height: number, head: number}} Body  in its frame; `head` is above its content
 */

/** Strip with the name of a frame, and of a body where a frame holds several. */
export const FRAME_HEAD = 30;
export const BODY_HEAD = 22;
/** Between a frame and its bodies, and between bodies. */
export const PAD = 10;
const BODY_WIDTH_LEAST = 200;
const EMPTY_HEIGHT = 40;
/** Width over height that bodies side by side aim for; so many in a row are tried. */
const ASPECT = 1.7;
const MOST_TRIED = 33;

/** For each level the bodies of its nodes, by node, in their order. @param {Parent[]} parents */
export function listBodies(parents) {
  /** @type {Map<number, number[]>[]} */ const found = parents.map(() => new Map());
  parents.forEach((parent, number) => {
    if (!parent) return;
    const [level, node] = parent;
    found[level].set(node, [...(found[level].get(node) ?? []), number]);
  });
  return found;
}

/** The levels in one plane, each body inside its parent node. @param {Level[]} levels @returns {PlacedLevel[]} */
export function nestLevels(levels) {
  const bodiesOf = listBodies(levels.map((level) => level.parent));
  const places = levels.map((level) => level.place);
  /** @type {Map<number, {width: number, height: number}>[]} */ const needs = levels.map(() => new Map());
  /** @type {Body[]} */ const bodies = [];
  for (let number = levels.length - 1; number >= 0; number--) {
    for (const [node, nested] of bodiesOf[number]) {
      const found = arrange(nested.map((at) => places[at]));
      nested.forEach((at, k) => (bodies[at] = found[k]));
      needs[number].set(node, {
        width: Math.max(...found.map((b) => b.left + b.width)) + PAD,
        height: Math.max(...found.map((b) => b.top + b.height)) + PAD,
      });
    }
    places[number] = makeRoom(levels[number].place, levels[number].graph, needs[number]);
  }
  return move(levels, places, needs, bodies);
}

/** Bodies in rows from left to right, so many side by side that they come near ASPECT. @param {Placement[]} places */
function arrange(places) {
  const head = places.length > 1 ? BODY_HEAD : 0;
  const sizes = places.map((p) => /** @type {[number, number]} */ (
    [Math.max(BODY_WIDTH_LEAST, p.width) + 2 * PAD, (p.height || EMPTY_HEIGHT) + head]));
  const widest = Math.max(...sizes.map(([width]) => width));
  /** @type {Set<number>} */ const rooms = new Set();
  for (let count = 1, sum = 0; count < MOST_TRIED; count++) {
    if (count <= sizes.length) sum += sizes[count - 1][0] + PAD;
    rooms.add(Math.max(widest, sum));
  }
  /** @type {Body[]} */ let best = [];
  let least = Infinity;
  for (const room of Array.from(rooms).sort((a, b) => a - b)) {
    const bodies = fill(sizes, room, head), far = miss(bodies);
    if (far < least) [best, least] = [bodies, far];
  }
  return best;
}

/** @param {[number, number][]} sizes @param {number} room @param {number} head @returns {Body[]} */
function fill(sizes, room, head) {
  let left = PAD, top = FRAME_HEAD, tallest = 0;
  return sizes.map(([width, height]) => {
    if (left > PAD && left + width > room + PAD) [left, top, tallest] = [PAD, top + tallest + PAD, 0];
    const body = { left, top, width, height, head };
    left += width + PAD;
    tallest = Math.max(tallest, height);
    return body;
  });
}

/** How far the frame around bodies is from ASPECT. @param {Body[]} bodies */
function miss(bodies) {
  const width = Math.max(...bodies.map((b) => b.left + b.width));
  return Math.abs(Math.log(width / Math.max(...bodies.map((b) => b.top + b.height)) / ASPECT));
}

/**
 * Move each level from its own plane to where its parent stands.
 * @param {Level[]} levels @param {Placement[]} places @param {Map<number, {width: number, height: number}>[]} needs @param {Body[]} bodies
 */
function move(levels, places, needs, bodies) {
  /** @type {PlacedLevel[]} */ const found = [];
  levels.forEach(({ parent }, number) => {
    const place = places[number];
    const halfWidth = place.x.map((_, n) => Math.max(place.node_width, needs[number].get(n)?.width ?? 0) / 2);
    const halfHeight = place.x.map((_, n) => Math.max(place.node_height, needs[number].get(n)?.height ?? 0) / 2);
    let box = { left: 0, top: 0, right: place.width, bottom: place.height }, left = 0, top = 0;
    if (parent) {
      const outer = found[parent[0]], node = parent[1], body = bodies[number];
      const x = outer.place.x[node] - outer.half_width[node] + body.left;
      const y = outer.place.y[node] - outer.half_height[node] + body.top;
      box = { left: x, top: y, right: x + body.width, bottom: y + body.height };
      [left, top] = [x + (body.width - place.width) / 2, y + body.head];
    }
    found.push({ place: shifted(place, left, top), half_width: halfWidth, half_height: halfHeight, box });
  });
  return found;
}

/** @param {Placement} place @param {number} left @param {number} top @returns {Placement} */
function shifted(place, left, top) {
  if (!left && !top) return place;
  return {
    ...place, x: place.x.map((x) => x + left), y: place.y.map((y) => y + top),
    route_x: place.route_x.map((x) => x + left), route_y: place.route_y.map((y) => y + top),
  };
}
