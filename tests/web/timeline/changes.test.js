import assert from "node:assert/strict";
import { test } from "node:test";

import { theme } from "../../../assets/web/core/canvas.js";
import * as colour from "../../../assets/web/core/colour.js";
import { TimelineScene } from "../../../assets/web/timeline/scene.js";
import { describe } from "../../../assets/web/timeline/tips.js";
import { side, timelinePayload } from "./timeline_payload.js";

const VERDICTS = ["slower", "faster", "noise", "added", "removed"];
const SCALE = { least: 10, most: 1_000, log: false };

/** Two launches whose nodes 1 to 3 are in both, 4 is new and 5 is gone. @param {object} [change] of the scale */
function compared(change = SCALE) {
  const named = (/** @type {string} */ letter) => ({ title: letter, letter, missing: "" });
  const payload = timelinePayload(
    [side("graph", [[0, 0, 500, 1], [0, 600, 100, 5]], { mode: "median" }), side("stream", [[0, 0, 900, 1], [0, 950, 50, 4]], { mode: "median" })],
    { sides: { graph: named("A"), stream: named("B") }, changes: { verdicts: VERDICTS, change, ratio: change } },
  );
  return new TimelineScene({
    ...payload, change_node: Uint32Array.of(1, 2, 3, 4, 5), change_ns: Float32Array.of(1_000, -1_000, 500, NaN, NaN),
    change_log2: Float32Array.of(1, -1, 0.1, NaN, NaN), change_verdict: Uint8Array.of(0, 1, 2, 3, 4),
  });
}

test("spans have the colour of their change, none within noise, one of their own where a side is alone", () => {
  const { changes } = compared();
  const [light, steps] = [theme("light"), colour.changes("light")];
  assert.ok(changes?.has("change") && changes.has("ratio") && !changes.has("family"));
  const fills = [1, 2, 3, 4, 5].map((node) => changes?.paint(node, "change", light).fill);
  assert.deepEqual(fills, [steps.css[255], steps.css[0], steps.css[128], light.accent, light.muted]);
});

test("without times there is no colour of changes", () => {
  assert.equal(compared({ least: null, most: null, log: false }).changes?.has("change"), false);
});

test("the tooltip of a span says what became of its node", () => {
  const scene = compared();
  /** @param {string} name @param {number} i */
  const row = (name, i) => describe(scene, /** @type {any} */ ({ side: scene.side(name), i })).find(([what]) => what === "change");
  assert.deepEqual(row("stream", 0), ["change", "+1.00 µs, +100% (slower)"]);
  assert.deepEqual(row("graph", 1), ["change", "removed"]);
});
