import assert from "node:assert/strict";
import { test } from "node:test";

import { theme } from "../../../assets/web/core/canvas.js";
import { ofFamily } from "../../../assets/web/core/colour.js";
import { barsOf } from "../../../assets/web/timeline/lanes/bars.js";
import { Lanes } from "../../../assets/web/timeline/lanes/lanes.js";
import { TimelineScene } from "../../../assets/web/timeline/scene.js";
import { side, timelinePayload } from "./timeline_payload.js";

/** Three spans in one pixel, of families 0, 1 and 0, and one of its own, of family 1. */
const SPANS = /** @type {[number, number, number, number][]} */ ([[0, 0, 30, 10], [0, 30, 10, 11], [0, 40, 20, 12], [0, 500, 400, 13]]);
const style = (/** @type {string} */ colour, k = 0.01) => ({ transform: { k, x: 0 }, theme: theme("light"), colour });

function scene() {
  return new TimelineScene(timelinePayload([side("graph", SPANS, {}, { family: Uint8Array.of(0, 1, 0, 1) })]));
}

test("spans that share a pixel are a bar of their colours, each as high as its time", () => {
  const made = scene();
  const [graph] = made.sides;
  const [mixed, own] = barsOf(made, graph, graph.lanes[0].items, style("family"), 500);
  assert.deepEqual(mixed.parts, [[ofFamily(0), 50 / 60], [ofFamily(1), 10 / 60]]);
  assert.deepEqual([own.item, own.w, own.parts], [3, 4, null]);
});

test("spans coloured by time that share a pixel have the colour of the slowest", () => {
  const made = scene();
  const [graph] = made.sides;
  const [mixed] = barsOf(made, graph, graph.lanes[0].items, style("duration"), 500);
  assert.equal(mixed.item, 0);
  assert.deepEqual(mixed.parts, [[mixed.paint.fill, 1]]);
});

test("spans that share a pixel have the few colours of what is laid on them", () => {
  const made = scene();
  const [graph] = made.sides;
  const laid = { laid: { of: (/** @type {number} */ node) => node }, paint: () => ({ fill: "fine", ink: "" }), sharedFill: (/** @type {number} */ node) => `shade ${node >> 1}` };
  const [mixed, own] = barsOf(made, graph, graph.lanes[0].items, /** @type {any} */ ({ ...style("laid"), laid }), 500);
  assert.deepEqual(mixed.parts?.map(([fill]) => fill), ["shade 5", "shade 6"]);
  assert.equal(own.paint.fill, "fine");
});

test("spans of nodes that are not wanted are left out", () => {
  const made = scene();
  const [graph] = made.sides;
  const bars = barsOf(made, graph, graph.lanes[0].items, style("family"), 500, new Set([11]));
  assert.deepEqual(bars.map(({ item }) => item), [1]);
});

test("spans are looked through again for other times, and not for another selection", () => {
  const made = scene();
  const [graph] = made.sides;
  let reads = 0;
  const { start } = graph;
  Object.defineProperty(graph, "start", { get: () => (reads++, start) });
  const view = /** @type {any} */ ({ scene: made, detail: { sideOfLane: () => null, coversTime: () => true, range: () => null } });
  const lanes = new Lanes(view);
  const pen = /** @type {any} */ (new Proxy({}, { get: () => () => ({ width: 0 }), set: () => true }));
  const row = /** @type {any} */ ({ kind: "lane", lane: 0, y: 0, h: 8 });
  const size = { width: 500, height: 100, ratio: 1, buttons: 0 };
  /** Spans read in a frame. @param {boolean} dim @param {number} k */
  const frame = (dim, k) => {
    const before = reads;
    lanes.begin();
    lanes.drawLane(pen, graph, row, style("family", k), size, dim);
    return reads - before;
  };
  assert.ok(frame(false, 0.01) > 0);
  assert.equal(frame(true, 0.01), 0);
  assert.ok(frame(true, 0.02) > 0);
  assert.ok(frame(true, 0.01) > 0, "of times that are no longer shown nothing is kept");
});

test("twelve selected nodes have no rings, which would paint the lanes over", () => {
  const many = Array.from({ length: 12 }, (_, n) => n);
  const made = new TimelineScene(timelinePayload([side("graph", many.map((n) => [0, 10 * n, 10, n]))]));
  const laneRows = /** @type {any} */ ({ graph: [{ kind: "lane", side: "graph", lane: 0, y: 0, h: 20 }] });
  let strokes = 0;
  const pen = /** @type {any} */ (new Proxy({ stroke: () => (strokes += 1) }, {
    get: (own, name) => (name === "stroke" ? own.stroke : () => ({ width: 0 })), set: () => true,
  }));
  /** Strokes of a frame. @param {number[]} shown */
  const drawn = (shown) => {
    strokes = 0;
    const frame = { group: { shown, hovered: null }, size: { width: 500, height: 100, ratio: 1, buttons: 0 } };
    const detail = { sideWith: (/** @type {unknown} */ one) => one, best: (/** @type {unknown} */ one) => one };
    const own = () => style("family", 1);
    new Lanes(/** @type {any} */ ({ scene: made, laneRows, detail, frame, styleOf: own })).drawMarks(pen, own());
    return strokes;
  };
  assert.ok(drawn(many.slice(0, 11)) >= 11);
  assert.equal(drawn(many), 0);
});

test("what a first picture needs is made in parts, and kept for it", () => {
  const made = scene(), [graph] = made.sides;
  const rows = [{ kind: "head", y: 0, h: 10, side: "graph" }, { kind: "lane", y: 20, h: 10, side: "graph", lane: 0 }, { kind: "busy", y: 40, h: 9, side: "graph" },
    { kind: "lane", y: 900, h: 10, side: "graph", lane: 0 }];
  const lanes = new Lanes(/** @type {any} */ ({ scene: made, rows, detail: { best: (/** @type {object} */ one) => one } }));
  const size = /** @type {any} */ ({ width: 500, height: 100, ratio: 1 }), look = style("family");
  lanes.begin();
  const parts = Array.from(lanes.stages(graph, look, size));
  assert.equal(parts.length, 3, "gaps, the lane on screen and how busy the GPU is");
  const found = parts.map((part) => /** @type {() => any} */ (part)());
  lanes.begin();
  const again = Array.from(lanes.stages(graph, look, size), (part) => /** @type {() => any} */ (part)());
  assert.equal(again[1], found[1]);
  assert.equal(again[2].level, found[2].level);
  lanes.begin();
  assert.notEqual(lanes.barsOf(graph, /** @type {any} */ (rows[1]), style("family", 0.02), size, null), found[1]);
});
