import assert from "node:assert/strict";
import { test } from "node:test";

import { heightOf, tipTop } from "../../../assets/web/breakdown/rows.js";

test("opened rows fill the room there is, and stay high enough to be read", () => {
  assert.equal(heightOf(660, 4), 165);
  assert.equal(heightOf(659, 4) * 4, 656);
  assert.equal(heightOf(90, 5), 30);
});

test("a tip stands under its row, and of the last of opened rows within the page", () => {
  assert.equal(tipTop(2, 22, Infinity), 70);
  assert.equal(tipTop(0, 165, 560), 169);
  assert.equal(tipTop(3, 165, 560), 560);
});
