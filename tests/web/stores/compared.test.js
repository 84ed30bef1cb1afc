import assert from "node:assert/strict";
import { test } from "node:test";

import { ComparedStore } from "../../../assets/web/stores/compared.js";
import { SavedComparison } from "../../../assets/web/stores/saved_comparison.js";

const GRAPH = /** @type {any} */ ({ sources: { dag: "/dag?a=x&b=y", timeline: "/timeline?a=x&b=y" } });
const STATE = /** @type {any} */ ({ level: "0", open: [], colour: "change" });

/** @param {"dag"|"timeline"} view @param {object} [change] @param {string} [asked] */
const source = (view, change = {}, asked = "") => new ComparedStore(GRAPH).source(view, { ...STATE, ...change }, asked);

test("the graph is a level of both with bodies open, in a layout", () => {
  assert.equal(source("dag"), "/dag?a=x&b=y");
  assert.equal(source("dag", { level: "2", open: ["n1", "n7"] }, "lanes"), "/dag?a=x&b=y&layout=lanes&level=2&open=n1,n7");
});

test("the launches are the same whatever is drawn of the graph", () => {
  assert.equal(source("timeline", { level: "2", open: ["n1"] }, "lanes"), "/timeline?a=x&b=y");
});

test("the graph of a saved comparison is found by layout, level and what is open", () => {
  const sets = [[], ["n5"], ["n5", "n9"]];
  const graph = /** @type {any} */ ({
    id: 3, layout: "lanes", folds: { none: { sets, folds: {}, together: false } }, timeline: { "": 7 },
    dag: { "lanes|0|0": 0, "lanes|0|1": 1, "lanes|0|2": 2, "structure|0|2": 3, "lanes|1|0": 4, "lanes|1|2": 5 },
  });
  const store = new SavedComparison(graph);
  /** @param {"dag"|"timeline"} view @param {object} [change] @param {string} [asked] */
  const saved = (view, change = {}, asked = "") => store.source(view, { ...STATE, ...change }, asked);
  assert.equal(saved("dag"), "3/0");
  assert.equal(saved("dag", { open: ["n9", "n5"] }), "3/2");
  assert.equal(saved("dag", { open: ["n5", "n9"] }, "structure"), "3/3");
  // What is open around a body does not change it.
  assert.equal(saved("dag", { level: "1", open: ["n5"] }), "3/4");
  assert.equal(saved("dag", { level: "1", open: ["n5", "n9"] }), "3/5");
  assert.equal(saved("timeline", { level: "1" }), "3/7");
  assert.deepEqual([...new Set(store.layouts())], ["lanes", "structure"]);
});
