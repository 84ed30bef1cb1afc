import assert from "node:assert/strict";
import { test } from "node:test";

import { fitFold, fitLine, fitWords, formsOf } from "../../../../assets/web/dag/draw/fold_title.js";

/** @param {number} letters @returns {(text: string) => boolean} */
const within = (letters) => (text) => text.length <= letters;

test("layers lose the mark, then the beginning of their class, and never a part of a number", () => {
  const title = "TransformerEncoderLayer 0..23 (inferred)";
  assert.deepEqual(formsOf(title), [
    title, "TransformerEncoderLayer 0..23", "EncoderLayer 0..23", "Layer 0..23", "0..23",
  ]);
  assert.equal(fitFold(title, within(12)), "Layer 0..23");
  assert.equal(fitFold(title, within(4)), "");
});

test("repeats of a node lose the last words of its name, and keep their number to the end", () => {
  const title = "3 × GEMM f16 nnt 64x8 4x1";
  assert.equal(fitFold(title, within(12)), "3 × GEMM f16");
  assert.equal(fitFold(title, within(11)), "3 × GEMM");
  assert.equal(fitFold(title, within(7)), "3×GEMM");
  assert.equal(fitFold(title, within(4)), "3×");
  assert.equal(fitFold("24 × 15 nodes", within(8)), "24 × 15");
});

test("a kernel loses the last words of its name, never the middle", () => {
  assert.equal(fitWords("layer norm f16", within(12)), "layer norm");
  assert.equal(fitWords("layer norm f16", within(7)), "layer");
  assert.equal(fitWords("layer norm f16", within(4)), "");
});

test("of several kernels in a row the first are named, and that there are more", () => {
  assert.equal(fitFold("reduce sum f32, add f32, copy strided", within(16)), "reduce sum f32…");
  assert.equal(fitFold("reduce sum f32, add f32, copy strided", within(6)), "reduce");
});

test("of a repeat in a range the range is kept, then its last words, then the number", () => {
  const title = "SGD.step: 288 × add f32";
  assert.deepEqual(formsOf(title), [title, "SGD.step", "step", "288×"]);
});

test("every form has only whole numbers of the title", () => {
  /** @param {string} text @returns {string[]} */
  const numbersOf = (text) => text.match(/[\d,.x]+/g) ?? [];
  for (const title of ["layer 0..15", "DecoderLayer 15..0 (inferred)", "1,024 × add f32", "attention: 3 × GEMM f16 64x8"]) {
    const numbers = numbersOf(title);
    for (const form of formsOf(title)) {
      for (const found of numbersOf(form)) assert.ok(numbers.includes(found), `${found} of ${form}`);
    }
  }
});

test("a line loses its parts from the front, and then those at the end", () => {
  const long = "24 × 15 nodes · 178 µs to 180 µs each · 4.29 ms · 28.2%", line = "4.29 ms · 28.2%";
  assert.equal(fitLine(long, line, within(60)), long);
  assert.equal(fitLine(long, line, within(40)), "178 µs to 180 µs each · 4.29 ms · 28.2%");
  assert.equal(fitLine(long, line, within(20)), line);
  assert.equal(fitLine(long, line, within(8)), "4.29 ms");
  assert.equal(fitLine(long, line, within(3)), "");
});
