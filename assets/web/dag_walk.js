/** Walks over the DAG: what a node waits for, what waits for it, and what lies between two. */
(function () {
  "use strict";
  const gviz = (window.gviz = window.gviz || {});

  /**
   * Nodes that can be reached, those one starts from included.
   * @param {gviz.DagScene} scene @param {number[]} from @param {boolean} forward along the edges
   * @returns {Set<number>}
   */
  function reach(scene, from, forward) {
    const found = new Set(from);
    const open = Array.from(from);
    while (open.length) {
      const i = open.pop();
      for (const e of forward ? scene.edgesFrom(i) : scene.edgesTo(i)) {
        const next = forward ? scene.to[e] : scene.from[e];
        if (!found.has(next)) {
          found.add(next);
          open.push(next);
        }
      }
    }
    return found;
  }

  /** Nodes on any path between two nodes, in either direction; none without a path. */
  function between(scene, a, b) {
    for (const [start, end] of [[a, b], [b, a]]) {
      const after = reach(scene, [start], true);
      if (!after.has(end)) continue;
      const before = reach(scene, [end], false);
      return Array.from(after).filter((i) => before.has(i));
    }
    return [];
  }

  /** The box around nodes, in the plane. */
  function boundsOf(scene, nodes) {
    const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
    for (const i of nodes) {
      const w = scene.halfWidthOf(i);
      box.left = Math.min(box.left, scene.x[i] - w);
      box.right = Math.max(box.right, scene.x[i] + w);
      box.top = Math.min(box.top, scene.y[i] - scene.halfH);
      box.bottom = Math.max(box.bottom, scene.y[i] + scene.halfH);
    }
    return box;
  }

  gviz.dagWalk = { reach, between, boundsOf };
})();
