import assert from "node:assert/strict";
import { test } from "node:test";

import { missingOf, wordsOf } from "../../../assets/web/page/selection_note.js";

test("a note says how many nodes of how many the address holds", () => {
  assert.match(wordsOf(1200, 1300), /^The address has room for 1,200 nodes of 1,300 nodes selected: /);
  assert.match(wordsOf(1, 2), /room for 1 node of 2 nodes/);
});

test("a note says which names of an address lead to nothing", () => {
  assert.match(missingOf(["layer:layer 99"]), /nothing that is called “layer 99”/);
  assert.match(missingOf(["kernel:f(a:b)", "finding:9"]), /“f\(a:b\)” or “9”/);
});
