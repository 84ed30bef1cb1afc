import assert from "node:assert/strict";
import { test } from "node:test";

import { widthsOf } from "../../../assets/web/table/widths.js";

const NAME = { minWidth: 150, flex: 3 }, OTHER = { minWidth: 50, flex: 1 }, NUMBER = { width: 70 };

test("columns that flex share what the others leave", () => {
  assert.deepEqual(widthsOf([NAME, NUMBER, OTHER], 350), [210, 70, 70]);
  assert.deepEqual(widthsOf([NUMBER, NUMBER], 350), [70, 70]);
});

test("no column is cut at the edge: the last that fits ends there", () => {
  const widths = widthsOf([NAME, NUMBER, NUMBER, NUMBER, OTHER], 325);
  assert.deepEqual(widths, [185, 70, 70, 70, 50]);
  assert.equal(widths[0] + widths[1] + widths[2], 325);
});

test("a room that none fits into leaves each its least width", () => {
  assert.deepEqual(widthsOf([NAME, NUMBER], 100), [150, 70]);
});
