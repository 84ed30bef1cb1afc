import assert from "node:assert/strict";
import { test } from "node:test";

import { inTwo } from "../../../assets/web/core/dom.js";

test("the end of a long name stays, by which siblings differ", () => {
  assert.deepEqual(inTwo("decode_step_h200"), ["decode_st", "ep_h200"]);
  assert.deepEqual(inTwo("decode_step_h200_fused"), ["decode_step_h20", "0_fused"]);
  assert.deepEqual(inTwo("token_step_1"), ["token_step_1", ""]);
});
