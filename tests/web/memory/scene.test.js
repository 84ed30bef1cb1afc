import assert from "node:assert/strict";
import { test } from "node:test";

import { mostOf } from "../../../assets/web/memory/draw.js";
import { launchOf } from "../../../assets/web/memory/memory.js";
import { MemoryScene } from "../../../assets/web/memory/scene.js";

const NONE = 0xffffffff;

/** Two allocations of node 1 and 2 at the same addresses, and one that the graph is given. */
function scene(more = {}) {
  return new MemoryScene({
    header: { axis: "time", total: 1_000, strings: ["by the program"] },
    node_id: Uint32Array.of(1, 2, 3), node_start: Float64Array.of(0, 500, 200), node_end: Float64Array.of(100, 600, 300),
    use_node: Uint32Array.of(3, 1, 2, 3), use_place: Uint32Array.of(0, 0, 1, 2), use_order: Uint32Array.of(2, 0, 1, 2),
    place_allocation: Int32Array.of(0, 1, 2), allocation_bytes: Float64Array.of(64, 64, 4096),
    allocation_low: Uint32Array.of(0x100, 0x100, 0x2000), allocation_high: Uint32Array.of(0, 0, 0x7f),
    life_alloc: Uint32Array.of(1, 2), life_free: Uint32Array.of(3, NONE), life_start: Float64Array.of(0, 500),
    life_end: Float64Array.of(300, NaN), life_bytes: Float64Array.of(64, 64), life_offset: Float64Array.of(0, 32),
    life_allocation: Uint32Array.of(0, 1), life_alloc_latest: Float64Array.of(0, 500),
    life_free_latest: Float64Array.of(300, NaN), life_freed: Uint32Array.of(0, 0), range_bytes: Float64Array.of(96),
    step_time: Float64Array.of(0, 300, 500), step_bytes: Float64Array.of(64, 0, 80), pool_time: new Float64Array(0), ...more,
  });
}

test("bars are what lives here, then what nodes are given besides", () => {
  const found = scene();
  assert.deepEqual(found.bars.map(({ life, bytes }) => [life, bytes]), [[true, 64], [true, 64], [false, 4096]]);
  assert.deepEqual(found.bars.map(({ alloc, free }) => [alloc, free]), [[1, 3], [2, null], [undefined, undefined]]);
  assert.deepEqual(found.bars[0].nodes, [1, 3]);
  assert.deepEqual([found.bars[2].start, found.bars[2].end], [200, 300]);
});

test("bars at the same addresses share them", () => {
  const found = scene();
  assert.deepEqual(found.sharing(found.bars[0]), [found.bars[1]]);
  assert.deepEqual(found.sharing(found.bars[2]), []);
});

test("how much is allocated when, and at most", () => {
  const found = scene();
  assert.deepEqual([-1, 0, 299, 300, 999].map((ns) => found.bytesAt(ns)), [0, 64, 64, 0, 80]);
  assert.deepEqual(found.peak, { at: 2, time: 500, bytes: 80 });
});

test("spans are of the nodes that the scene has, by start", () => {
  const found = scene().spansOf([2, 99, 1]);
  assert.deepEqual([Array.from(found.start), Array.from(found.end)], [[0, 500], [100, 600]]);
});

test("addresses have 64 bits", () => {
  assert.equal(scene().addressOf(2), "0x7f00002000");
});

test("rows stand one under the other, the map takes what is left", () => {
  const found = scene();
  for (const height of [200, 400, 900]) {
    const { rows, bottom } = found.arrange(height);
    rows.forEach((row, n) => assert.ok(!n || row.y === rows[n - 1].y + rows[n - 1].h));
    assert.equal(bottom, rows[rows.length - 1].y + rows[rows.length - 1].h);
  }
  const [low, high] = [200, 900].map((height) => found.arrange(height).rows.find((row) => row.kind === "map")?.h);
  assert.deepEqual([low, high], [84, 280]);
});

test("over the greatest amount is room for its name", () => {
  const height = 60;
  const most = mostOf([{ bytes: 300 }, { bytes: 200 }], height);
  assert.ok(height * (1 - 300 / most) >= 17.9);
  assert.ok(mostOf([{ bytes: 0 }], height) > 0);
});

test("memory says whose times it has", () => {
  assert.equal(launchOf({ ordinal: 7 }), "launch #7");
  assert.equal(launchOf({ ordinal: null, median_of: 40 }), "median of 40 launches, one slice of the nodes after the other");
  assert.equal(launchOf({ ordinal: null }), "by the order of the graph: no times");
});
