import assert from "node:assert/strict";
import { test } from "node:test";

import { addBaseline, addFolds, setLaunches } from "../../../assets/web/dash/history.js";

/** @param {(query: URLSearchParams) => void} write */
function written(write) {
  const query = new URLSearchParams();
  write(query);
  return query.toString();
}

test("an order is that of all launches", () => {
  assert.equal(written((query) => setLaunches(query, "3", "", "length")), "launch=3");
  assert.equal(written((query) => setLaunches(query, "all", "9", "length")), "launch=all&stream=9&order=length");
  assert.equal(written((query) => setLaunches(query, "all", "", "ordinal")), "launch=all");
});

test("without folds only bodies are open", () => {
  assert.equal(written((query) => addFolds(query, "none", ["r1", "n12"])), "open=n12");
  assert.equal(written((query) => addFolds(query, "repeats", ["r1", "n12"])), "fold=repeats&open=r1%2Cn12");
  assert.equal(written((query) => addFolds(query, "", null)), "");
});

test("a baseline is named with its graph, or without", () => {
  assert.equal(written((query) => addBaseline(query, { baseline: "before", baseline_graph: 2 })), "baseline=before&baseline_graph=2");
  assert.equal(written((query) => addBaseline(query, { baseline: "before" })), "baseline=before");
  assert.equal(written((query) => addBaseline(query, null)), "");
});
