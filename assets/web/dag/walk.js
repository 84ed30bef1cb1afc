/** Walks over the DAG: what a node waits for, what waits for it, and what lies between two. */
import { isAlong } from "./scene/scene.js";
/** @import { DagScene, TimeScene } from "./scene/scene.js" */

/**
 * The items at the other ends of an item's edges. An open node stands for all that is in it, and
 * what is in it has its edges too: it runs after all that the node waits for.
 * @param {DagScene} scene @param {number} i @param {boolean} forward
 */
function nextTo(scene, i, forward) {
  const found = [];
  for (let at = i; at >= 0; at = scene.bodies.around(at)) {
    for (const e of forward ? scene.edgesFrom(at) : scene.edgesTo(at)) {
      const next = forward ? scene.to[e] : scene.from[e];
      found.push(next);
      if (scene.bodies.isOpen(next)) found.push(...scene.bodies.inside(next));
    }
  }
  return found;
}

/**
 * Nodes that can be reached, those one starts from included.
 * @param {DagScene} scene @param {number[]} from @param {boolean} forward along the edges
 * @returns {Set<number>}
 */
export function reach(scene, from, forward) {
  const found = new Set(from);
  const open = Array.from(from);
  while (open.length) {
    for (const next of nextTo(scene, /** @type {number} */ (open.pop()), forward)) {
      if (found.has(next)) continue;
      found.add(next);
      open.push(next);
    }
  }
  return found;
}

/**
 * Nodes on any path between two nodes, in either direction; none without a path.
 * @param {DagScene} scene @param {number} a @param {number} b
 */
export function between(scene, a, b) {
  for (const [start, end] of [[a, b], [b, a]]) {
    const later = reach(scene, [start], true);
    if (!later.has(end)) continue;
    const earlier = reach(scene, [end], false);
    return Array.from(later).filter((i) => earlier.has(i));
  }
  return [];
}

/**
 * The box around nodes, in the plane.
 * @param {DagScene} scene @param {number[]} nodes
 */
export function boundsOf(scene, nodes) {
  const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const i of nodes) {
    const { left, right, top, bottom } = scene.boxOf(i);
    box.left = Math.min(box.left, left);
    box.right = Math.max(box.right, right);
    box.top = Math.min(box.top, top);
    box.bottom = Math.max(box.bottom, bottom);
  }
  return box;
}

/**
 * The dependent below, the dependency above, or the nearest node to a side in the row.
 * @param {DagScene} scene @param {number} i @param {string} way
 */
export function neighbour(scene, i, way) {
  if (isAlong(scene)) return neighbourInTime(scene, i, way);
  if (way === "down") return nearest(scene, i, after(scene, i));
  if (way === "up") return nearest(scene, i, before(scene, i));
  const sign = way === "left" ? -1 : 1;
  /** @type {number[]} */
  const row = [];
  const y = scene.y[i];
  scene.grid.visit(0, y - 1, scene.width, y + 1, (n) => {
    if (Math.abs(scene.y[n] - y) < 1 && sign * (scene.x[n] - scene.x[i]) > 1) row.push(n);
  });
  return nearest(scene, i, row);
}

/** @param {DagScene} scene @param {number} i @param {number[]} ends */
function nearest(scene, i, ends) {
  /** @param {number} n */
  const far = (n) => Math.abs(scene.x[n] - scene.x[i]) + Math.abs(scene.y[n] - scene.y[i]);
  return ends.length ? ends.reduce((a, b) => (far(b) < far(a) ? b : a)) : -1;
}

/**
 * Dependents; of an open node first what begins in it, and behind the last what follows it.
 * @param {DagScene} scene @param {number} i
 */
function after(scene, i) {
  const within = scene.bodies.isOpen(i) ? scene.bodies.inside(i) : [];
  const first = within.filter((n) => scene.bodies.around(n) === i && !scene.edgesTo(n).length);
  if (first.length) return first;
  let at = i;
  while (!scene.edgesFrom(at).length && scene.bodies.around(at) >= 0) at = scene.bodies.around(at);
  return Array.from(scene.edgesFrom(at), (e) => scene.to[e]);
}

/**
 * Dependencies; before what begins in an open node, that node.
 * @param {DagScene} scene @param {number} i
 */
function before(scene, i) {
  const edges = scene.edgesTo(i);
  const around = scene.bodies.around(i);
  return !edges.length && around >= 0 ? [around] : Array.from(edges, (e) => scene.from[e]);
}

/**
 * The dependent to the right, the dependency to the left, or the lane above or below.
 * @param {TimeScene} scene @param {number} i @param {string} way
 */
function neighbourInTime(scene, i, way) {
  if (way === "right") return nearest(scene, i, after(scene, i));
  if (way === "left") return nearest(scene, i, before(scene, i));
  const { bars } = scene;
  const own = bars.first[i];
  const { lanes } = scene.grid;
  const at = lanes.findIndex(({ middle }) => middle === bars.y[own]);
  const lane = lanes[at + (way === "down" ? 1 : -1)];
  if (!lane) return -1;
  /** @param {number} bar */
  const far = (bar) => Math.abs(bars.x[bar] - bars.x[own]);
  return bars.item[lane.items.reduce((a, b) => (far(b) < far(a) ? b : a))];
}
