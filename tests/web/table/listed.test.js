import assert from "node:assert/strict";
import { test } from "node:test";

import { Listed } from "../../../assets/web/table/listed.js";

const NAMES = { keys: [[1, 2], [3], [4]], name: ["gemm", "Add", "add bias"], change_ns: [-10, 30, null], size_ns: [10, 30, null] };
const ALL = { search: "", only: null };

test("rows are sorted by a column, those without a value last", () => {
  const rows = new Listed(NAMES, ALL);
  assert.deepEqual(rows.arrange({ by: "size_ns", falling: true }), [1, 0, 2]);
  assert.deepEqual(rows.arrange({ by: "change_ns", falling: false }), [0, 1, 2]);
  assert.deepEqual(rows.arrange({ by: "unknown", falling: false }), [0, 1, 2]);
});

test("a search and a filter leave rows about some nodes", () => {
  const found = new Listed(NAMES, { search: "ADD", only: null });
  assert.deepEqual(found.arrange({ by: "name", falling: false }), [1, 2]);
  const only = new Listed(NAMES, { search: "", only: new Set([2, 4]) });
  assert.deepEqual(only.arrange({ by: "name", falling: true }), [0, 2]);
});

test("a row names its nodes", () => {
  assert.deepEqual(new Listed(NAMES, ALL).nodesOf(0), [1, 2]);
  const changed = new Listed({ key: [7, 7], what: ["grid", "block"] }, ALL);
  assert.deepEqual([changed.nodesOf(1), changed.row(1).what], [[7], "block"]);
});

test("a table without rows has none", () => {
  assert.deepEqual(new Listed({}, ALL).arrange({ by: "name", falling: true }), []);
});
