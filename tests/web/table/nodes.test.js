import assert from "node:assert/strict";
import { test } from "node:test";

import { Nodes } from "../../../assets/web/table/nodes.js";

const nodes = new Nodes({
  key: [10, 11, 12, 13], node: [0, 1, 2, 3], name: ["gemm_10", "gemm_9", "Add", "copy"],
  kind: ["KERNEL", "KERNEL", "KERNEL", "MEMCPY"], median_ns: [5, null, 20, 7], parent: [null, 10, 11, null],
  stack: [0, 0, 1, null], stacks: ["/run/net.py:12 gemm < /run/train.py:44 main", "/run/net.py:9 add < /run/train.py:44 main"],
  calls: ["gemm < Linear < main", "add < main"],
});
const ALL = { search: "", only: null, by: "node", falling: false };

test("columns of texts may have each text once", () => {
  const coded = new Nodes({
    key: [10, 11, 12], name: { values: ["gemm", "add"], codes: [0, 1, 0] }, kind: { same: "KERNEL" }, grid: { values: ["1", "2 × 8", null] },
    median_ns: [5, null, 120], parent: [null, null, null],
  });
  assert.deepEqual(coded.columns.name, ["gemm", "add", "gemm"]);
  assert.deepEqual([coded.row(11).kind, coded.row(12).grid], ["KERNEL", null]);
  assert.deepEqual(coded.filter("GEMM kernel", null), [10, 12]);
  assert.deepEqual(coded.filter("12", null), [12], "a number too, by its key or its time");
  assert.deepEqual(coded.filter("nothing", null), []);
});

test("rows are sorted either way, what has no value last", () => {
  assert.deepEqual(nodes.arrange({ ...ALL, by: "median_ns" }), [10, 13, 12, 11]);
  assert.deepEqual(nodes.arrange({ ...ALL, by: "median_ns", falling: true }), [12, 13, 10, 11]);
});

test("numbers in names count as numbers", () => {
  assert.deepEqual(nodes.arrange({ ...ALL, by: "name" }), [12, 13, 11, 10]);
});

test("a search finds nodes that have all its words in any column", () => {
  assert.deepEqual(nodes.arrange({ ...ALL, search: "KERNEL gem" }), [10, 11]);
  assert.deepEqual(nodes.arrange({ ...ALL, search: "  " }), [10, 11, 12, 13]);
  assert.deepEqual(nodes.arrange({ ...ALL, search: "memcpy gemm" }), []);
});

test("a search may be about one column: a text in it, or a limit in microseconds", () => {
  assert.deepEqual(nodes.arrange({ ...ALL, search: "kind:mem" }), [13]);
  assert.deepEqual(nodes.arrange({ ...ALL, search: "name:kernel" }), []);
  assert.deepEqual(nodes.arrange({ ...ALL, search: "median>0.006" }), [12, 13]);
  assert.deepEqual(nodes.arrange({ ...ALL, search: "median<0.006 gemm" }), [10]);
  assert.deepEqual(nodes.arrange({ ...ALL, search: "ns:gemm" }), []);
});

test("stacks are searched by file, line and function where that is said", () => {
  assert.deepEqual(nodes.arrange({ ...ALL, search: "src:net.py:12" }), [10, 11]);
  assert.deepEqual(nodes.arrange({ ...ALL, search: "src:MAIN src:add" }), [12]);
  assert.deepEqual(nodes.arrange({ ...ALL, search: "train.py" }), []);
});

test("words are looked for in the functions too that a node was made in", () => {
  assert.deepEqual(nodes.arrange({ ...ALL, search: "linear" }), [10, 11]);
  assert.deepEqual(nodes.arrange({ ...ALL, search: "main add" }), [12]);
});

test("ids are searched as they are, and as ranges", () => {
  assert.deepEqual(nodes.arrange({ ...ALL, search: "id:1" }), [11]);
  assert.deepEqual(nodes.arrange({ ...ALL, search: "id:0,2-3" }), [10, 12, 13]);
  assert.deepEqual(nodes.arrange({ ...ALL, search: "id:gemm" }), []);
});

test("a filter and a search hold together", () => {
  assert.deepEqual(nodes.arrange({ ...ALL, search: "kernel", only: new Set([11, 13]) }), [11]);
});

test("nodes nested in chosen ones are not counted again", () => {
  const outermost = (/** @type {number[]} */ ids) => Array.from(nodes.outermost(ids), (place) => nodes.ids[place]);
  assert.deepEqual(outermost([10, 11, 12, 13]), [10, 13]);
  assert.deepEqual(outermost([11, 12]), [11]);
  assert.deepEqual(outermost([12, 13]), [12, 13]);
  assert.deepEqual(outermost([13, 12, 11, 10]), [13, 10]);
});
