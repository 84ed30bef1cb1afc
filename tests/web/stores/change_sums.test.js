import assert from "node:assert/strict";
import { test } from "node:test";

import { sumsOf } from "../../../assets/web/stores/change_sums.js";

/** @param {object} more */
const row = (more) => /** @type {any} */ ({ what: "same", a_ns: null, b_ns: null, change_ns: null, ...more });

test("partners are summed by their change, what one side has by its whole time", () => {
  const rows = [
    row({ a_ns: 2_000, b_ns: 3_000, change_ns: 1_000 }), row({ what: "changed", a_ns: 2_000, b_ns: 1_500, change_ns: -500 }),
    row({ what: "removed", a_ns: 4_000, change_ns: -4_000 }), row({ what: "removed", a_ns: 1_000 }), row({ what: "added", b_ns: 700, change_ns: 700 }),
  ];
  const found = sumsOf(rows).map(([what, much]) => [what, much]);
  assert.deepEqual(found, [
    ["Change of both", "+500 ns, +12.5%"], ["Removed", "2 nodes, 5.00 µs"], ["Added", "1 node, 700 ns"],
  ]);
});

test("what was not timed is not nought", () => {
  const found = sumsOf([row({}), row({ what: "added" })]).map(([what, much]) => [what, much]);
  assert.deepEqual(found, [["Added", "1 node, not timed"]]);
});
