import assert from "node:assert/strict";
import { test } from "node:test";

import { TimelineScene } from "../../../assets/web/timeline/scene.js";
import { Tracks } from "../../../assets/web/timeline/tracks.js";
import { side, timelinePayload } from "./timeline_payload.js";

/** Two phases; the second has layers 0 and 1. Nodes 10 to 14; 14 is in no layer. */
const BLOCKS = {
  rowKeys: ["phase", "layer", "family"], rowNames: ["Phase", "Layer", "Kernel family"],
  row: Uint8Array.of(0, 0, 1, 1, 1), rowStart: Uint32Array.of(0, 2, 5, 5),
  first: Uint32Array.of(0, 2, 2, 3, 4), end: Uint32Array.of(2, 5, 3, 4, 5),
  node: Uint32Array.of(10, 11, 12, 13, 14), labels: ["forward", "backward", "layer 0", "layer 1", ""],
  colourOf: () => "#ffffff", nodesOf: (/** @type {number} */ block) => [block], labelOf: (/** @type {number} */ block) => `block ${block}`,
  describe: (/** @type {number} */ block) => /** @type {[string, string][]} */ ([["Phase", BLOCKS.labels[block]], ["Nodes", "2"]]),
};

test("operations are called NVTX, as in the table", () => {
  const blocks = { ...BLOCKS, rowKeys: ["phase", "operation", "family"], rowNames: ["Phase", "Operation", "Kernel family"] };
  assert.deepEqual(new Tracks(blocks).labels, ["phase", "NVTX"]);
});

test("nodes of one block that follow each other are one stretch", () => {
  const { sides } = new TimelineScene(timelinePayload([side("graph", [
    [0, 0, 10, 10], [0, 20, 10, 11], [0, 30, 10, 12], [0, 45, 5, 14], [0, 60, 10, 13], [0, 80, 5, 12],
  ])]));
  const tracks = new Tracks(BLOCKS);
  assert.deepEqual(tracks.labels, ["phase", "layer"]);
  const [phases, layers] = tracks.of(sides[0]);
  assert.deepEqual(phases, [{ from: 0, to: 30, block: 0 }, { from: 30, to: 85, block: 1 }]);
  assert.deepEqual(layers.map(({ from, to, block }) => [from, to, block]), [[30, 40, 2], [60, 70, 3], [80, 85, 2]]);
  assert.equal(tracks.at(sides[0], 1, 65)?.block, 3);
  assert.equal(tracks.at(sides[0], 1, 50), undefined);
  assert.deepEqual(tracks.describe(0), [["forward"], ["Nodes", "2"]]);
});

test("a stretch that begins while another goes on stands over it until it ends", () => {
  const { sides } = new TimelineScene(timelinePayload([side("graph", [
    [0, 0, 30, 12], [1, 10, 10, 13], [0, 30, 10, 12], [1, 35, 25, 13],
  ])]));
  const tracks = new Tracks(BLOCKS);
  const layers = tracks.of(sides[0])[1].map(({ from, to, block }) => [from, to, block]);
  assert.deepEqual(layers, [[0, 10, 2], [10, 20, 3], [20, 35, 2], [35, 60, 3]], "no time is two stretches', whose names would overlap");
  assert.equal(tracks.at(sides[0], 1, 25)?.block, 2);
});

test("numbers of layers fill stretches in which no name fits, whatever pixel they begin at", () => {
  const pen = /** @type {any} */ ({ measureText: (/** @type {string} */ text) => ({ width: 58 * text.length }) });
  const tracks = new Tracks(BLOCKS);
  for (const w of [10, 13.4, 14.6]) assert.deepEqual(tracks.textOf(pen, 2, w), { text: "0", px: 11 });
  assert.equal(tracks.textOf(pen, 2, 9).text, "");
  assert.deepEqual(tracks.textOf(pen, 2, 60), { text: "layer 0", px: 11 });
});

test("a number of two digits is smaller where one of one digit fits", () => {
  const pen = /** @type {any} */ ({ measureText: (/** @type {string} */ text) => ({ width: 58 * text.length }) });
  const tracks = new Tracks({ ...BLOCKS, labels: ["forward", "backward", "layer 9", "layer 10", ""] });
  assert.deepEqual(tracks.textOf(pen, 2, 15), { text: "9", px: 11 });
  assert.deepEqual(tracks.textOf(pen, 3, 15), { text: "10", px: 9 });
  assert.equal(tracks.textOf(pen, 3, 12).text, "");
});
