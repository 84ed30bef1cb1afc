import assert from "node:assert/strict";
import { test } from "node:test";

import { Opener } from "../../../assets/web/dag/open.js";

test("what is folded again is what was folded before", () => {
  const props = { fold: "ranges" };
  const frame = { props, notify: (/** @type {{fold: string}} */ change) => Object.assign(props, change) };
  const opener = new Opener(/** @type {any} */ ({ frame }));
  const found = [1, 2, 3].map(() => {
    opener.toggleFolds();
    return props.fold;
  });
  assert.deepEqual(found, ["none", "ranges", "none"]);
});

test("repeats are folded where nothing was", () => {
  const props = { fold: "none" };
  const frame = { props, notify: (/** @type {{fold: string}} */ change) => Object.assign(props, change) };
  new Opener(/** @type {any} */ ({ frame })).toggleFolds();
  assert.equal(props.fold, "repeats");
});
