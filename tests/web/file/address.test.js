import assert from "node:assert/strict";
import { test } from "node:test";

import { parse, textOf } from "../../../assets/web/file/address.js";

const STATE = {
  graph: 2, node: [3, 4], launch: "median", colour: "p95", layout: "lanes", fold: "repeats", open: ["r1", "n3"],
  edges: "data", buffer: "7f00.40", panel: "memory",
};

test("a state comes back from its address", () => {
  assert.deepEqual(parse(textOf(STATE)), STATE);
});

test("an address says only what differs", () => {
  const plain = { ...STATE, node: [], fold: "none", open: [], edges: "all", buffer: null, panel: "timeline" };
  assert.equal(textOf(plain), "graph=2&launch=median&colour=p95&layout=lanes");
});

test("more selected nodes than an address has room for are cut", () => {
  const node = Array.from({ length: 1300 }, (_, n) => 1000 + 2 * n);
  assert.deepEqual(parse(textOf({ ...STATE, node })).node, node.slice(0, 1200));
});

test("what is malformed says nothing", () => {
  assert.deepEqual(parse(""), {});
  assert.deepEqual(parse("%E0%A4%A&=&&node="), { node: [] });
  assert.deepEqual(parse(`node=${"9".repeat(400)}`), { node: [] });
  assert.deepEqual(parse("graph=-1&node=1,x,-3,99999999&buffer=<b>"), { node: [1, 99999999] });
  assert.deepEqual(parse("graph=1e3&buffer=0x7f&open=,,"), { open: [] });
});
