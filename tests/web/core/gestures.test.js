import assert from "node:assert/strict";
import { test } from "node:test";

import { listen } from "../../../assets/web/core/gestures.js";

/** What a view was told, as names and whole numbers. */
function told() {
  /** @type {(string|number|null)[][]} */
  const calls = [];
  /** @param {string} name */
  const note = (name) => (/** @type {any[]} */ ...values) => {
    calls.push([name, ...values.filter((value) => typeof value !== "object" || value === null)
      .map((value) => (value === null ? null : Math.round(value * 100) / 100))]);
  };
  const listener = {
    zoom: note("zoom"), pan: note("pan"), click: note("click"), double: note("double"), hover: note("hover"),
  };
  const canvas = Object.assign(new EventTarget(), {
    style: { cursor: "" }, setPointerCapture: () => {}, getBoundingClientRect: () => ({ left: 0, top: 0 }),
  });
  const end = listen(/** @type {any} */ (canvas), listener);
  /** @param {string} name @param {number} x @param {number} y @param {number} [pointerId] @param {string} [pointerType] */
  const send = (name, x, y, pointerId = 1, pointerType = "touch") =>
    canvas.dispatchEvent(Object.assign(new Event(name, { cancelable: true }), { clientX: x, clientY: y, pointerId, pointerType, button: 0 }));
  return { calls, send, end };
}

test("two fingers zoom around their middle, and move what is between them", () => {
  const { calls, send } = told();
  send("pointerdown", 100, 50, 1);
  send("pointerdown", 200, 50, 2);
  send("pointermove", 300, 50, 2);
  send("pointerup", 100, 50, 1);
  send("pointerup", 300, 50, 2);
  assert.deepEqual(calls, [["zoom", 200, 50, 2], ["pan", 50, 0]]);
});

test("a finger moves the view once it is no tap", () => {
  const { calls, send } = told();
  send("pointerdown", 10, 10);
  send("pointermove", 14, 10);
  assert.deepEqual(calls, []);
  send("pointermove", 34, 10);
  send("pointerup", 34, 10);
  assert.deepEqual(calls, [["hover", null, null], ["pan", 20, 0]]);
});

test("a finger that rests tells what is under it, selects nothing, and the next touch ends it", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { calls, send } = told();
  send("pointerdown", 10, 20);
  context.mock.timers.tick(1_000);
  send("pointerup", 10, 20);
  send("pointerleave", 10, 20);
  assert.deepEqual(calls.splice(0), [["hover", 10, 20]]);
  send("pointerdown", 40, 20);
  send("pointerup", 40, 20);
  context.mock.timers.tick(1_000);
  assert.deepEqual(calls, [["hover", null, null], ["click", 40, 20]]);
});

test("a finger that moves does not rest, nor does one of two", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { calls, send } = told();
  send("pointerdown", 10, 20);
  send("pointermove", 60, 20);
  context.mock.timers.tick(1_000);
  send("pointerup", 60, 20);
  send("pointerdown", 10, 20, 1);
  send("pointerdown", 60, 20, 2);
  context.mock.timers.tick(1_000);
  assert.deepEqual(calls.map(([name]) => name), ["hover", "pan"]);
});

test("a mouse that is held is a click, and leaves as before", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { calls, send } = told();
  send("pointerdown", 10, 20, 1, "mouse");
  context.mock.timers.tick(1_000);
  send("pointerup", 10, 20, 1, "mouse");
  send("pointerleave", 10, 20, 1, "mouse");
  assert.deepEqual(calls, [["click", 10, 20], ["hover", null, null]]);
});
