import assert from "node:assert/strict";
import { test } from "node:test";

import { wordsOf } from "../../../assets/web/page/selection_note.js";

test("a note says how many nodes of how many the address holds", () => {
  assert.match(wordsOf(1200, 1300), /^The address has room for 1,200 nodes of 1,300 nodes selected: /);
  assert.match(wordsOf(1, 2), /room for 1 node of 2 nodes/);
});
