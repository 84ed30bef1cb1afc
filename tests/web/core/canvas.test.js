import assert from "node:assert/strict";
import { test } from "node:test";

import { fitText, scheduler, textWidth } from "../../../assets/web/core/canvas.js";

/** A pen whose letters are all as wide as half their height. @returns {any} */
const pen = () => ({ font: "", measureText: (/** @type {string} */ text) => ({ width: 50 * Array.from(text).length }) });

test("widths grow with the font", () => {
  assert.equal(textWidth(pen(), "abcd", 10), 20);
  assert.equal(textWidth(pen(), "abcd", 20), 40);
});

test("a text that fits stays as it is", () => {
  assert.equal(fitText(pen(), "gemm_kernel", 10, 55), "gemm_kernel");
});

test("the word kernel goes first, then the middle", () => {
  assert.equal(fitText(pen(), "gemm_kernel", 10, 30), "gemm");
  assert.equal(fitText(pen(), "abcdefghijklmnop", 10, 50), "abc…lmnop");
});

test("four letters are the least", () => {
  assert.equal(fitText(pen(), "abcdefghijklmnop", 10, 24), "");
});

test("a cut text always fits, and halves no character", () => {
  const text = "核心😀".repeat(10);
  for (let room = 20; room < 200; room++) {
    const cut = fitText(pen(), text, 10, room);
    assert.ok(textWidth(pen(), cut, 10) <= room, `${room}`);
    assert.doesNotThrow(() => encodeURIComponent(cut), `${room}`);
  }
});

test("a view that takes long has a frame for itself, others share one", () => {
  /** @type {((frame: number) => void)[]} */ let waiting = [];
  let [now, frames] = [0, 0];
  const { requestAnimationFrame, cancelAnimationFrame, performance } = globalThis;
  globalThis.requestAnimationFrame = (run) => waiting.push(run);
  globalThis.cancelAnimationFrame = () => {};
  globalThis.performance = /** @type {any} */ ({ now: () => now });
  /** @type {string[]} */ const drawn = [];
  /** Views drawn in the next frame. */
  const frame = () => {
    const due = waiting;
    [waiting, frames] = [[], frames + 1];
    for (const run of due) run(16 * frames);
    return drawn.splice(0);
  };
  /** @param {string} name @param {number} ms */
  const view = (name, ms) => scheduler(() => {
    drawn.push(name);
    now += ms;
  });
  try {
    const [quick, long, last] = [view("quick", 2), view("long", 50), view("last", 2)];
    for (const schedule of [quick, long, last, last]) schedule();
    assert.deepEqual(frame(), ["quick", "long"]);
    assert.deepEqual(frame(), ["last"]);
    assert.deepEqual(frame(), []);
  } finally {
    Object.assign(globalThis, { requestAnimationFrame, cancelAnimationFrame, performance });
  }
});
