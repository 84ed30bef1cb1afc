import assert from "node:assert/strict";
import { test } from "node:test";

import { DagScene, isAlong } from "../../../../assets/web/dag/scene/scene.js";
import { DIAMOND, dagPayload } from "../dag_payload.js";

test("edges are found from both ends", () => {
  const scene = new DagScene(dagPayload(DIAMOND));
  assert.deepEqual(Array.from(scene.edgesFrom(0)), [0, 1]);
  assert.deepEqual(Array.from(scene.edgesTo(3)), [2, 3]);
  assert.equal(scene.edgesFrom(4).length + scene.edgesTo(4).length, 0);
});

test("edges are as wide as their ends and their way", () => {
  const more = {
    route_offset: Uint32Array.of(0, 2), route_x: Float32Array.of(-300, -300), route_y: Float32Array.of(20, 80),
  };
  const scene = new DagScene(dagPayload([[0, 1]], { count: 2, more }));
  assert.deepEqual([scene.edgeLeft[0], scene.edgeRight[0], scene.edgeTop[0], scene.edgeBottom[0]], [-300, 0, 0, 100]);
});

test("what is made late is made once", () => {
  const scene = new DagScene(dagPayload(DIAMOND));
  assert.equal(scene.index, scene.index);
  assert.equal(scene.grid, scene.grid);
  assert.equal(scene.edgesOut, scene.edgesOut);
});

test("the node nearest to a point is picked, within reach", () => {
  const scene = new DagScene(dagPayload([], { x: [100, 180, 500, 500, 500] , y: [100, 100, 100, 200, 300] }));
  assert.equal(scene.pick(105, 100, 1, 1), 0);
  assert.equal(scene.pick(145, 100, 1, 1), 1);
  assert.equal(scene.pick(300, 100, 1, 1), -1);
  assert.equal(scene.pick(500, 222, 1, 5), -1);
  assert.equal(scene.pick(500, 222, 1, 25), 3);
});

test("nodes of a fold, and of what it hides, are found in it", () => {
  const more = {
    item_offset: Uint32Array.of(0, 1, 4), item_nodes: Uint32Array.of(10, 11, 12, 13),
    hidden_node: Uint32Array.of(77), hidden_item: Uint32Array.of(1),
    fold: Int32Array.of(-1, 0), fold_words: Uint32Array.of(0, 0),
  };
  const scene = new DagScene(dagPayload([], { count: 2, more }));
  assert.deepEqual(Array.from(scene.nodesOf(1)), [11, 12, 13]);
  assert.deepEqual([10, 13, 77, 78].map((id) => scene.index.get(id)), [0, 1, 1, undefined]);
  assert.ok(scene.isFold(1) && !scene.isFold(0));
  assert.equal(scene.openId(1), "node 0");
});

test("along time an item has a bar for each iteration", () => {
  const more = {
    half_width: Float32Array.of(5, 5), bar_offset: Uint32Array.of(0, 2, 3),
    bar_x: Float32Array.of(10, 30, 50), bar_y: Float32Array.of(0, 0, 40), bar_half_width: Float32Array.of(5, 5, 2),
  };
  const scene = new DagScene(dagPayload([], { count: 2, more, header: { layout: "time" } }));
  assert.ok(isAlong(scene));
  assert.deepEqual(scene.boxesOf(0).map(({ left, right }) => [left, right]), [[5, 15], [25, 35]]);
  assert.deepEqual(scene.grid.lanes.map(({ items }) => items), [[0, 1], [2]]);
  assert.equal(scene.pick(31, 2, 1, 1), 0);
  assert.equal(scene.pick(20, 2, 1, 1), -1);
});
