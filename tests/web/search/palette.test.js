import assert from "node:assert/strict";
import { test } from "node:test";

import { Blocks } from "../../../assets/web/breakdown/blocks.js";
import { ofBlocks } from "../../../assets/web/search/commands.js";
import { matching } from "../../../assets/web/search/palette.js";

const COMMANDS = ["Launch: #7", "Colour: Kernel family", "Graph: along the critical path"].map((name) => ({ name, run: () => {} }));

test("commands are found by words in any order and case", () => {
  assert.deepEqual(matching(COMMANDS, "path GRAPH").map(({ name }) => name), ["Graph: along the critical path"]);
  assert.equal(matching(COMMANDS, " ").length, 3);
  assert.deepEqual(matching([{ name: "Save colour", run: () => {} }, ...COMMANDS], "colour").map(({ name }) => name),
    ["Colour: Kernel family", "Save colour"]);
  assert.deepEqual(matching(COMMANDS, "graph colour"), []);
});

test("phases and layers are places to go to, with their nodes; families are not", () => {
  const header = { whole: ["phase", "layer", "family"], strings: ["", "forward", "layer 0", "GEMM"], launch_ns: 10, idle_ns: 0 };
  const blocks = new Blocks(/** @type {any} */ ({
    header, whole_node: Uint32Array.of(4, 5), whole_row: Uint8Array.of(0, 1, 2), whole_first: Uint32Array.of(0, 0, 0),
    whole_end: Uint32Array.of(2, 1, 1), whole_parent: Uint32Array.of(0, 0, 0), whole_label: Uint32Array.of(1, 2, 3),
    whole_width_ns: Float64Array.of(10, 5, 5), whole_executions: Uint32Array.of(2, 1, 1), whole_total_ns: Float64Array.of(10, 5, 5),
    whole_cover_ns: Float64Array.of(10, 5, 5), whole_slot: Uint8Array.of(255, 255, 0),
  }), "whole");
  /** @type {number[][]} */
  const selected = [];
  const found = ofBlocks(blocks, (nodes) => selected.push(nodes));
  assert.deepEqual(found.map(({ name }) => name), ["Phase: forward", "Layer: forward › layer 0"]);
  for (const { run } of found) run();
  assert.deepEqual(selected, [[4, 5], [4]]);
  assert.deepEqual(ofBlocks(undefined, () => {}), []);
});
