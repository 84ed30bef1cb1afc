import assert from "node:assert/strict";
import { test } from "node:test";

import { joinLayers } from "../../../assets/web/table/layers.js";

test("layers one after the other are a range, others a number of them", () => {
  assert.equal(joinLayers(["layer 2", "layer 0", "layer 1", "layer 0"]), "layer 0..2");
  assert.equal(joinLayers(["layer 10", "layer 9"]), "layer 9..10");
  assert.equal(joinLayers(["layer 4", "layer 0"]), "2 × layer");
  assert.equal(joinLayers(["layer 7"]), "layer 7");
});

test("what is inferred of any is marked once", () => {
  assert.equal(joinLayers(["Block 0", "Block 1 (inferred)"]), "Block 0..1 (inferred)");
});

test("nodes of which one is in no layer are none", () => {
  assert.equal(joinLayers(["layer 0", null]), "");
  assert.equal(joinLayers([undefined]), "");
  assert.equal(joinLayers([]), "");
});
