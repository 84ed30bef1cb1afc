import assert from "node:assert/strict";
import { test } from "node:test";

import { idOf } from "../../../assets/web/timeline/hits.js";
import { TimelineScene } from "../../../assets/web/timeline/scene.js";
import { describe } from "../../../assets/web/timeline/tips.js";
import { side, timelinePayload } from "./timeline_payload.js";

const BARS = /** @type {import("./timeline_payload.js").Bar[]} */ ([[0, 0, 1_500, 7], [0, 2_000, 500, 8]]);
const scene = new TimelineScene(timelinePayload([
  side("graph", BARS, { idle_ns: 500, idle_fraction: 0.2 }),
  side("stream", BARS, {}, { called_in_name: Uint32Array.of(1, 0) }),
], { strings: ["gemm", "step › layer 3 › attention › matmul"] }));

/** @param {import("../../../assets/web/timeline/walk.js").Hit} hit */
const said = (hit) => Object.fromEntries(describe(scene, hit).slice(1));

test("a span tells its time, and that of the same work on the other side", () => {
  const found = said({ side: scene.present("graph"), i: 0 });
  assert.equal(found.duration, "1.50 µs");
  assert.equal(found["as stream work"], "1.50 µs");
});

test("of nested ranges the last two are told", () => {
  assert.equal(said({ side: scene.present("stream"), i: 0 })["called in"], "… › attention › matmul");
});

test("a gap tells what is before and behind it", () => {
  const rows = describe(scene, { side: scene.present("graph"), gap: [1_500, 2_000] });
  assert.deepEqual(rows, [
    ["GPU idle"], ["for", "500 ns"], ["from", "1.50 µs"], ["after", "gemm"], ["until", "gemm"],
    ["all gaps", "500 ns, 20.0% from first start to last end"],
  ]);
});

test("spans that share a pixel are told together", () => {
  const payload = timelinePayload([side("graph", BARS, {}, { merged: Uint32Array.of(5, 1), slowest_ns: Float64Array.of(900, 500) })]);
  const merged = new TimelineScene(payload);
  const rows = describe(merged, { side: merged.present("graph"), i: 0 });
  assert.deepEqual(rows[0], ["5 spans closer than a pixel"]);
  assert.deepEqual(Object.fromEntries(rows.slice(1))["its duration"], "900 ns");
});

test("a thing is of a node, or of none", () => {
  const graph = scene.present("graph");
  assert.equal(idOf({ side: graph, i: 1 }), 8);
  assert.equal(idOf({ side: graph, gap: [0, 1] }), null);
  assert.equal(idOf({ side: graph, wait: { start: 0, end: 1, node: 7, for: 0 } }), 7);
  assert.equal(idOf({ side: graph, call: { start: 0, duration: 1, item: 0, name: -1 } }), 7);
  assert.equal(idOf({ side: graph, call: { start: 0, duration: 1, item: -1, name: 0 } }), null);
  assert.equal(idOf(null), null);
});
