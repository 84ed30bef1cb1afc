import assert from "node:assert/strict";
import { test } from "node:test";

import { theme } from "../../../../assets/web/core/canvas.js";
import { draw, stages } from "../../../../assets/web/dag/draw/draw.js";
import { drawNames, regionsOf } from "../../../../assets/web/dag/draw/regions.js";
import { DagScene } from "../../../../assets/web/dag/scene/scene.js";
import { dagPayload } from "../dag_payload.js";

const SIZE = /** @type {any} */ ({ width: 600, height: 400, ratio: 1, buttons: 0 });
/** A pen that keeps what it writes, with letters of 58 to a size of 100. @param {string[]} texts @returns {any} */
const penOf = (texts) => new Proxy({ vector: true }, {
  get: (_, name) => {
    if (name === "vector") return true;
    if (name === "measureText") return (/** @type {string} */ text) => ({ width: 58 * text.length });
    return name === "fillText" ? (/** @type {string} */ text) => texts.push(text) : () => {};
  },
  set: () => true,
});

/** A field of nodes in rows of 20, each of a family. @param {(column: number, row: number) => number} familyOf @param {object} [more] */
function field(familyOf, more = {}) {
  const places = Array.from({ length: 400 }, (_, n) => [n % 20, Math.floor(n / 20)]);
  return new DagScene(dagPayload([], {
    count: 400, x: places.map(([column]) => 200 * column), y: places.map(([, row]) => 100 * row),
    header: { width: 4_000, height: 2_000, strings: ["GEMM f16", "add f32", "copy", "fill", "norm", "softmax"],
      labels: {}, family_slots: { 0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5 },
      overlays: { family: { label: "Kernel family", array: "family" }, median: { label: "Median", array: "median_ns", unit: "ns", scale: { least: 1, most: 2, log: false } } } },
    more: { family: Int32Array.from(places, ([column, row]) => familyOf(column, row)), median_ns: new Float32Array(400).fill(1_000), name: new Uint32Array(400), ...more },
  }));
}

/** @param {DagScene} scene @param {number} k @param {string} [colour] */
function styleOf(scene, k, colour = "family") {
  return /** @type {any} */ ({ transform: { k, kx: k, x: 0, y: 0 }, theme: theme("light"), overlay: scene.overlay(colour), pattern: {} });
}

/** @param {DagScene} scene @param {number} k @param {string} [colour] */
const regions = (scene, k, colour) => regionsOf(scene, Int32Array.from(scene.nodeId.keys()), styleOf(scene, k, colour), SIZE);

test("neighbours of one family are a region, over its nodes", () => {
  const [left, right, ...others] = regions(field((column) => Number(column >= 10)), 0.15);
  assert.deepEqual(others, []);
  assert.deepEqual([left.at, right.at, left.count + right.count], [0, 1, 400]);
  assert.ok(left.left <= left.x && left.x < right.x && right.x <= right.right);
});

test("the family that takes most time names a region, not that of most nodes", () => {
  const times = Float32Array.from({ length: 400 }, (_, n) => (n % 4 ? 100 : 10_000));
  assert.deepEqual(regions(field((column) => Number(column % 4 > 0), { median_ns: times }), 0.15).map(({ at }) => at), [0]);
});

test("where no family takes most a region says how many nodes it is", () => {
  const scene = field((column, row) => (column + row) % 6);
  const [{ at, count }] = regions(scene, 0.15);
  assert.deepEqual([at, count], [null, 384]);
  /** @type {string[]} */ const texts = [];
  const { regions: written } = draw(penOf(texts), scene, styleOf(scene, 0.15), { selected: [], hovered: -1, edge: -1, users: [], buffers: [] }, SIZE);
  assert.equal(written?.[0], "384 nodes, mixed");
  assert.ok(texts.includes("384 nodes, mixed"));
});

test("a region is of one phase, where there are phases", () => {
  const phase = Int32Array.from({ length: 400 }, (_, n) => (n % 20 < 10 ? 4 : 5));
  assert.deepEqual(regions(field(() => 0, { phase }), 0.15).map((one) => [one.at, one.phase]), [[0, "norm"], [0, "softmax"]]);
});

test("values are no names: families are then too", () => {
  assert.deepEqual(regions(field(() => 2), 0.15, "median").map(({ at }) => at), [0]);
});

test("regions have names only where nodes have none", () => {
  const scene = field(() => 0), marks = { selected: [], hovered: -1, edge: -1, users: [], buffers: [] };
  assert.deepEqual(draw(penOf([]), scene, styleOf(scene, 0.15), marks, SIZE).regions, ["GEMM f16"]);
  assert.deepEqual(draw(penOf([]), scene, styleOf(scene, 0.6), marks, SIZE).regions, []);
});

test("nodes that have changed are not covered by names", () => {
  const scene = field((column) => Number(column >= 10)), nodes = Int32Array.from(scene.nodeId.keys());
  const style = styleOf(scene, 0.15);
  const changed = { ...style, overlay: /** @type {any} */ ({ isRamp: true, isChange: true }) };
  assert.deepEqual([style, changed].map((one) => drawNames(penOf([]), scene, nodes, one, SIZE).length), [2, 0]);
});

test("names of regions are found before a first picture, and kept for it", () => {
  const scene = field((column) => (column < 10 ? 0 : 1)), style = styleOf(scene, 0.1);
  const parts = stages(penOf([]), scene, style, SIZE);
  const found = parts.map((part) => part()).at(-1);
  assert.deepEqual(found, regions(scene, 0.1));
  assert.equal(stages(penOf([]), scene, style, SIZE).at(-1)?.(), found);
  assert.deepEqual(stages(penOf([]), scene, styleOf(scene, 1), SIZE), [], "nodes that have names of their own");
});
