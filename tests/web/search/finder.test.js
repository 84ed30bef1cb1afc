import assert from "node:assert/strict";
import { test } from "node:test";

import { Group } from "../../../assets/web/core/bus.js";
import { Finder, wordsOf } from "../../../assets/web/search/finder.js";
import { Nodes } from "../../../assets/web/table/nodes.js";

// What is announced waits for a moment, and for an element.
globalThis.window = /** @type {any} */ (globalThis);
globalThis.document = /** @type {any} */ ({ getElementById: () => null, dispatchEvent: () => true });

const nodes = new Nodes({
  key: [10, 11, 12, 13], name: ["loop", "gemm a", "gemm b", "copy"], kind: ["WHILE", "KERNEL", "KERNEL", "MEMCPY"],
  launch_ns: [5000, 2000, 3000, null], share: [0.5, 0.2, 0.3, null], parent: [null, 10, 10, null],
});

test("hits are counted, with the time and share of a launch", () => {
  assert.equal(wordsOf(nodes, [11]), "1 hit, 2.00 µs, 20.0%");
  assert.equal(wordsOf(nodes, [11, 12]), "2 hits, 5.00 µs, 50.0%");
  // What is inside a hit counts with it; what has no time is counted only.
  assert.equal(wordsOf(nodes, [10, 11, 12, 13]), "4 hits, 5.00 µs, 50.0%");
  assert.equal(wordsOf(nodes, [13]), "1 hit");
  assert.equal(wordsOf(nodes, []), "0 hits");
});

test("hits keep their colour, together with a filter, until the search ends", () => {
  const group = new Group();
  const finder = new Finder(group);
  finder.search(nodes, "gemm");
  assert.deepEqual(group.kept, [11, 12]);
  group.filter([12, 13]);
  assert.deepEqual(group.kept, [12]);
  finder.search(nodes, "nothing of the kind");
  assert.deepEqual(group.kept, []);
  finder.search(nodes, "  ");
  assert.deepEqual(group.kept, [12, 13]);
  group.filter(null);
  assert.equal(group.kept, null);
  assert.equal(finder.note([12]), "");
});

test("one walks through hits in the order of the table, round and back", () => {
  const finder = new Finder(new Group());
  finder.search(nodes, "gemm");
  const order = [12, 11];
  assert.equal(finder.note(order), "2 hits, 5.00 µs, 50.0%");
  assert.deepEqual([1, 1, 1].map((by) => finder.step(order, by)), [12, 11, 12]);
  assert.equal(finder.note(order), "1 of 2 hits, 5.00 µs, 50.0%");
  assert.equal(finder.step(order, -1), 11);
  finder.search(nodes, "copy");
  assert.equal(finder.step([13], -1), 13);
  assert.equal(finder.step([], 1), null);
});
