import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryName, valueParts } from "../../../assets/web/inspector/values.js";
import { Nodes } from "../../../assets/web/table/nodes.js";
import { all, standIn } from "../dom.js";

standIn();
const NODES = new Nodes({ key: [7, 9], name: ["f", "g"], label: ["f", "g"], kind: ["KERNEL", "KERNEL"], median_ns: [null, null], parent: [null, null] });
const HELD = { hash: "00ff", varies: false, nan: 0, infinite: 0, zero: 4, finite: 4, least: 0, greatest: 0, mean: 0, histogram: null };
const MEMORY = {
  position: 0, parameter: "float*", start: 0, bytes: 16, at_most: true, element: "float", use: "written", before: HELD,
  after: { ...HELD, nan: 1, zero: 1, finite: 3, least: 1, greatest: 3, mean: 2, varies: true }, writers: { count: 1, keys: [7] }, readers: { count: 0, keys: [] },
};

/** @param {any} found */
const lines = (found) => all(found).filter(({ tag }) => tag === "tr").map((line) => line.textContent);

test("memory has a line before the node, and one after it where it changed", () => {
  const found = valueParts([MEMORY, { ...MEMORY, position: 1, use: "read", after: null }], NODES);
  assert.deepEqual(lines(found).slice(1), ["0 float*written004000", "after1011.003.002.00", "1 float*read004000"]);
});

test("elements are drawn by what they are, and by size where contents were kept", () => {
  const drawn = (/** @type {any} */ held) => {
    const [bars] = all(valueParts([{ ...MEMORY, before: held, after: null }], NODES)).filter(({ attributes }) => attributes.role === "img");
    return bars && [bars.attributes.title, ...bars.children.map((/** @type {any} */ bar) => bar.style.height ?? bar.style.flexGrow)];
  };
  assert.deepEqual(drawn(MEMORY.after), ["1 NaN, 1 zero, 2 other", "1", "1", "2"]);
  assert.deepEqual(drawn({ ...MEMORY.after, histogram: [2, 0, 1] }), ["3 finite elements from 1.00 to 3.00", "100%", "0%", "50%"]);
  assert.equal(drawn({ ...MEMORY.after, nan: null, infinite: null, zero: null, finite: null }), undefined);
});

test("who wrote it can be picked, and nobody is named who did not", () => {
  const text = valueParts([MEMORY], NODES).textContent ?? "";
  assert.ok(text.includes("0 float*: written by"));
  assert.ok(!text.includes("given next to"));
});

test("memory of an unknown type has no numbers", () => {
  const none = { hash: "00ff", varies: false, nan: null, infinite: null, zero: null, finite: null, least: null, greatest: null, mean: null, histogram: null };
  const found = valueParts([{ ...MEMORY, parameter: null, start: 2048, element: null, before: none, after: null }], NODES);
  assert.equal(lines(found)[1], "0 + 2.00 KiBwritten––––––");
  assert.equal(memoryName({ ...MEMORY, start: 0 }), "0 float*");
});

test("a size that nobody states is one that the memory has at most", () => {
  const size = (/** @type {boolean} */ isMost) =>
    all(valueParts([{ ...MEMORY, at_most: isMost }], NODES)).find(({ attributes }) => attributes.class === "gv-break").attributes.title;
  assert.deepEqual([size(true), size(false)], ["at most 16 B of float", "16 B of float"]);
});
