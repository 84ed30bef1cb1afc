import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { MOST_CHARACTERS, put, read, write } from "../../../assets/web/core/node_list.js";

/** Of tests/unit/app/components/test_node_list.py too. @type {{text: string, ids: number[], written?: string}[]} */
const CASES = JSON.parse(readFileSync(new URL("node_lists.json", import.meta.url), "utf8"));

for (const { text, ids, written = text } of CASES) {
  test(`a list is read and written: "${text}"`, () => {
    assert.deepEqual(read(text), ids);
    assert.deepEqual(write(ids), { text: written, kept: ids.length });
  });
}

test("a list is as long as an address may be, and says how many ids it holds", () => {
  const even = Array.from({ length: 1300 }, (_, n) => 1000 + 2 * n);
  const { text, kept } = write(even);
  assert.equal(kept, 1200);
  assert.equal(text.length, MOST_CHARACTERS - 1);
  assert.deepEqual(read(text), even.slice(0, kept));
});

test("a run is kept as a whole or not at all", () => {
  const odd = Array.from({ length: 1199 }, (_, n) => 1001 + 2 * n);
  assert.equal(write([...odd, 5, 6, 7]).kept, 1202);
  assert.equal(write([...odd, 5000, 5001, 5002]).kept, 1199);
});

test("many ids in a row take a few characters", () => {
  const ids = Array.from({ length: 1_000_000 }, (_, n) => n);
  assert.deepEqual(write(ids), { text: "0-999999", kept: ids.length });
  assert.equal(read("0-999999").length, ids.length);
  assert.deepEqual(read("0-999998,1-2,7").length, ids.length);
});

test("a query says what is selected, and nothing where nothing is", () => {
  const query = new URLSearchParams("graph=1&node=4");
  assert.equal(put(query, [1, 2, 3]), 3);
  assert.equal(query.toString(), "graph=1&node=1-3");
  assert.equal(put(query, []), 0);
  assert.equal(query.toString(), "graph=1");
});
