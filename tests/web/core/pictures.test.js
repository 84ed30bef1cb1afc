import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import * as canvas from "../../../assets/web/core/canvas.js";
import * as colour from "../../../assets/web/core/colour.js";
import * as nodes from "../../../assets/web/dag/draw/nodes.js";
import { make } from "../../../assets/web/dag/overlay/overlay.js";
import { DagScene } from "../../../assets/web/dag/scene/scene.js";
import { dagPayload } from "../dag/dag_payload.js";
/** @import { Pen, Scheme } from "../../../assets/web/core/canvas.js" */

/** What 'gviz export --format svg' is held against too. @type {Record<string, any>} */
const TABLE = JSON.parse(readFileSync(new URL("../../pictures.json", import.meta.url), "utf-8"));
/** @type {Scheme[]} */
const SCHEMES = ["light", "dark"];

/** "rgb(1,2,3)" as "#010203". @param {string} css */
function hex(css) {
  const bytes = css.match(/\d+/g) ?? [];
  return css.startsWith("#") ? css : `#${bytes.map((v) => Number(v).toString(16).padStart(2, "0")).join("")}`;
}

/** A pen with letters as wide as gviz.formats.svg takes them for; it keeps the boxes that it is to draw. */
function stubPen() {
  /** @type {{boxes: number[][], fills: string[], words: string[]}} */
  const drawn = { boxes: [], fills: [], words: [] };
  const pen = {
    vector: true, font: "", fillStyle: "", strokeStyle: "", lineWidth: 1,
    beginPath() {}, stroke() {},
    /** @param {string} text */
    about(text) { drawn.words.push(text); },
    /** @param {number[]} box */
    roundRect(...box) { drawn.boxes.push(box.slice(0, 4)); },
    fill() { drawn.fills.push(String(pen.fillStyle)); },
    /** @param {string} text */
    measureText: (text) => ({ width: 0.58 * 100 * Array.from(text).length }),
  };
  return { pen: /** @type {Pen} */ (/** @type {unknown} */ (pen)), drawn };
}

for (const scheme of SCHEMES) {
  test(`the ${scheme} theme has the table's colours`, () => {
    const theme = canvas.theme(scheme);
    for (const [name, css] of Object.entries(TABLE.inks[scheme])) {
      assert.equal(theme[/** @type {"ground"} */ (name)], css, name);
    }
  });
}

test("families have the table's colours", () => {
  assert.deepEqual(Array.from({ length: TABLE.families.length }, (_, n) => colour.ofFamily(n)), TABLE.families);
});

test("durations have the table's colours, and text that can be read on them", () => {
  for (const { theme, values, scale, fills, texts } of TABLE.durations) {
    const { css, darkText } = colour.ramp(theme);
    /** @param {number} ns */
    const step = (ns) => colour.stepOf(scale, ns);
    assert.deepEqual(values.map((/** @type {number} */ ns) => hex(css[step(ns)])), fills);
    assert.deepEqual(values.map((/** @type {number} */ ns) => (darkText[step(ns)] ? "black" : "white")), texts);
  }
});

test("names are cut as in the table", () => {
  for (const [text, room, size, shown] of TABLE.names) {
    assert.equal(canvas.fitText(stubPen().pen, text, size, room), shown, `${text} in ${room}`);
  }
});

test("times are written as in the table", () => {
  for (const [ns, words] of TABLE.words) {
    const more = { median_ns: Float32Array.of(ns ?? NaN), share: Float32Array.of(NaN) };
    assert.equal(nodes.spreadOf(new DagScene(dagPayload([], { count: 1, more })), 0), words);
  }
});

test("nodes are drawn where the table places them, in the colours of their durations", () => {
  const facts = { label: "Median", array: "median_ns", unit: "ns", missing: "not timed" };
  for (const { name, count, edges, x, y, node_width, node_height, boxes } of TABLE.graphs) {
    const header = { node_width, node_height, overlays: { duration: { ...facts, scale: { least: 1e3, most: 1e3 * count, log: false } } } };
    const payload = dagPayload(edges, { count, x, y, header });
    const { pen, drawn } = stubPen();
    const style = {
      transform: { k: 1, kx: 1, x: 0, y: 0 }, theme: canvas.theme("light"), overlay: make(payload, "duration"),
      pattern: /** @type {CanvasPattern} */ ({}),
    };
    const scene = new DagScene(payload);
    nodes.drawCards(pen, scene, Array.from({ length: count }, (_, n) => n), style);
    assert.equal(drawn.boxes.length, count, name);
    drawn.boxes.forEach((box, n) => box.forEach((v, at) => assert.ok(Math.abs(v - boxes[n][at]) < 0.01, `${name} ${n}`)));
    const { css } = colour.ramp("light");
    const last = css[colour.STEPS - 1];
    assert.equal(drawn.fills[count - 1], last);
    assert.match(drawn.words[0], /^node 0 · KERNEL · 1\.00 µs/);
  }
});
