import assert from "node:assert/strict";
import { test } from "node:test";

import { Grid } from "../../../../assets/web/dag/scene/grid.js";
import { Rows } from "../../../../assets/web/dag/scene/rows.js";

/** Numbers between 0 and 1, the same every time. @param {number} seed */
function* numbers(seed) {
  for (let n = seed; ; n = (n * 1_103_515_245 + 12_345) % 2 ** 31) yield n / 2 ** 31;
}

/** @param {Grid|Rows} places @param {[number, number, number, number]} box */
function visited(places, box) {
  /** @type {number[]} */
  const found = [];
  places.visit(...box, (i) => found.push(i));
  assert.equal(new Set(found).size, found.length, "each once");
  return found.sort((a, b) => a - b);
}

test("a grid visits every node in a rectangle", () => {
  const random = numbers(1);
  const [x, y] = [0, 0].map(() => Float32Array.from({ length: 500 }, () => 1_000 * /** @type {number} */ (random.next().value)));
  const grid = new Grid(x, y, 1_000, 1_000);
  for (const box of /** @type {[number, number, number, number][]} */ ([
    [0, 0, 1_000, 1_000], [100, 200, 300, 250], [990, 990, 2_000, 2_000], [-500, 400, 10, 600],
  ])) {
    const [left, top, right, bottom] = box;
    const found = new Set(visited(grid, box));
    x.forEach((_, i) => {
      if (x[i] >= left && x[i] <= right && y[i] >= top && y[i] <= bottom) assert.ok(found.has(i), `${box}: ${i}`);
    });
  }
  assert.equal(visited(grid, [0, 0, 1_000, 1_000]).length, 500);
});

test("rows visit exactly the intervals that touch a rectangle", () => {
  // Two lanes of intervals that do not overlap.
  const x = Float32Array.of(5, 25, 45, 10, 60);
  const half = Float32Array.of(5, 5, 5, 8, 2);
  const y = Float32Array.of(0, 0, 0, 50, 50);
  const rows = new Rows(x, half, y, 20);
  assert.deepEqual(rows.lanes.map(({ middle }) => middle), [0, 50]);
  assert.deepEqual(visited(rows, [0, -10, 100, 10]), [0, 1, 2]);
  assert.deepEqual(visited(rows, [11, -10, 19, 60]), [3]);
  assert.deepEqual(visited(rows, [10, 0, 20, 5]), [0, 1]);
  assert.deepEqual(visited(rows, [0, 11, 100, 39]), []);
});

test("nothing is in an empty plane", () => {
  const none = new Float32Array(0);
  assert.deepEqual(visited(new Grid(none, none, 0, 0), [0, 0, 10, 10]), []);
  assert.deepEqual(visited(new Rows(none, none, none, 10), [0, 0, 10, 10]), []);
});
