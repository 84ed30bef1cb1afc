import assert from "node:assert/strict";
import { test } from "node:test";

import { describe, rowsOf } from "../../../../assets/web/dag/draw/data_edges.js";

/** A node that gives memory to four others: in common is one address, one that a copy reads, two, and none. @type {any} */
const SCENE = {
  payload: {
    data_common: [3, 3, 3, 0], data_count: [1, 1, 2, 0], data_bytes: [NaN, 2048, NaN, NaN], data_place: [1, 0, 1, 0xffffffff],
    data_allocation: [0, 0, 0, -1], data_source: [1, 1, 1, 0], data_target: [64, 2, 1, 0],
    allocation_bytes: [2 ** 20], place_name: [-1, 0],
  },
  header: { strings: ["half hidden"] },
  uses: { whereOf: () => "0x700", aroundOf: () => "1.00 MiB at 0x700" },
  from: [0, 0, 0, 0], to: [1, 2, 3, 4], edgeType: [0, 0, 0, 0],
  nameOf: (/** @type {number} */ i) => `node ${i}`,
  edgesTo: () => [], edgesFrom: () => [0, 1, 2, 3],
};

test("an edge is labelled with the buffer that it carries, and one that carries none is not", () => {
  assert.deepEqual(rowsOf(SCENE, 0), [
    ["to node 1", "half hidden, in 1.00 MiB"], ["to node 2", "2.00 KiB"], ["to node 3", "2 addresses, in 1.00 MiB"],
  ]);
});

test("an edge says which buffer it carries, or that it only orders", () => {
  const [name, ...rows] = describe(SCENE, 0);
  assert.deepEqual(name, ["node 0 → node 1"]);
  assert.deepEqual(rows[1], ["buffer", "half hidden"]);
  assert.deepEqual(describe(SCENE, 3)[1], ["in common", "no recorded address"]);
});
