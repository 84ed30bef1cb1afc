/** The flow of a buffer from node to node: which of its users waits next for which other. */
/** @import { DagScene } from "./scene.js" */

/** @type {WeakMap<DagScene, {order: Int32Array, place: Int32Array}>} */
const kept = new WeakMap();

/**
 * Items so that each stands behind all it waits for; made once a scene.
 * @param {DagScene} scene
 */
function inOrder(scene) {
  const made = kept.get(scene);
  if (made) return made;
  const { outStart, edgesOut, to } = scene;
  const waits = new Int32Array(scene.count);
  for (let e = 0; e < to.length; e++) waits[to[e]] += 1;
  const order = new Int32Array(scene.count);
  let length = 0;
  for (let i = 0; i < scene.count; i++) if (!waits[i]) order[length++] = i;
  for (let at = 0; at < length; at++) {
    const i = order[at];
    for (let n = outStart[i]; n < outStart[i + 1]; n++) {
      const next = to[edgesOut[n]];
      if (!--waits[next]) order[length++] = next;
    }
  }
  const place = new Int32Array(scene.count);
  for (let at = 0; at < length; at++) place[order[at]] = at;
  kept.set(scene, { order, place });
  return { order, place };
}

/**
 * One list of two, without doubles; the very list where one is all there is.
 * @param {number[]|null} a @param {number[]|null} b
 */
function join(a, b) {
  if (!a || a === b) return b;
  if (!b) return a;
  if (a.length === 1 && b.length === 1) return a[0] === b[0] ? a : [a[0], b[0]];
  return Array.from(new Set([...a, ...b]));
}

/**
 * Pairs of items of which the second waits for the first, directly or not, with no other of them
 * in between. Items side by side are not joined: nothing shows which comes first.
 * @param {DagScene} scene @param {number[]} items
 * @returns {[number, number][]}
 */
export function links(scene, items) {
  if (items.length < 2 || !scene.edgeCount) return [];
  const { order, place } = inOrder(scene);
  const isUser = new Uint8Array(scene.count);
  let [first, last] = [scene.count, 0];
  for (const i of items) {
    isUser[i] = 1;
    first = Math.min(first, place[i]);
    last = Math.max(last, place[i]);
  }
  const { inStart, edgesIn, from } = scene;
  /** By item: the users that were there last on the ways to it. @type {number[][]} */
  const latest = new Array(scene.count);
  /** @type {Map<number, number[]>} */
  const before = new Map();
  /** @type {[number, number][]} */
  const found = [];
  for (let at = first; at <= last; at++) {
    const i = order[at];
    /** @type {number[]|null} */
    let reached = null;
    for (let n = inStart[i]; n < inStart[i + 1]; n++) reached = join(reached, latest[from[edgesIn[n]]]);
    if (!isUser[i]) {
      if (reached) latest[i] = reached;
      continue;
    }
    latest[i] = [i];
    const users = reached ?? [];
    before.set(i, users);
    for (const a of users) {
      const past = users.some((b) => b !== a && before.get(b)?.includes(a));
      if (!past) found.push([a, i]);
    }
  }
  return found;
}
