import assert from "node:assert/strict";
import { before, test } from "node:test";

import * as bus from "../../../assets/web/core/bus.js";

before(() => {
  // Groups tell the document too: any target of events can be one.
  Object.assign(globalThis, { document: new EventTarget() });
});

test("members of a group hear what is selected, each change once", () => {
  /** @type {number[][]} */
  const heard = [];
  const end = bus.subscribe("a", ({ selected }) => heard.push(selected));
  const group = bus.group("a");
  group.select([1, 2]);
  group.select([1, 2]);
  group.select([]);
  assert.deepEqual(heard, [[1, 2], []]);
  end();
  group.select([3]);
  assert.equal(heard.length, 2);
});

test("a group is forgotten with its last member", () => {
  const end = bus.subscribe("b", () => {});
  bus.group("b").select([1]);
  end();
  assert.deepEqual(bus.group("b").selected, []);
});

test("what is no view hears of it as events", () => {
  /** @type {unknown[]} */
  const heard = [];
  for (const name of ["gviz-select", "gviz-hover", "gviz-filter"]) {
    document.addEventListener(name, (event) => heard.push([name, /** @type {CustomEvent} */ (event).detail]));
  }
  const group = bus.group("c");
  group.select([4]);
  group.hover(4);
  group.hover(4);
  group.filter([4, 5]);
  group.filter(null);
  assert.deepEqual(heard, [["gviz-select", [4]], ["gviz-hover", 4], ["gviz-filter", [4, 5]], ["gviz-filter", null]]);
});
