import assert from "node:assert/strict";
import { test } from "node:test";

import { shareBar } from "../../../assets/web/table/table.js";
import { all, standIn } from "../dom.js";

standIn();

test("a bar is as long as its part of the greatest, and there is none without a value", () => {
  /** @param {number|null} value */
  const widths = (value) => all(shareBar(value, 0.5, "#123")).filter(({ tag }) => tag === "i").map(({ style }) => style.width);
  assert.deepEqual(widths(0.25), ["50%"]);
  assert.deepEqual(widths(0), ["0%"]);
  assert.deepEqual(widths(null), []);
});
