import assert from "node:assert/strict";
import { test } from "node:test";

import { next, placeOf } from "../../../assets/web/stores/folds.js";

/** Two folds, and one within the first. @type {import("../../../assets/web/stores/folds.js").Folds} */
const FOLDS = {
  sets: [[], ["a"], ["a", "a.1"], ["b"]],
  folds: { a: [1, null], "a.1": [2, "a"], b: [3, null] },
  together: false,
};

test("a set is found whatever the order of its folds", () => {
  assert.equal(placeOf(FOLDS, ["a.1", "a"]), 2);
  assert.equal(placeOf(FOLDS, ["a", "b"]), 0);
});

test("opening a fold leads to its set", () => {
  assert.equal(next(FOLDS, [], ["a"]), 1);
  assert.equal(next(FOLDS, ["a"], ["a", "a.1"]), 2);
  assert.equal(next(FOLDS, ["a"], ["a", "b"]), 3);
});

test("closing one leads to that around it", () => {
  assert.equal(next(FOLDS, ["a", "a.1"], ["a"]), 1);
  assert.equal(next(FOLDS, ["a"], []), 0);
  assert.equal(next(FOLDS, ["a"], ["a"]), 1);
});

test("what is no fold opens nothing", () => {
  assert.equal(next(FOLDS, ["a"], ["a", "zzz"]), 1);
});
