import assert from "node:assert/strict";
import { test } from "node:test";

import { links } from "../../../../assets/web/dag/scene/flow.js";
import { DagScene } from "../../../../assets/web/dag/scene/scene.js";
import { DIAMOND, dagPayload } from "../dag_payload.js";

test("users of a buffer are joined along the dependencies", () => {
  const scene = new DagScene(dagPayload(DIAMOND));
  assert.deepEqual(links(scene, [0, 3]), [[0, 3]]);
  assert.deepEqual(links(scene, [0, 1, 3]), [[0, 1], [1, 3]]);
});

test("users side by side are not joined", () => {
  const scene = new DagScene(dagPayload(DIAMOND));
  assert.deepEqual(links(scene, [1, 2]), []);
  assert.deepEqual(links(scene, [1, 2, 3]).sort(), [[1, 3], [2, 3]]);
  assert.deepEqual(links(scene, [0, 4]), []);
});

test("one user is joined to none", () => {
  assert.deepEqual(links(new DagScene(dagPayload(DIAMOND)), [3]), []);
});
