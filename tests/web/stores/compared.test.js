import assert from "node:assert/strict";
import { test } from "node:test";

import { ComparedStore } from "../../../assets/web/stores/compared.js";
import * as layouts from "../../../assets/web/stores/layouts.js";
import { SavedComparison } from "../../../assets/web/stores/saved_comparison.js";

const GRAPH = /** @type {any} */ ({ sources: { dag: "/dag?a=x&b=y", timeline: "/timeline?a=x&b=y" } });
const STATE = /** @type {any} */ ({ level: "0", fold: "none", open: [], edges: "all", launch: "", colour: "change" });
/** @typedef {"dag"|"timeline"} View */

/** @param {View} view @param {object} [change] @param {string} [asked] */
const source = (view, change = {}, asked = "") => new ComparedStore(GRAPH).source(view, { ...STATE, ...change }, asked);

test("the graph is a level of both with bodies open, in a layout", () => {
  assert.equal(source("dag"), "/dag?a=x&b=y");
  assert.equal(source("dag", { level: "2", open: ["n1", "n7"] }, "lanes"), "/dag?a=x&b=y&open=n1,n7&layout=lanes&level=2");
});

test("the launches are the same whatever is drawn of the graph", () => {
  assert.equal(source("timeline", { level: "2", open: ["n1"] }, "lanes"), "/timeline?a=x&b=y");
});

test("a saved comparison asks for the same, and has one timeline", () => {
  const graph = /** @type {any} */ ({ id: 3, timeline: { "": 7 }, memory: {} });
  const store = new SavedComparison(graph);
  /** @param {View} view @param {object} [change] @param {string} [asked] */
  const saved = (view, change = {}, asked = "") => store.source(view, { ...STATE, ...change }, asked);
  assert.equal(saved("dag"), "3?");
  assert.deepEqual(
    layouts.read(new URLSearchParams(saved("dag", { level: "2", open: ["n1", "n7"] }, "lanes").split("?")[1])),
    { layout: "lanes", launch: null, folding: null, open: ["n1", "n7"], data: false, level: 2 });
  assert.equal(saved("timeline", { level: "1" }), "3/7");
});
