/** The critical path through visible levels: after an open node on it comes that of its bodies. Python side: gviz.app.views.dag.visible_levels. */
import { listBodies } from "../place/nested.js";
/** @import { Edges } from "../place/cover.js" */
/** @import { Parent } from "../place/nested.js" */

/** @typedef {{first: number, parent: Parent, edges: Edges, path: number[]}} OnPath  a level: its first item, and its own path */

/** Items of the path, and the edges between them, among those of all levels. @param {OnPath[]} levels */
export function criticalArrays(levels) {
  const bodies = listBodies(levels.map((level) => level.parent));
  let base = 0;
  const begin = levels.map(({ edges }) => (base += edges.from.length) - edges.from.length);
  /** @type {number[]} */ const items = [];
  const used = [0];
  /** @param {number} number */
  const follow = (number) => {
    const { first, path } = levels[number];
    for (const item of path) {
      items.push(first + item);
      for (const body of bodies[number].get(item) ?? []) {
        used.push(body);
        follow(body);
      }
    }
  };
  follow(0);
  return {
    critical: Uint32Array.from(items),
    critical_edge: Uint32Array.from(used.flatMap((number) => edgesAlong(levels[number]).map((e) => begin[number] + e))),
  };
}

/** The first edge between neighbours on the path of a level, where there is one. @param {OnPath} level */
function edgesAlong({ edges: { count, from, to }, path }) {
  const place = new Int32Array(count).fill(-2); // two steps off for what is not on the path
  path.forEach((item, k) => (place[item] = k));
  const found = new Int32Array(path.length).fill(-1);
  for (let e = from.length - 1; e >= 0; e--) {
    const step = place[from[e]];
    if (step >= 0 && place[to[e]] === step + 1) found[step] = e;
  }
  return Array.from(found).filter((e) => e >= 0);
}

/** A level's path by items: what follows each other in one is one. @param {ArrayLike<number>} nodes @param {Uint32Array} itemOf */
export function pathOf(nodes, itemOf) {
  return Array.from(nodes, (node) => itemOf[node]).filter((item, k, all) => !k || item !== all[k - 1]);
}
