import assert from "node:assert/strict";
import { test } from "node:test";

import { Overlays } from "../../../assets/web/overlay/overlays.js";
import { Targets } from "../../../assets/web/overlay/read/targets.js";
/** @import { Side, Source } from "../../../assets/web/overlay/overlays.js" */

/** @param {string} name @param {boolean} [recorded] @returns {Source} */
const source = (name, recorded) => ({ name, recorded, open: async () => new Blob([]).stream() });

/** Which files colour the nodes, in turn. @param {Side[]} sides @param {boolean} colours @param {Source[]} sources */
async function colouring(sides, colours, ...sources) {
  /** @type {string[]} */
  const found = [];
  const layOne = (/** @type {Source} */ { name }, /** @type {Side} */ side, /** @type {boolean} */ is) => {
    if (is) found.push(name + side);
  };
  const overlays = { queue: Promise.resolve(), host: { sides }, layOne };
  await Overlays.prototype.lay.call(/** @type {any} */ (overlays), sources, colours);
  return found;
}

test("the first table of a reader's own colours the nodes, what a recording has is offered", async () => {
  assert.deepEqual(await colouring([""], true, source("values", true)), []);
  assert.deepEqual(await colouring([""], true, source("values", true), source("a.csv"), source("b.csv")), ["a.csv"]);
  assert.deepEqual(await colouring(["A", "B"], true, source("values", true), source("a.csv")), ["a.csvA", "a.csvB"]);
  assert.deepEqual(await colouring([""], false, source("a.csv")), []);
});

test("what became of a table's rows is said of a reader's own, a fault of any", async () => {
  const said = /** @type {string[]} */ ([]);
  const notes = {
    wait: (/** @type {string} */ name) => said.push(`wait ${name}`), show: () => said.push("show"),
    fail: (/** @type {string} */ name, /** @type {string} */ fault) => said.push(`${name}: ${fault}`),
  };
  const lay = async (/** @type {Source} */ one, /** @type {boolean} */ isThere) => {
    const find = async () => {
      if (!isThere) throw new Error("not there");
      return new Targets({ columns: { key: [1] }, places: new Map([[1, 0]]) }, []);
    };
    const overlays = { ending: new AbortController(), notes, find, put: async () => {} };
    await Overlays.prototype.layOne.call(/** @type {any} */ (overlays), one, "", false);
  };
  await lay({ ...source("values", true), open: async () => new Blob(["node,x\n1,2\n"]).stream() }, true);
  await lay(source("values", true), false);
  assert.deepEqual(said, ["values: not there"]);
  await lay({ ...source("a.csv"), open: async () => new Blob(["node,x\n1,2\n"]).stream() }, true);
  assert.deepEqual(said.slice(1), ["wait a.csv", "show"]);
});
