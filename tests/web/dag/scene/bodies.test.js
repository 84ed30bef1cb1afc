import assert from "node:assert/strict";
import { test } from "node:test";

import { DagScene } from "../../../../assets/web/dag/scene/scene.js";
import { dagPayload } from "../dag_payload.js";

/** Node 1 is open and holds 2 and 3; 3 is closed and holds what is not shown. */
const NESTED = {
  parent_item: Uint32Array.of(1, 3), parent_words: Uint32Array.of(0, 0), parent_launches: Uint32Array.of(7, 7),
  parent_p5_ns: Float64Array.of(1, 1), parent_p95_ns: Float64Array.of(2, 2),
  body_parent: Uint32Array.of(0, 1), body_label: Uint32Array.of(0, 0), body_words: Uint32Array.of(0, 0),
  body_open: Int32Array.of(0, -1), body_left: Float32Array.of(-60), body_top: Float32Array.of(120),
  body_right: Float32Array.of(60), body_bottom: Float32Array.of(330), within: Int32Array.of(-1, -1, 1, 1, -1),
};

test("an open node is a frame around what is in it", () => {
  const { bodies } = new DagScene(dagPayload([], { more: NESTED }));
  assert.deepEqual(bodies.frames.map(({ item }) => item), [1]);
  assert.deepEqual(bodies.inside(1), [2, 3]);
  assert.deepEqual([0, 2, 3].map((i) => bodies.depthOf(i)), [0, 1, 1]);
  assert.deepEqual(bodies.closed([0, 1, 2]), [0, 2]);
  assert.deepEqual(bodies.opened([0, 1, 2]), [1]);
});

test("what is in a frame is drawn over it, what leads past it behind it", () => {
  const scene = new DagScene(dagPayload([[0, 4], [2, 3]], { more: NESTED }));
  const layers = scene.bodies.layers(scene, [0, 1]);
  assert.deepEqual(layers.map(({ frames, edges }) => [frames.length, edges]), [[0, [0]], [1, [1]]]);
});

test("the name of an open node is where it is picked", () => {
  const scene = new DagScene(dagPayload([], { y: [-200], more: { ...NESTED, half_height: Float32Array.of(20, 120, 20, 20, 20) } }));
  assert.equal(scene.pick(40, -10, 1, 1), 1);
});
