import assert from "node:assert/strict";
import { test } from "node:test";

import { trimmed } from "../../../assets/web/overlay/read/cell.js";

test("a cell is without white space around it, of any kind", () => {
  for (const cell of ["", " ", "a", "1.5", " a", "a\t", "\u00a0a b\u00a0", "é", "\u3000é"]) assert.equal(trimmed(cell), cell.trim(), JSON.stringify(cell));
});

test("nothing is taken off where there is nothing: pages of Dash have a slow trim", (t) => {
  const trim = t.mock.method(String.prototype, "trim");
  assert.equal(trimmed("1.5"), "1.5");
  assert.equal(trim.mock.callCount(), 0);
  assert.equal(trimmed(" 1.5"), "1.5");
  assert.equal(trim.mock.callCount(), 1);
});
