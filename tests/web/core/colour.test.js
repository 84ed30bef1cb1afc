import assert from "node:assert/strict";
import { test } from "node:test";

import * as canvas from "../../../assets/web/core/canvas.js";
import * as colour from "../../../assets/web/core/colour.js";

/** WCAG 2.2, success criteria 1.4.3 (text) and 1.4.11 (graphical objects), level AA. */
const [TEXT, SHAPE] = [4.5, 3];
const KINDS = [
  "KERNEL", "MEMCPY", "MEMSET", "HOST", "GRAPH", "EMPTY", "WAIT_EVENT", "EVENT_RECORD", "MEM_ALLOC",
  "MEM_FREE", "BATCH_MEM_OP", "CONDITIONAL", "FOLD", "OF TOMORROW",
];
/** @type {("light"|"dark")[]} */
const SCHEMES = ["light", "dark"];

/** Red, green and blue of a css colour, 0..255. @param {string} css */
function parse(css) {
  if (css.startsWith("#")) return [1, 3, 5].map((at) => parseInt(css.slice(at, at + 2), 16));
  return (css.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number);
}

/** A colour laid over another. @param {number[]} upper @param {number[]} lower @param {number} alpha */
const over = (upper, lower, alpha) => upper.map((v, n) => alpha * v + (1 - alpha) * lower[n]);

/** @param {number[]} rgb */
function luminance(rgb) {
  const [r, g, b] = rgb.map((byte) => byte / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** @param {number[]|string} a @param {number[]|string} b */
function contrast(a, b) {
  const [low, high] = [a, b].map((c) => luminance(typeof c === "string" ? parse(c) : c)).sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

test("contrast is that of WCAG", () => {
  assert.ok(Math.abs(contrast("#000000", "#ffffff") - 21) < 1e-9);
  // From "Understanding 1.4.3": the palest grey that passes on white.
  assert.ok(Math.abs(contrast("#767676", "#ffffff") - 4.54) < 0.01);
});

for (const name of SCHEMES) {
  const theme = canvas.theme(name);
  const ground = parse(theme.ground);

  test(`fills of the ${name} palette bear their text, faded too`, () => {
    /** @type {[string, string][]} */
    const fills = [colour.ramp(name), colour.changes(name)].flatMap(({ css, darkText }) =>
      css.map((fill, i) => /** @type {[string, string]} */ ([fill, darkText[i] ? theme.inkDark : theme.inkLight])));
    assert.equal(fills.length, 2 * colour.STEPS);
    for (const kind of KINDS) fills.push([colour.ofKind(kind, name), theme.inkDark]);
    for (let at = 0; at <= colour.CATEGORIES; at++) fills.push([colour.category(at, name), theme.inkDark]);
    for (const [fill, ink] of fills) {
      assert.ok(contrast(ink, fill) >= TEXT, fill);
      // Under a selection fills fade, and names are drawn over them in the page's ink.
      const faded = over(parse(fill), ground, 1 - canvas.VEIL);
      assert.ok(contrast(theme.ink, faded) >= TEXT, `${fill} faded`);
    }
  });

  test(`texts and shapes of the ${name} theme stand out from their ground`, () => {
    for (const ink of [theme.ink, theme.muted, theme.accent]) assert.ok(contrast(ink, ground) >= TEXT, ink);
    assert.ok(contrast(theme.muted, theme.untimed) >= TEXT);
    assert.ok(contrast(theme.inkDark, theme.host) >= TEXT);
    const { edge, upstream, downstream, outline, host, busy } = theme;
    for (const shape of [edge, upstream, downstream, outline, host, busy]) {
      assert.ok(contrast(shape, ground) >= SHAPE, shape);
    }
  });

  test(`lightness of the ${name} ramp runs one way`, () => {
    const light = colour.ramp(name).css.map((css) => luminance(parse(css)));
    const rising = name === "dark";
    assert.ok(light.every((l, n) => !n || (rising ? l >= light[n - 1] - 0.005 : l <= light[n - 1] + 0.005)));
  });
}

test("a value's step is where it lies between the ends of its scale", () => {
  const linear = { least: 0, most: 100, log: false };
  assert.deepEqual([0, 50, 100, 1_000, -5, NaN].map((v) => colour.stepOf(linear, v)), [0, 128, 255, 255, 0, 0]);
  const log = { least: 1, most: 10_000, log: true };
  assert.deepEqual([0.1, 1, 100, 10_000].map((v) => colour.stepOf(log, v)), [0, 0, 128, 255]);
  assert.equal(colour.stepOf({ least: 5, most: 5, log: true }, 5), colour.STEPS / 2);
  assert.equal(colour.stepOf({ least: 0, most: null, log: false }, 5), 0);
});

test("changes to both sides stand equally far from none", () => {
  const scale = { least: 1, most: 1_000, log: true };
  const none = colour.changeStepOf(scale, 0);
  assert.equal(none, 128);
  for (const size of [0.5, 1, 30, 1_000, 5_000]) {
    const [less, more] = [-size, size].map((value) => colour.changeStepOf(scale, value));
    assert.ok(less < none && none < more, `${size}`);
    assert.ok(Math.abs(none - less - (more - none)) <= 1, `${size}`);
  }
  assert.deepEqual([-5_000, 5_000].map((value) => colour.changeStepOf(scale, value)), [0, 255]);
});

test("a css colour is the word of a pixel", () => {
  assert.equal(colour.wordOf("#102030"), 0xff302010);
  assert.equal(colour.wordOf("rgb(16,32,48)"), 0xff302010);
});
