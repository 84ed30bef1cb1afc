import assert from "node:assert/strict";
import { test } from "node:test";

import { fitText, textWidth } from "../../../assets/web/core/canvas.js";

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
