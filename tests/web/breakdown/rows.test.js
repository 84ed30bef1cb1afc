import assert from "node:assert/strict";
import { test } from "node:test";

import { Blocks } from "../../../assets/web/breakdown/blocks.js";
import { heightOf, textOf, tipTop } from "../../../assets/web/breakdown/rows.js";

test("what is left of the block above is called the rest, as each block has its name and time", () => {
  const blocks = new Blocks({
    header: { strip: ["phase", "layer"], launch_ns: 100, idle_ns: 0, strings: ["decode", "layer 3", ""] },
    strip_node: Uint32Array.of(1, 2), strip_row: Uint8Array.of(0, 1, 1), strip_label: Uint32Array.of(0, 1, 2),
    strip_parent: Uint32Array.of(0, 0, 0), strip_first: Uint32Array.of(0, 0, 1), strip_end: Uint32Array.of(2, 1, 2),
    strip_executions: Uint32Array.of(2, 1, 1), strip_total_ns: Float64Array.of(100, 60, 40),
    strip_cover_ns: Float64Array.of(100, 60, 40), strip_width_ns: Float64Array.of(100, 60, 40), strip_slot: Uint8Array.of(255, 255, 255),
  }, "strip");
  assert.deepEqual([0, 1, 2].map((i) => textOf(blocks, i, 300)), ["decode 100 ns", "layer 3 60 ns", "rest 40 ns"]);
});

test("opened rows fill the room there is, and stay high enough to be read", () => {
  assert.equal(heightOf(660, 4), 165);
  assert.equal(heightOf(659, 4) * 4, 656);
  assert.equal(heightOf(90, 5), 30);
});

test("a tip stands under its row, and of the last of opened rows within the page", () => {
  assert.equal(tipTop(2, 22, Infinity), 70);
  assert.equal(tipTop(0, 165, 560), 169);
  assert.equal(tipTop(3, 165, 560), 560);
});
