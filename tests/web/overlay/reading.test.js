import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { Targets } from "../../../assets/web/overlay/read/targets.js";
import { readOverlay } from "../../../assets/web/overlay/reading.js";
import { Nodes } from "../../../assets/web/table/nodes.js";

const GEMM = "void net::(anonymous namespace)::gemm<4, float>(float const*, int)";
const NODES = {
  key: [1, 2, 3], node: [1, 2, 3], name: ["gemm<float>", "gemm<float>", "copy"], label: ["GEMM f32", "GEMM f32", "copy"],
  kernel: [GEMM, GEMM, "copy"], nvtx: ["forward › layer 0", "forward › layer 0 › mlp", "forward › layer 1"],
};
const LAYERS = [{ label: "layer 0", nodes: [1, 2] }, { label: "layer 1", nodes: [3] }];

/** The bytes of a text, some at a time. @param {string} text @param {number} each */
function streamOf(text, each) {
  const bytes = new TextEncoder().encode(text);
  return new ReadableStream({
    start(to) {
      for (let from = 0; from < bytes.length; from += each) to.enqueue(bytes.slice(from, from + each));
      to.close();
    },
  });
}

/** @param {string} name @param {() => ReadableStream<Uint8Array>} open @param {Targets} [targets] */
const readFrom = (name, open, targets = new Targets(new Nodes(NODES), LAYERS)) =>
  readOverlay({ source: { name, open: async () => open() }, side: "", title: name }, targets);

/** @param {string} text @param {number} [each] @param {string} [name] */
const read = (text, each = 7, name = "a.csv") => readFrom(name, () => streamOf(text, each));

const CASES = JSON.parse(readFileSync(new URL("../../overlays.json", import.meta.url), "utf-8"));
for (const { title, text, file, error, rows, matched, unmatched, columns, units = {}, how } of CASES) {
  // Wherever a text is cut, it is the same text.
  for (const each of [1, 5, 4096]) {
    test(`${title}, ${each} bytes at a time`, async () => {
      if (error) return assert.rejects(read(text, each, file), { message: error });
      const overlay = await read(text, each, file);
      assert.equal(overlay.rowCount, rows);
      assert.equal(overlay.matchedCount, matched);
      assert.deepEqual(overlay.unmatched.map(({ line, key }) => [line, key]), unmatched);
      const found = overlay.columns.map((column) => [column.name, Object.fromEntries(
        NODES.key.map((id) => [id, column.of(id)]).filter(([, value]) => value !== null))]);
      assert.deepEqual(Object.fromEntries(found), columns);
      if (how) assert.deepEqual(Object.fromEntries(overlay.how), how);
      for (const [name, unit] of Object.entries(units)) {
        assert.equal(overlay.columns.find((column) => column.name === name)?.measure.unit, unit);
      }
    });
  }
}

test("what nodes have together is spread over them, what each has is added up, a part of a whole is a mean", async () => {
  const [energy] = (await read("range,energy\nlayer 0,8\nlayer 1,6\n")).columns;
  assert.deepEqual([energy.of(1), energy.partOf(1), energy.over([1]), energy.over([1, 2, 3]), energy.over([])], [8, 4, 4, 14, null]);
  const [bytes, share] = (await read("name,bytes,hit_rate\ngemm<float>,10,50\ncopy,4,80\n")).columns;
  assert.deepEqual([bytes.over([1, 2, 3]), share.over([1, 3]), share.isSummed], [24, 65, false]);
});

test("a node has the value of the fewest nodes", async () => {
  const [ms] = (await read("range,ms\nforward,9\nlayer 0/mlp,2\n")).columns;
  assert.deepEqual([1, 2, 3].map((id) => ms.of(id)), [9, 2, 9]);
  assert.deepEqual([ms.partOf(1), ms.partOf(2)], [4.5, 2]);
});

test("a short name is any kernel's of that name, one with arguments only its own", async () => {
  const overlay = await read("name,x\ngemm,1\ngemm<double>,2\n");
  assert.deepEqual([overlay.matchedCount, Object.fromEntries(overlay.how)], [1, { "function name": 1 }]);
});

test("rows are counted in words, with those that match no node", async () => {
  assert.equal((await read("node,x\n1,1\n7,1\n")).words(), "2 rows, 1 match no node. On 1 node: 1 by id.");
});

test("at most 20 rows without a node are listed, all are counted", async () => {
  const overlay = await read(`node,x\n${Array.from({ length: 50 }, (_, n) => `${n + 100},1`).join("\n")}`);
  assert.deepEqual([overlay.unmatched.length, overlay.rowCount - overlay.matchedCount, overlay.words()],
    [20, 50, "50 rows, 50 match no node. "]);
});

test("values are written in the units that pages have, others as they are", async () => {
  const overlay = await read("node,a [usecond],b [Mbyte],c [%],d [inst],e\n1,1500,2,12.34,1234567,0.5\n");
  assert.deepEqual(overlay.columns.map((column) => column.write(column.of(1))),
    ["1.50 ms", "1.91 MiB", "12.3%", "1,234,567 inst", "0.500"]);
});

test("no more rows than a million, no more columns than a thousand, no other texts than UTF-8", async () => {
  await assert.rejects(read(`node,x\n${"1,1\n".repeat(1_000_001)}`, 1 << 20), { message: "more than 1,000,000 rows, the most that are taken" });
  const names = Array.from({ length: 1_001 }, (_, n) => `c${n}`);
  await assert.rejects(read(`node,${names.join()}\n1,${names.join()}\n`), /more than 1,000 columns/);
  await assert.rejects(readFrom("a.csv", () => new Blob([new Uint8Array([110, 255, 254])]).stream()), /UTF-8/);
  await assert.rejects(read("PAR1 and so on", 99, "x.parquet"), { message: "it is a Parquet file: gviz view --overlay x.parquet reads it" });
});

test("the page has its turns while many rows are read", async () => {
  const count = 20_000;
  const ids = Array.from({ length: count }, (_, n) => n);
  const names = ids.map((n) => `k${n % 50}`);
  const nodes = { key: ids, node: ids, name: names, label: names, kernel: names, nvtx: ids.map(() => null) };
  const lines = Array.from({ length: 300_000 }, (_, n) => `${n % count},${n % 7},${n % 3}\n`);
  let turns = 0;
  const ticking = setInterval(() => (turns += 1));
  const text = `node,a,b\n${lines.join("")}`;
  const overlay = await readFrom("a.csv", () => streamOf(text, 1 << 20), new Targets(new Nodes(nodes), []));
  clearInterval(ticking);
  assert.deepEqual([overlay.matchedCount, overlay.nodeCount], [300_000, count]);
  // About 300 ms of work, a turn every 10 ms.
  assert.ok(turns > 8, `${turns} turns`);
});
