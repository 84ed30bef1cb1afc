import assert from "node:assert/strict";
import { test } from "node:test";

import { EmbeddedStore, commandOf } from "../../../assets/web/stores/embedded.js";

test("a table of a saved file lies on the graphs that it is about", () => {
  /** @type {import("../../../assets/web/overlay/carry.js").Carried[]} */
  const tables = [
    { name: "four.csv", source: "overlay-0", graphs: [4] }, { name: "all.csv", source: "overlay-1" },
    { name: "before.csv", source: "overlay-2", side: "A", graphs: [1, 4] },
  ];
  const namesOf = (/** @type {number} */ id) =>
    new EmbeddedStore(/** @type {any} */ ({ id }), tables).overlays().map(({ name }) => name);
  assert.deepEqual(namesOf(4), ["four.csv", "all.csv"]);
  assert.deepEqual(namesOf(1), ["all.csv"]);
});

test("a saved file knows the command that answers a question", () => {
  assert.equal(commandOf("it's.gviz", 4, { cut: "*:3,10-12" }), "gviz what-if 'it'\\''s.gviz' --graph 4 --cut '*:3,10-12'");
});
