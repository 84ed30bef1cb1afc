import assert from "node:assert/strict";
import { test } from "node:test";

import { joinTypes, readTree, visible } from "../../../assets/web/layout/fold/tree.js";

/** Two blocks of two nodes, a node behind them; the last fold is the repeat without its first block. */
const TREE = readTree(
  Uint32Array.of(0, 1, 2, 3, 4), Uint32Array.of(0, 0, 2, 2), Uint32Array.of(4, 2, 2, 2),
  Int32Array.of(-1, 0, 0, -1), Int32Array.of(-1, -1, -1, 0), ["all", "one", "two", "rest"],
);
const CHAIN = { count: 5, from: Uint32Array.of(0, 1, 2, 3), to: Uint32Array.of(1, 2, 3, 4) };

/** What items are: nodes by number, folds by id. @param {string[]} open */
function shown(open) {
  const { node, fold } = visible(TREE, CHAIN, new Set(open));
  return Array.from(node, (n, i) => (n < 0 ? TREE.ids[fold[i]] : n));
}

test("a closed fold is one item, an open one what is in it", () => {
  assert.deepEqual(shown([]), ["all", 4]);
  assert.deepEqual(shown(["all"]), ["one", "two", 4]);
  assert.deepEqual(shown(["all", "two"]), ["one", 2, 3, 4]);
});

test("what is in a closed fold, and what there is not, changes nothing", () => {
  assert.deepEqual(shown(["two", "other"]), ["all", 4]);
});

test("of a repeat the first block is open, and what is left opens, one block alone at once", () => {
  assert.deepEqual(shown(["first"]), [0, 1, "rest", 4]);
  assert.deepEqual(shown(["first", "rest"]), [0, 1, 2, 3, 4]);
});

test("edges between the same two items are one, of the smallest type", () => {
  const graph = { count: 5, from: Uint32Array.of(0, 1, 2), to: Uint32Array.of(4, 4, 3) };
  const seen = visible(TREE, graph, new Set());
  assert.deepEqual(Array.from(seen.edges.from), [0]);
  assert.deepEqual(Array.from(seen.edges.to), [1]);
  assert.deepEqual(Array.from(seen.group), [0, 0, -1]);
  assert.deepEqual(Array.from(joinTypes(Uint8Array.of(1, 0, 0), seen)), [0]);
});
