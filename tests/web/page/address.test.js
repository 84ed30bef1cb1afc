import assert from "node:assert/strict";
import { test } from "node:test";

import { graphOf, parse, textOf, write } from "../../../assets/web/page/address.js";

const FIXED = { graph: 2 };
/** @type {import("../../../assets/web/page/address.js").State} */
const STATE = {
  node: [3, 4], select: [], filter: [], brush: null, launch: "all", stream: "9", order: "length", colour: "p95", layout: "lanes", fold: "repeats",
  open: ["r1", "n3"], edges: "data", buffer: "7f00.40", table: "families", sort: "-share", families: [0, 12], only: "selected", panel: "memory", eager: "open", time: [1200, 48000], level: "2",
  search: "kind:memcpy a&b", pane: "timeline", shares: [60, 50.5, 31], measure: "overlay:a.csv:energy, in all",
};
/** What an address of it has: nothing is named. */
const BY_IDS = Object.fromEntries(Object.entries(STATE).filter(([name]) => !["select", "filter", "brush"].includes(name)));

test("a state comes back from its address", () => {
  assert.deepEqual(parse(textOf(FIXED, STATE, "nodes")), BY_IDS);
  assert.equal(graphOf(textOf(FIXED, STATE, "nodes")), 2);
});

test("an address says only what differs", () => {
  const plain = {
    ...STATE, node: [], launch: "median", stream: "", order: "ordinal", fold: "none", open: [], edges: "all", buffer: null,
    table: "nodes", sort: "", families: [], only: "all", panel: "timeline", eager: "closed", time: null, level: "0", search: "", pane: "", shares: null, measure: "",
  };
  assert.equal(textOf(FIXED, plain, "nodes"), "graph=2&launch=median&colour=p95&layout=lanes");
  const both = { a: "a b", b: "after", graph: "1:2" };
  assert.equal(textOf(both, plain, "nodes"), "a=a+b&b=after&graph=1:2&launch=median&colour=p95&layout=lanes");
});

test("the table that a page begins with is not in its address, and any other is", () => {
  const named = { ...STATE, table: "names" };
  assert.equal(parse(textOf(FIXED, named, "names")).table, undefined);
  assert.equal(parse(textOf(FIXED, { ...STATE, table: "nodes" }, "names")).table, "nodes");
});

test("graphs of two sides keep their colon", () => {
  const query = textOf({ a: "x", b: "y", graph: "1:4" }, { ...STATE, node: [] }, "nodes");
  assert.ok(query.startsWith("a=x&b=y&graph=1:4&"), query);
});

test("an order is that of all launches", () => {
  assert.equal(parse(textOf(FIXED, { ...STATE, launch: "3" }, "nodes")).order, undefined);
});

test("without folds only bodies are open", () => {
  assert.deepEqual(parse(textOf(FIXED, { ...STATE, fold: "none" }, "nodes")).open, ["n3"]);
});

test("many selected nodes in no row come back", () => {
  const node = Array.from({ length: 1300 }, (_, n) => 1000 + 2 * n);
  assert.deepEqual(parse(textOf(FIXED, { ...STATE, node }, "nodes")).node, node);
});

test("a part of the time is from one instant to a later one, or what lies between the selected nodes", () => {
  assert.deepEqual(parse("time=12-48").time, [12, 48]);
  assert.equal(parse("time=between").time, "between");
  assert.equal(parse(textOf(FIXED, { ...STATE, time: "between" }, "nodes")).time, "between");
  assert.equal(parse("time=selected").time, "selected");
  for (const wrong of ["48-12", "5-5", "5", "-5-7", "1e3-2e3", "5-", "all"]) assert.equal(parse(`time=${wrong}`).time, undefined);
});

test("an address is no longer than servers let pass, and says how many nodes it holds", () => {
  const node = Array.from({ length: 1500 }, (_, n) => 100_000 + 50 * n);
  const open = Array.from({ length: 600 }, (_, n) => `r${n}`);
  const { text, left } = write(FIXED, { ...STATE, node, open }, "nodes");
  const kept = node.length - left;
  assert.ok(text.length <= 7800 && text.length > 7000);
  assert.ok(kept > 0 && kept < 857);
  assert.deepEqual(parse(text), { ...BY_IDS, node: node.slice(0, kept), open });
});

test("shares of panes are percents", () => {
  for (const wrong of ["", "5,", "a", "100", "50,31.25", "-5", "1,2,3,4,5"]) assert.equal(parse(`shares=${wrong}`).shares, undefined);
});

test("open families are places", () => {
  for (const wrong of ["", "a", "1,", "-1", "1.5"]) assert.equal(parse(`families=${wrong}`).families, undefined);
});

test("what is malformed says nothing", () => {
  assert.deepEqual(parse(""), {});
  assert.deepEqual(parse("%E0%A4%A&=&&node="), { node: [] });
  assert.deepEqual(parse(`node=${"9".repeat(400)}`), { node: [] });
  assert.deepEqual(parse("graph=-1&node=1,x,-3,99999999&buffer=<b>"), { node: [1, 99999999] });
  assert.equal(graphOf("graph=-1"), null);
  assert.deepEqual(parse("graph=1e3&buffer=0x7f&open=,,"), { open: [] });
  assert.equal(graphOf("graph=1e3"), null);
});

test("what is selected and what is left are named in place of their nodes", () => {
  const node = Array.from({ length: 50_000 }, (_, n) => 3 * n);
  const select = ["kernel:void f<int, (bool)1>(float*, a&b=c)", "block:backward › layer 3"];
  const { text, left } = write(FIXED, { ...STATE, node, select, filter: ["family:add f32"] }, "nodes");
  assert.equal(left, 0);
  const found = parse(text);
  assert.deepEqual([found.node, found.select, found.filter, found.brush], [undefined, select, ["family:add f32"], undefined]);
  assert.match(text, /&filter=family:add\+f32&/);
});

test("a filter is a part of the time of one side", () => {
  const brush = { from: 1200.5, to: 48000, side: "graph" };
  const text = textOf(FIXED, { ...STATE, filter: ["id:3"], brush }, "nodes");
  assert.match(text, /&filter=time:1200\.5-48000&/);
  assert.deepEqual([parse(text).brush, parse(text).filter], [brush, undefined]);
  const eager = { ...brush, side: "stream" };
  assert.deepEqual(parse(textOf(FIXED, { ...STATE, brush: eager }, "nodes")).brush, eager);
  const rank = { ...brush, side: "rank12" };
  assert.deepEqual(parse(textOf(FIXED, { ...STATE, brush: rank }, "nodes")).brush, rank);
  for (const wrong of ["time:48-12", "time:5", "time:a:b-c", "time:1e3-2e3"]) assert.equal(parse(`filter=${wrong}`).brush, undefined);
});
