import assert from "node:assert/strict";
import { test } from "node:test";

import { wordsOf } from "../../../assets/web/core/announce.js";

test("a tooltip is one sentence", () => {
  assert.equal(wordsOf([["gemm"], ["kind", "KERNEL"], ["median", "3.00 µs"]]), "gemm, kind KERNEL, median 3.00 µs.");
});
