import assert from "node:assert/strict";
import { test } from "node:test";

import { Blocks, step } from "../../../assets/web/breakdown/blocks.js";

/**
 * A launch of 100 ns: "a" of 60 with "x" of 40 and "y" of 20, "b" of 30 with "x"; 10 idle.
 * @param {object} [changed]
 */
const payload = (changed = {}) => ({
  header: { strip: ["phase", "family"], launch_ns: 100, idle_ns: 10, strings: ["a", "b", "x", "y", ""] },
  strip_node: Uint32Array.of(7, 9, 2, 4, 5),
  strip_row: Uint8Array.of(0, 0, 1, 1, 1),
  strip_label: Uint32Array.of(0, 1, 2, 3, 4),
  strip_parent: Uint32Array.of(0, 0, 0, 0, 1),
  strip_first: Uint32Array.of(0, 3, 0, 2, 3),
  strip_end: Uint32Array.of(3, 5, 2, 3, 5),
  strip_executions: Uint32Array.of(3, 4, 2, 1, 4),
  strip_total_ns: Float64Array.of(60, 50, 40, 20, 50),
  strip_cover_ns: Float64Array.of(60, 40, 40, 20, 40),
  strip_width_ns: Float64Array.of(60, 30, 40, 20, 30),
  strip_slot: Uint8Array.of(255, 255, 0, 5, 6),
  ...changed,
});
const blocks = () => new Blocks(payload(), "strip");

test("blocks stand beside each other, in the blocks they are in", () => {
  const found = blocks();
  assert.deepEqual(Array.from(found.startNs), [0, 60, 0, 40, 60]);
  assert.deepEqual(Array.from(found.parent), [-1, -1, 0, 0, 1]);
  assert.deepEqual(found.pathOf(3), [0, 3]);
  assert.equal(found.at(1, 2), 4);
  assert.equal(found.shareOf(0), 0.6);
});

test("a block has the nodes of what is in it, several blocks all of theirs", () => {
  const found = blocks();
  assert.deepEqual(found.nodesOf(0), [7, 9, 2]);
  assert.deepEqual(found.nodesOf(3), [2]);
  assert.deepEqual(found.nodesOf(3, 5), [2, 4, 5]);
});

test("a block without a label is the rest of the one above", () => {
  assert.equal(blocks().labelOf(4), "rest of b");
});

test("what ran at the same time as others has more node time than part of the launch", () => {
  assert.deepEqual(blocks().describe(0), [["Phase", "a"], ["Part of the median launch", "60 ns, 60.0%"], ["Nodes", "3"]]);
  assert.deepEqual(blocks().describe(1), [
    ["Phase", "b"], ["Part of the median launch", "30 ns, 30.0%"], ["Node time", "50 ns"], ["Running", "40 ns"],
    ["Nodes", "2, 4 executions"],
  ]);
});

test("blocks can be as wide as a measure of their nodes; what has none of it is not there", () => {
  /** @type {Record<number, number>} */
  const energy = { 7: 2, 9: 1, 5: 5 };
  const measure = { id: "overlay:a.csv:energy", label: "energy", partOf: (/** @type {number} */ node) => energy[node] ?? null, write: (/** @type {number} */ value) => `${value} mJ` };
  const found = new Blocks(payload(), "strip", measure);
  assert.deepEqual(found.pieces(null, 0).map(({ first, start, width }) => [first, start, width]),
    [[0, 0, 0.375], [1, 0.375, 0.625], [2, 0, 0.375], [4, 0.375, 0.625]]);
  assert.deepEqual(found.describe(1), [["Phase", "b"], ["energy", "5 mJ, 62.5%"], ["Node time", "50 ns"], ["Nodes", "2, 4 executions"]]);
  assert.equal(found.idleNs, 0);
});

test("pieces leave the room that is idle", () => {
  const pieces = blocks().pieces(null, 0);
  assert.deepEqual(pieces.map(({ row, first, start, width }) => [row, first, start, width]), [
    [0, 0, 0, 0.6], [0, 1, 0.6, 0.3], [1, 2, 0, 0.4], [1, 3, 0.4, 0.2], [1, 4, 0.6, 0.3],
  ]);
});

test("narrow neighbours are one piece", () => {
  const pieces = blocks().pieces(null, 0.35);
  // "b" is narrow too, but alone in its row.
  assert.deepEqual(pieces.map(({ row, first, end }) => [row, first, end]), [[0, 0, 1], [0, 1, 2], [1, 2, 3], [1, 3, 5]]);
  assert.equal(pieces[3].start, 0.4);
  assert.ok(Math.abs(pieces[3].width - 0.5) < 1e-9);
  assert.deepEqual(blocks().describe(3, 5)[0], ["Kernel family", "2 narrow ones"]);
});

test("a block that takes the whole width is drawn with what is in it and around it", () => {
  const inside = blocks().pieces(0, 0);
  assert.deepEqual(inside.map(({ first, start, width }) => [first, start, width]), [[0, 0, 1], [2, 0, 2 / 3], [3, 2 / 3, 1 / 3]]);
  const leaf = blocks().pieces(3, 0);
  assert.deepEqual(leaf.map(({ first, start, width }) => [first, start, width]), [[0, 0, 1], [3, 0, 1]]);
});

test("keys lead along a row, up to what is around and down to the first inside", () => {
  const pieces = blocks().pieces(null, 0);
  /** @param {number} at @param {string} key */
  const go = (at, key) => step(pieces, at, key);
  assert.deepEqual([go(0, "ArrowRight"), go(1, "ArrowLeft"), go(2, "End"), go(4, "Home")], [1, 0, 4, 2]);
  assert.deepEqual([go(0, "ArrowDown"), go(1, "ArrowDown"), go(3, "ArrowUp"), go(4, "ArrowUp")], [2, 4, 0, 1]);
  assert.deepEqual([go(1, "ArrowRight"), go(2, "ArrowLeft"), go(0, "ArrowUp"), go(4, "ArrowDown"), go(0, "q")], [-1, -1, -1, -1, -1]);
});

test("a launch without node times has no blocks", () => {
  const none = new Blocks({ header: { strip: [], strings: [] } }, "strip");
  assert.deepEqual([none.count, none.pieces(null, 0)], [0, []]);
});
