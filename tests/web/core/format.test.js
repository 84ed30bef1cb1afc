import assert from "node:assert/strict";
import { test } from "node:test";

import * as format from "../../../assets/web/core/format.js";

/** @param {(value: any) => string} shown @param {[any, string][]} cases */
function check(shown, cases) {
  for (const [value, text] of cases) assert.equal(shown(value), text, `${value}`);
}

test("times have three significant digits and pick their unit", () => {
  check(format.time, [
    [0, "0 ns"], [999, "999 ns"], [999.6, "1.00 µs"], [1_000, "1.00 µs"], [9_995, "10.0 µs"],
    [12_345, "12.3 µs"], [99_960, "100 µs"], [1_500_000, "1.50 ms"], [2e9, "2.00 s"], [NaN, "not timed"],
  ]);
});

test("changes have a sign", () => {
  check(format.signedTime, [[1_500, "+1.50 µs"], [-1_500, "−1.50 µs"], [0, "±0 ns"]]);
  check(format.signedRatio, [[1, "+100 %"], [-1, "−50 %"], [0, "±0.0 %"]]);
  check(format.signedMicroseconds, [[1_234, "+1.23"], [-0.4, "±0"], [-1_000_000, "−1000"], [null, ""]]);
  check(format.signedShare, [[0.1234, "+12.3\u202f%"], [-0.1234, "−12.3\u202f%"], [undefined, ""]]);
});

test("percentages are short", () => {
  check(format.percent, [[0, "0.0 %"], [0.0004, "< 0.1 %"], [0.0123, "1.2 %"], [0.5, "50 %"], [1, "100 %"]]);
});

test("sizes are binary", () => {
  check(format.bytes, [
    [0, "0 B"], [1_023, "1023 B"], [1_024, "1.00 KiB"], [10_240, "10.0 KiB"], [1 << 20, "1.00 MiB"],
    [3.5 * 2 ** 30, "3.50 GiB"], [2 ** 50, "1024 TiB"],
  ]);
});

test("cells of tables are numbers without a unit, and empty without a value", () => {
  check(format.microseconds, [[0, "0"], [1_234, "1.23"], [12_345_678, "12\u202f300"], [null, ""], [undefined, ""]]);
  check(format.share, [[0.5, "50.0\u202f%"], [null, ""]]);
});

test("one is not several", () => {
  assert.equal(format.counted(1, "node"), "1 node");
  assert.equal(format.counted(1_234, "node"), "1,234 nodes");
  assert.equal(format.counted(2, "address", "addresses"), "2 addresses");
});

test("an axis takes the greatest unit its steps reach", () => {
  assert.deepEqual([1, 999, 1_000, 5e6, 1e9].map((step) => format.axisUnit(step)[1]), ["ns", "µs", "µs", "ms", "s"]);
});
