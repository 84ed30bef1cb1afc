import assert from "node:assert/strict";
import { test } from "node:test";

import { FetchedStore } from "../../../assets/web/stores/fetched.js";

const GRAPH = /** @type {any} */ ({
  fixed: { file: "a", graph: 1 }, launch: "7", sources: { dag: "/dag", timeline: "/timeline", memory: "/memory" },
});
const STATE = {
  node: [], select: [], filter: [], brush: null, launch: "3", stream: "9", order: "ordinal", colour: "duration", layout: "lanes", fold: "none", open: [],
  edges: "all", buffer: null, table: "nodes", sort: "", families: [], only: "all", panel: "timeline", eager: "closed", time: null, level: "0", search: "", pane: "", shares: null, measure: "",
};

/** @param {"dag"|"timeline"|"memory"} view @param {object} [change] @param {string} [asked] */
const source = (view, change = {}, asked = "") => new FetchedStore(GRAPH).source(view, { ...STATE, ...change }, asked);

test("the timeline is that of a launch and an eager iteration", () => {
  assert.equal(source("timeline"), "/timeline?launch=3&stream=9");
  assert.equal(source("timeline", { launch: "all", order: "length" }), "/timeline?launch=all&stream=9&order=length");
  assert.equal(source("timeline", { order: "length" }), "/timeline?launch=3&stream=9");
  assert.equal(source("timeline", { launch: "", stream: "" }), "/timeline");
});

test("memory is that of one launch", () => {
  assert.equal(source("memory"), "/memory?launch=3");
  assert.equal(source("memory", { launch: "median" }), "/memory?launch=7");
});

test("the graph is of a launch only where it shows one", () => {
  assert.equal(source("dag"), "/dag");
  assert.equal(source("dag", { colour: "launch" }), "/dag?launch=3");
  assert.equal(source("dag", {}, "time"), "/dag?layout=time&launch=3");
  assert.equal(source("dag", { launch: "median" }, "time"), "/dag?layout=time");
});

test("without folds only bodies are open", () => {
  assert.equal(source("dag", { open: ["r1", "n12"] }), "/dag?open=n12");
  assert.equal(source("dag", { fold: "repeats", open: ["r1", "n12"] }), "/dag?fold=repeats&open=r1,n12");
});
