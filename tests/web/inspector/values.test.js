import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryName, valueParts } from "../../../assets/web/inspector/values.js";
import { Nodes } from "../../../assets/web/table/nodes.js";
import { all, standIn } from "../dom.js";

standIn();
const NODES = new Nodes({ key: [7, 9], name: ["f", "g"], label: ["f", "g"], kind: ["KERNEL", "KERNEL"], median_ns: [null, null], parent: [null, null] });
const HELD = { hash: "00ff", varies: false, nan: 0, infinite: 0, zero: 4, least: 0, greatest: 0, mean: 0 };
const MEMORY = {
  position: 0, parameter: "float*", start: 0, bytes: 16, element: "float", use: "written", before: HELD,
  after: { ...HELD, nan: 1, zero: 0, least: 1, greatest: 3, mean: 2, varies: true }, writers: { count: 1, keys: [7] }, readers: { count: 0, keys: [] },
};

/** @param {any} found */
const lines = (found) => all(found).filter(({ tag }) => tag === "tr").map((line) => line.textContent);

test("memory has a line before the node, and one after it where it changed", () => {
  const found = valueParts([MEMORY, { ...MEMORY, position: 1, use: "read", after: null }], NODES);
  assert.deepEqual(lines(found).slice(1), ["0 float*written000004", "after1.003.002.00100", "1 float*read000004"]);
});

test("who wrote it can be picked, and nobody is named who did not", () => {
  const text = valueParts([MEMORY], NODES).textContent ?? "";
  assert.ok(text.includes("0 float*: written by"));
  assert.ok(!text.includes("given next to"));
});

test("memory of an unknown type has no numbers", () => {
  const none = { hash: "00ff", varies: false, nan: null, infinite: null, zero: null, least: null, greatest: null, mean: null };
  const found = valueParts([{ ...MEMORY, parameter: null, start: 2048, element: null, before: none, after: null }], NODES);
  assert.equal(lines(found)[1], "0 + 2.00 KiBwritten––––––");
  assert.equal(memoryName({ ...MEMORY, start: 0 }), "0 float*");
});
