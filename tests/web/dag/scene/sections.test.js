import assert from "node:assert/strict";
import { test } from "node:test";

import { headAt, headOf, openName, spotOf } from "../../../../assets/web/dag/draw/sections.js";
import { DagScene } from "../../../../assets/web/dag/scene/scene.js";
import { dagPayload } from "../dag_payload.js";

/** Six items: two phases side by side, the first with a repeat of three blocks of two nodes, of which one is open. */
function phases({ more = {}, x = [0, 0, 0, 300, 300, 300] } = {}) {
  const names = ["a", "b", "Layer 1..2", "c", "d", "e", "forward", "update", "Layer 0", "Layer 0..2"];
  const payload = dagPayload([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]], {
    count: 6, x, y: [20, 88, 156, 20, 88, 156],
    more: {
      phase: Int32Array.of(6, 6, 6, 7, 7, 7),
      open_name: Int32Array.of(8, 8, -1, -1, -1, -1), open_of: Int32Array.of(9, 9, -1, -1, -1, -1),
      fold: Int32Array.of(-1, -1, 2, -1, -1, -1),
      item_offset: Uint32Array.of(0, 1, 2, 6, 7, 8, 9), item_nodes: Uint32Array.from({ length: 9 }, (_, n) => n),
      strip_offset: Uint32Array.of(0, 0, 0, 2, 2, 2, 2), strip_ns: Float32Array.of(2_000, 4_000),
      ...more,
    },
  });
  payload.header.strings = names;
  return new DagScene(payload);
}

test("phases are sections, with what repeats in them and the block that is open", () => {
  const [forward, update] = phases().sections;
  assert.deepEqual([forward.name, update.name], ["forward", "update"]);
  assert.deepEqual(forward.repeat, { name: "Layer 0..2", block: "Layer 0", item: 0, times: [3_000, 2_000, 4_000], nodes: 2 });
  assert.equal(forward.ns, 1_000 + 2_000 + 3_000);
  assert.equal(update.repeat, null);
  assert.deepEqual(update.items, [3, 4, 5]);
});

test("phases that are not side by side are no sections", () => {
  assert.deepEqual(phases({ x: [0, 0, 0, 20, 20, 20] }).sections, []);
});

test("a graph without phases is one section where one of its blocks is open", () => {
  const none = new Int32Array(6).fill(-1);
  const [all, ...more] = phases({ more: { phase: none } }).sections;
  assert.equal(more.length, 0);
  assert.equal(all.repeat?.name, "Layer 0..2");
  assert.deepEqual(phases({ more: { phase: none, open_of: none } }).sections, []);
});

test("a DAG that is not folded has no sections", () => {
  assert.deepEqual(phases({ more: { open_of: undefined } }).sections, []);
});

test("the head of a section is above the plane, and belongs to it alone", () => {
  const { sections } = phases();
  const t = { k: 0.5, kx: 0.5, x: 100, y: 200 };
  const head = headOf(sections);
  assert.ok(head > 40);
  const at = spotOf(sections[1], head, t);
  assert.equal(at.y + head, t.y);
  assert.equal(headAt(sections, t, at.x + 5, at.y + 5)?.name, "update");
  assert.equal(headAt(sections, t, at.x + 5, t.y + 5), undefined);
  assert.equal(headOf([]), 0);
});

test("the open block keeps its mark, whatever is left of its name", () => {
  const repeat = { block: "TransformerEncoderLayer 0" };
  assert.equal(openName(repeat, () => true), "▾ TransformerEncoderLayer 0");
  assert.equal(openName(repeat, (text) => text.length < 17), "▾ EncoderLayer 0");
  assert.equal(openName(repeat, () => false), "");
});
