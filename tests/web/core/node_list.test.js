import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { MOST_CHARACTERS, inRows, put, read, write } from "../../../assets/web/core/node_list.js";

/** Of tests/unit/app/components/test_node_list.py too. @type {{text: string, ids: number[], written?: string}[]} */
const CASES = JSON.parse(readFileSync(new URL("node_lists.json", import.meta.url), "utf8"));

for (const { text, ids, written = text } of CASES) {
  test(`a list is read and written: "${text}"`, () => {
    assert.deepEqual(read(text), ids);
    assert.deepEqual(write(ids), { text: written, kept: ids.length });
  });
}

test("an option of a command has all ids, in rows", () => {
  assert.equal(inRows([12, 3, 11, 10]), "3,10-12");
  const even = Array.from({ length: 1300 }, (_, n) => 2 * n);
  assert.equal(inRows(even).split(",").length, 1300);
});

test("many ids in no row take a bit each, in any order", () => {
  const even = Array.from({ length: 1300 }, (_, n) => 1000 + 2 * n);
  const { text, kept } = write(even);
  assert.equal(kept, even.length);
  assert.equal(text, "1000." + "V".repeat(433) + "B");
  assert.deepEqual(read(text), even);
  assert.deepEqual(write(even.toReversed()), { text, kept });
});

test("what few ids far apart, or ids in rows, take less for is a list", () => {
  assert.equal(write([5, 1_000_000, 7]).text, "5,1000000,7");
  const rows = Array.from({ length: 1000 }, (_, n) => 1_000_000 + 500 * Math.floor(n / 25) + (n % 25));
  assert.match(write(rows).text, /^1000000-1000024,1000500-1000524,/);
});

/** So many ids that their bits take more characters than an address has, and their list 5,991. */
const FAR = Array.from({ length: 856 }, (_, n) => 100_000 + 50 * n);

test("a list is as long as an address may be, and says how many ids it holds", () => {
  const more = [...FAR, ...FAR.map((id) => id + 50_000)];
  const { text, kept } = write(more);
  assert.equal(kept, 857);
  assert.equal(text.length, MOST_CHARACTERS - 2);
  assert.deepEqual(read(text), more.slice(0, kept));
});

test("a run is kept as a whole or not at all", () => {
  assert.equal(write([...FAR, 5, 6, 7]).kept, 859);
  assert.equal(write([...FAR, 500_000, 500_001, 500_002]).kept, 856);
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
