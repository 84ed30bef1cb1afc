import assert from "node:assert/strict";
import { test } from "node:test";

import { placeGraph } from "../../../assets/web/layout/place/choice.js";
import { coverGraph } from "../../../assets/web/layout/place/cover.js";
import { bisectLeft, bisectRight, roundEven, sortedBy } from "../../../assets/web/layout/place/order.js";
import { countLanes, placeTime } from "../../../assets/web/layout/place/timed.js";

/** A fork of two ways that meet again, one of them longer. */
const FORK = { count: 5, from: Uint32Array.of(0, 0, 1, 3, 2), to: Uint32Array.of(1, 2, 3, 4, 4) };
const NONE = { node: new Uint32Array(0), start: new Float64Array(0), end: new Float64Array(0) };

test("halves are rounded to the even neighbour, as in Python", () => {
  assert.deepEqual([0.5, 1.5, 2.5, -0.5, 2.4, 2.6].map(roundEven), [0, 2, 2, 0, 2, 3]);
});

test("equal values stay in their order", () => {
  assert.deepEqual(Array.from(sortedBy([1, 0, 1, 0])), [1, 3, 0, 2]);
  assert.deepEqual(Array.from(sortedBy([0, 0, 1, 0], Uint32Array.of(3, 2, 1, 0))), [3, 1, 0, 2]);
});

test("equal values are between the two bisections", () => {
  assert.deepEqual([bisectLeft([1, 2, 2, 3], 2), bisectRight([1, 2, 2, 3], 2)], [1, 3]);
});

test("rows are longest paths, chains go on to the nearest end", () => {
  const { row, chain } = coverGraph(FORK);
  assert.deepEqual(Array.from(row), [0, 1, 1, 2, 3]);
  assert.deepEqual(Array.from(chain), [0, 0, 1, 0, 0]);
});

test("a circle is refused", () => {
  const circle = { count: 2, from: Uint32Array.of(0, 1), to: Uint32Array.of(1, 0) };
  assert.throws(() => coverGraph(circle), /cycle/);
});

for (const [layers, style] of /** @type {[boolean|null, string][]} */ ([[null, "structure"], [true, "structure"], [false, "lanes"]])) {
  test(`nodes do not overlap and edges lead down, layers: ${layers}`, () => {
    const place = placeGraph(FORK, coverGraph(FORK), layers);
    assert.equal(place.style, style);
    FORK.from.forEach((a, e) => assert.ok(place.y[a] < place.y[FORK.to[e]]));
    assert.ok(Math.abs(place.x[1] - place.x[2]) >= place.node_width);
  });
}

test("without edges nodes stand line by line", () => {
  const graph = { count: 3, from: new Uint32Array(0), to: new Uint32Array(0) };
  assert.equal(placeGraph(graph, coverGraph(graph), null).style, "table");
});

test("along time nodes that ran at once are in two lanes, one without a time where what it waits for ended", () => {
  const ran = { start: Float64Array.of(0, 10, 12, NaN, 30), end: Float64Array.of(10, 20, 18, NaN, 40), busy: new Float64Array(5), iterations: NONE };
  const place = placeTime(FORK, coverGraph(FORK), ran, 0);
  assert.equal(countLanes(place), 2);
  assert.notEqual(place.lane[1], place.lane[2]);
  assert.deepEqual([place.start[3], place.end[3]], [20, 20]);
});
