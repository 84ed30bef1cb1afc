import assert from "node:assert/strict";
import { test } from "node:test";

import { DagScene } from "../../../assets/web/dag/scene/scene.js";
import { between, boundsOf, neighbour, reach } from "../../../assets/web/dag/walk.js";
import { DIAMOND, dagPayload } from "./dag_payload.js";

const scene = new DagScene(dagPayload(DIAMOND, { x: [100, 0, 200, 100, 500], y: [0, 100, 100, 200, 0] }));
/** @param {Iterable<number>} items */
const sorted = (items) => Array.from(items).sort((a, b) => a - b);

test("what waits for a node, and what it waits for", () => {
  assert.deepEqual(sorted(reach(scene, [1], true)), [1, 3]);
  assert.deepEqual(sorted(reach(scene, [1], false)), [0, 1]);
  assert.deepEqual(sorted(reach(scene, [0], true)), [0, 1, 2, 3]);
});

test("what lies between two nodes, in either order", () => {
  assert.deepEqual(sorted(between(scene, 0, 3)), [0, 1, 2, 3]);
  assert.deepEqual(sorted(between(scene, 3, 1)), [1, 3]);
  assert.deepEqual(between(scene, 1, 2), []);
});

test("arrows follow dependencies, and lead along a row", () => {
  assert.equal(neighbour(scene, 0, "down"), 1);
  assert.equal(neighbour(scene, 3, "up"), 1);
  assert.equal(neighbour(scene, 1, "right"), 2);
  assert.equal(neighbour(scene, 2, "left"), 1);
  assert.equal(neighbour(scene, 1, "left"), -1);
  assert.equal(neighbour(scene, 3, "down"), -1);
});

test("bounds hold whole nodes", () => {
  assert.deepEqual(boundsOf(scene, [1, 2]), { left: -50, right: 250, top: 80, bottom: 120 });
});
