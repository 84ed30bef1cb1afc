import assert from "node:assert/strict";
import { test } from "node:test";

import { theme } from "../../../../assets/web/core/canvas.js";
import { draw } from "../../../../assets/web/dag/draw/legend.js";
import { Ramp } from "../../../../assets/web/dag/overlay/overlay.js";

const BUTTONS = 100;
/** A pen that draws nothing, with letters of 58 to a size of 100. @type {any} */
const PEN = new Proxy({}, {
  get: (_, name) => (name === "measureText" ? (/** @type {string} */ text) => ({ width: 58 * text.length }) : () => {}),
  set: () => true,
});

test("of two graphs the legend of values ends before the buttons", () => {
  const scale = { least: -4, most: 4, log: false, from: -4 };
  const write = (/** @type {number} */ value) => `${value.toFixed(2)} mJ`;
  const facts = { label: "energy, B − A", array: "", unit: "laid", missing: "no value", write, scale };
  const overlay = new Ramp("overlay:change:energy", facts, Float32Array.of(1, NaN));
  const style = /** @type {any} */ ({ theme: theme("light"), overlay, pattern: {}, transform: { k: 1 } });
  for (const width of [560, 630, 900]) {
    const box = draw(PEN, style, /** @type {any} */ ({ width, height: 200, buttons: BUTTONS }), { verdicts: [], untested: null, added: 0, gone: 48 });
    assert.equal(draw(PEN, style, /** @type {any} */ ({ width, height: 150, buttons: BUTTONS }), undefined), null, "over a low view");
    assert.ok(box && box.x + box.w <= width - BUTTONS, `${width}: ${box?.x} + ${box?.w}`);
  }
});

test("of one graph the legend of values ends before the buttons of a narrow view", () => {
  const scale = { least: 900, most: 64_400, log: true, from: 900 };
  const facts = { label: "95th percentile of duration", array: "", unit: "ns", missing: "not timed", scale };
  const overlay = new Ramp("p95", facts, Float32Array.of(900, 64_400, NaN));
  const style = /** @type {any} */ ({ theme: theme("light"), overlay, pattern: {}, transform: { k: 1 } });
  for (const [width, buttons] of [[484, 138], [620, 138], [900, 138]]) {
    const box = draw(PEN, style, /** @type {any} */ ({ width, height: 200, buttons }));
    assert.ok(box && box.x + box.w <= width - buttons, `${width}: ${box?.x} + ${box?.w}`);
  }
});
