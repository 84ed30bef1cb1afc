import assert from "node:assert/strict";
import { test } from "node:test";

import { theme } from "../../../../assets/web/core/canvas.js";
import * as colour from "../../../../assets/web/core/colour.js";
import { inOrderOf } from "../../../../assets/web/dag/overlay/order.js";
import { make } from "../../../../assets/web/dag/overlay/overlay.js";
import { dagPayload } from "../dag_payload.js";

const DURATION = {
  label: "Median", array: "median_ns", unit: "ns", missing: "not timed", scale: { least: 1, most: 5_000, log: false },
};

test("values run along a ramp, what is not known is hatched", () => {
  const more = { median_ns: Float32Array.of(0, 1_000, 5_000, NaN, 2_500) };
  const found = make(dagPayload([], { more, header: { overlays: { duration: DURATION } } }), "duration");
  assert.ok(found.isRamp && !found.isChange && found.unknown);
  assert.deepEqual(Array.from(found.step), [0, 51, 255, 0, 128]);
  assert.equal(found.paint(3, theme("light")), null);
  assert.equal(found.describe(3), "not timed");
  assert.equal(found.describe(2), "5.00 µs");
});

test("no slack is what stands out", () => {
  const facts = { ...DURATION, label: "Slack", array: "slack_ns" };
  const more = { slack_ns: Float32Array.of(0, 5_000, 0, 0, 0) };
  const found = make(dagPayload([], { more, header: { overlays: { slack: facts } } }), "slack");
  assert.deepEqual(Array.from(found.step.slice(0, 2)), [255, 0]);
});

test("categories have colours by how many nodes they have, the rarer ones one together", () => {
  const count = 40;
  const keys = Int32Array.from({ length: count }, (_, n) => (n < 20 ? 3 : n < 22 ? -1 : n));
  const names = Array.from({ length: count }, (_, n) => `name ${n}`);
  const header = { overlays: { kernel: { label: "Kernel", array: "kernel" } } };
  const found = make(dagPayload([], { count, names, more: { kernel: keys }, header }), "kernel");
  assert.ok(!found.isRamp);
  assert.deepEqual(found.categories[0], { key: 3, count: 20, text: "name 3" });
  const last = found.css(39, theme("light"));
  assert.equal(found.css(10, theme("light")), last);
  assert.notEqual(found.css(9, theme("light")), last);
  assert.equal(found.describe(20), "none");
  assert.equal(found.describe(0), "name 3");
});

test("families have the colours of their places, in the order of these", () => {
  const names = ["add", "GEMM", "rare", "rarer"];
  const header = {
    overlays: { family: { label: "Kernel family", array: "family" } },
    family_slots: { 0: 5, 1: 0, 2: colour.REST, 3: colour.REST },
  };
  const more = { family: Int32Array.of(0, 0, 1, 3, 2) };
  const found = make(dagPayload([], { names, more, header }), "family");
  assert.ok(!found.isRamp && !found.isChange);
  assert.deepEqual(found.categories.map(({ text }) => text), ["GEMM", "add", "rare", "rarer"]);
  assert.deepEqual([0, 2, 3, 4].map((i) => found.paint(i, theme("dark"))?.fill), [5, 0, 17, 17].map(colour.ofFamily));
  assert.deepEqual([0, 1, 2, 3].map((at) => found.isRest(at)), [false, false, true, true]);
  const words = found.wordsOf(theme("light"));
  assert.equal(words[found.step[0]], colour.wordOf(colour.ofFamily(5)));
});

test("an overlay that a graph has not is that of kinds", () => {
  const found = make(dagPayload([]), "occupancy");
  assert.equal(found.name, "kind");
  assert.equal(found.describe(0), "KERNEL");
});

test("changes within noise have the colour of none, what is added that of the ground", () => {
  const verdicts = ["slower", "faster", "noise", "added", "untimed"];
  const facts = { label: "Change", array: "change_ns", unit: "ns", signed: true, missing: "not timed in both", scale: { least: 10, most: 1_000, log: true } };
  const change = { verdicts, added: 1, gone: 0, untested: null };
  const more = { change_ns: Float32Array.of(1_000, -1_000, 500, NaN, NaN), verdict: Uint8Array.of(0, 1, 2, 3, 4) };
  const found = make(dagPayload([], { more, header: { overlays: { change: facts }, change } }), "change");
  assert.ok(found.isChange);
  assert.deepEqual(Array.from(found.step), [255, 0, 128, 128, 128]);
  assert.deepEqual([0, 1, 2, 3].map((i) => found.arrow(i)), ["▲", "▼", "", ""]);
  assert.equal(found.paint(3, theme("dark"))?.fill, theme("dark").ground);
  assert.equal(found.line(2), "≈");
  assert.equal(found.line(0), "▲ +1.00 µs");
  assert.equal(found.missing, "not timed in both");
  assert.match(found.sentence(), /from A to B: −1\.00 µs to \+1\.00 µs, on a logarithmic scale\./);
});

test("neighbours in the order of colours share one", () => {
  const order = inOrderOf(Uint8Array.of(3, 1, 3, 0, 1));
  assert.deepEqual(Array.from(order), [3, 1, 4, 0, 2]);
});
