import assert from "node:assert/strict";
import { test } from "node:test";

import { ComparedStore } from "../../../assets/web/page/compared.js";

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
