import assert from "node:assert/strict";
import { test } from "node:test";

import { theme } from "../../../assets/web/core/canvas.js";
import * as colour from "../../../assets/web/core/colour.js";
import { lay } from "../../../assets/web/dag/overlay/laid.js";
import { LaidColours } from "../../../assets/web/overlay/colours.js";
/** @import { Laid } from "../../../assets/web/core/frame.js" */

/** @param {Record<number, number|string>} values of nodes @returns {Laid} */
function column(values) {
  const isNumber = Object.values(values).every((value) => typeof value === "number");
  return {
    id: "overlay:a.csv:x", label: "x", isNumber, places: new Map([["hot", 0], ["cold", 1]]), of: (node) => values[node] ?? null, over: () => null, write: (value) => `${value} W`,
    shade: (nodes) => (isNumber ? nodes.reduce((sum, node) => sum + Number(values[node] ?? 0), 0) : "several"),
  };
}

test("a scale has what is above zero, in ratios where that spreads; below zero it begins at the least", () => {
  assert.deepEqual(colour.scaleOf([0, 2, 10, NaN]), { least: 2, most: 10, log: false });
  assert.deepEqual(colour.scaleOf([1, 20]), { least: 1, most: 20, log: true });
  assert.deepEqual(colour.scaleOf([0, NaN]), { least: 0, most: null, log: false });
  const signed = colour.scaleOf([-5, 5]);
  assert.deepEqual([-5, 0, 5, -9].map((value) => colour.stepOf(signed, value)), [0, 128, 255, 0]);
  assert.equal(colour.stepOf(colour.scaleOf([-5, -5]), -5), 128);
});

test("spans have the colour of their node's value, texts a colour each", () => {
  const numbers = new LaidColours(column({}), [1, 10, null]);
  assert.equal(numbers.paint(null, theme("light")), null);
  assert.equal(numbers.paint(10, theme("light"))?.fill, colour.ramp("light").css[255]);
  const texts = new LaidColours(column({ 1: "cold" }), ["cold", "hot", "hot"]);
  assert.deepEqual(["cold", "hot"].map((text) => texts.paint(text, theme("dark"))?.fill), [colour.category(1, "dark"), colour.category(0, "dark")]);
});

test("items of the graph have the value of their nodes together, in its unit", () => {
  const ramp = lay(column({ 1: 4, 2: 6, 3: -2 }), 3, new Map([[1, 0], [2, 0], [3, 1], [9, 2]]), () => []);
  assert.ok(ramp.isRamp);
  assert.deepEqual([0, 1, 2].map((i) => ramp.describe(i)), ["10 W", "-2 W", "no value"]);
  assert.equal(ramp.lowest, "-2 W");
  const texts = lay(column({ 1: "hot", 2: "cold", 3: "hot", 4: "cold" }), 3, new Map([[2, 0], [9, 1], [3, 2], [4, 2]]), () => []);
  assert.deepEqual([0, 1, 2].map((i) => texts.describe(i)), ["cold", "none", "several"]);
  // As in the timeline, though no item is "hot".
  assert.equal(texts.paint(0, theme("light"))?.fill, colour.category(1, "light"));
});

test("numbers that share a pixel have few colours, the ends and no change their own", () => {
  const [light, values] = [theme("light"), Array.from({ length: 1000 }, (_, n) => n)];
  const scale = new LaidColours(column({}), values).scale;
  const fills = new Set(values.map((value) => scale.sharedFill(value, light)));
  assert.ok(fills.size <= 17, `${fills.size}`);
  assert.deepEqual([0, 999].map((value) => scale.sharedFill(value, light)), [0, 999].map((value) => scale.paint(value, light).fill));
  const changes = new LaidColours({ ...column({}), diverges: true }, [-5, 5]);
  assert.deepEqual([-5, 0, 5].map((value) => changes.sharedFill(value, light)), [-5, 0, 5].map((value) => changes.paint(value, light)?.fill));
  assert.equal(changes.sharedFill(null, light), null);
});
