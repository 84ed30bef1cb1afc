import assert from "node:assert/strict";
import { test } from "node:test";

import { GUTTER, ticks, toX } from "../../../assets/web/core/axis.js";

test("ticks are round, in one unit, and far enough apart to be read", () => {
  const found = ticks(0, 1_000_000, 900);
  assert.deepEqual(found.map((tick) => tick.text), [
    "0", "100 µs", "200 µs", "300 µs", "400 µs", "500 µs", "600 µs", "700 µs", "800 µs", "900 µs", "1,000 µs",
  ]);
  assert.deepEqual(found.map((tick) => tick.ns), Array.from({ length: 11 }, (_, n) => n * 100_000));
});

test("steps are 1, 2 or 5 times a power of ten whatever the zoom", () => {
  for (let range = 10; range < 1e12; range *= 1.7) {
    const [first, second] = ticks(0, range, 1_000);
    const step = second.ns - first.ns;
    const lead = step / 10 ** Math.floor(Math.log10(step) + 1e-9);
    assert.ok([1, 2, 5].some((round) => Math.abs(lead - round) < 1e-6), `${range}: ${step}`);
    assert.ok((step / range) * 1_000 >= 83.99, `${range}: ${step}`);
  }
});

test("ticks begin in view and have as many digits as their step needs", () => {
  const found = ticks(12_345_100, 12_345_900, 900);
  assert.equal(found[0].text, "12,345.1 µs");
  assert.ok(found.every((tick) => /^12,345\.\d µs$/.test(tick.text)));
  assert.ok(found.every((tick) => tick.ns >= 12_345_100 && tick.ns <= 12_345_900));
});

test("a step is at least a nanosecond", () => {
  assert.deepEqual(ticks(0, 3, 4_000).map((tick) => tick.text), ["0", "1 ns", "2 ns", "3 ns"]);
});

test("a time stands right of the labels", () => {
  assert.equal(toX({ k: 0.5, x: -10 }, 100), GUTTER - 10 + 50);
});
