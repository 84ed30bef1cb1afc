import assert from "node:assert/strict";
import { test } from "node:test";

import { Families } from "../../../assets/web/table/families.js";
import { Nodes } from "../../../assets/web/table/nodes.js";

/** @typedef {[number, string, number|null, string|null]} Line  number, family, median, range */

/** @param {Line[]} lines */
function nodesOf(lines) {
  const families = Array.from(new Set(lines.map(([, family]) => family)));
  return new Nodes({
    key: lines.map(([key]) => key), name: lines.map(([key]) => `kernel ${key}`), kind: lines.map(() => "KERNEL"),
    family: lines.map(([, family]) => families.indexOf(family)), families, slot: lines.map((_, at) => at), median_ns: lines.map(([, , ns]) => ns),
    launch_ns: lines.map(([, , ns]) => (ns === null ? null : 2 * ns)), share: lines.map(([, , ns]) => (ns === null ? null : ns / 1e5)),
    nvtx: lines.map(([, , , range]) => range),
  });
}

/** @param {Line[]} lines */
const familiesOf = (...lines) => {
  const nodes = nodesOf(lines);
  return new Families(nodes, nodes.ids);
};

const MIXED = familiesOf(
  [11, "gemm", 10_000, "forward › mlp"], [12, "add", 40_000, "forward"], [13, "gemm", 30_000, "backward"],
  [14, "copy", null, null], [15, "gemm", 20_000, null]);

const CLOSED = { by: "total_ns", falling: true, open: new Set() };

test("a family is a row with its sums and extremes", () => {
  const [gemm] = MIXED.arrange(CLOSED);
  const { count, total_ns: total, share, min_ns: least, max_ns: most, each, ranges, slot } = MIXED.row(gemm);
  assert.deepEqual([count, total, least, most, each, slot], [3, 120_000, 10_000, 30_000, "10.0 – 30.0", 0]);
  assert.ok(Math.abs(share - 0.6) < 1e-9 && MIXED.widest === share);
  assert.equal(ranges, "forward, backward");
  assert.deepEqual(MIXED.nodesOf(gemm), [11, 13, 15]);
  assert.ok(MIXED.isGroup(gemm) && !MIXED.isGroup(11));
  assert.deepEqual([MIXED.around(13), MIXED.around(99)], [gemm, null]);
});

test("rows are sorted by what they have either way, those without it last", () => {
  const names = (/** @type {string} */ by, falling = false) =>
    MIXED.arrange({ by, falling, open: new Set() }).map((row) => MIXED.row(row).name);
  assert.deepEqual(names("total_ns", true), ["gemm", "add", "copy"]);
  assert.deepEqual(names("total_ns"), ["add", "gemm", "copy"]);
  assert.deepEqual(names("label"), ["add", "copy", "gemm"]);
});

test("an open family has its nodes behind it, in the same order", () => {
  const [gemm, add, copy] = MIXED.arrange(CLOSED);
  const open = new Set([0]);
  assert.deepEqual(MIXED.arrange({ ...CLOSED, open }), [gemm, 13, 15, 11, add, copy]);
  assert.deepEqual(MIXED.arrange({ by: "max_ns", falling: false, open }), [gemm, 11, 15, 13, add, copy]);
  assert.deepEqual(MIXED.arrange({ by: "count", falling: true, open }), [gemm, 15, 13, 11, add, copy]);
  const node = MIXED.row(13);
  assert.deepEqual([node.total_ns, node.each, node.count, node.ranges], [60_000, "30.0", "", "backward"]);
});

test("hits are walked through in the order of the rows, in closed families too", () => {
  assert.deepEqual(MIXED.order(CLOSED), [13, 15, 11, 12, 14]);
});

test("what was not timed counts, and has no times", () => {
  const { count, total_ns: total, share, each } = MIXED.row(/** @type {number} */ (MIXED.around(14)));
  assert.deepEqual([count, total, share, each], [1, null, null, "–"]);
});

test("families keep their places where a search leaves few of them", () => {
  const nodes = nodesOf([[1, "a", 10, null], [2, "b", 20, null], [3, "b", 30, null]]);
  const left = new Families(nodes, [3]);
  const [row] = left.arrange({ ...CLOSED, open: new Set([1]) });
  assert.deepEqual(left.arrange({ ...CLOSED, open: new Set([1]) }), [row, 3]);
  assert.equal(left.row(row).count, 1);
  assert.equal(row, new Families(nodes, nodes.ids).around(3));
});

test("a family may be called what every object has, and equal times are one", () => {
  const rows = familiesOf([1, "constructor", 1000, null], [2, "__proto__", 2000, null], [3, "__proto__", 2000, null]);
  assert.deepEqual(rows.arrange(CLOSED).map((row) => rows.row(row).name), ["__proto__", "constructor"]);
  assert.equal(rows.row(rows.arrange(CLOSED)[0]).each, "2.00");
});

test("many ranges are counted", () => {
  const rows = familiesOf(...Array.from({ length: 5 }, (_, n) => /** @type {Line} */ ([n, "a", 1, `layer ${n} › mlp`])));
  assert.equal(rows.row(rows.arrange(CLOSED)[0]).ranges, "5 ranges");
});

test("families of 100,000 nodes cost less than listing them one by one", () => {
  const nodes = nodesOf(Array.from({ length: 100_000 }, (_, n) => [n, `family ${n % 12}`, (n * 7919) % 10_007, "forward"]));
  /** The shortest of three runs (ms): other processes take time too. @param {() => void} work */
  const took = (work) => Math.min(...[1, 2, 3].map(() => {
    const start = performance.now();
    work();
    return performance.now() - start;
  }));
  const families = took(() => new Families(nodes, nodes.ids).arrange({ ...CLOSED, open: new Set([3]) }));
  const listed = took(() => nodes.arrange({ search: "", only: null, by: "median_ns", falling: true }));
  assert.ok(families < listed, `${families} ms, listed ${listed} ms`);
});
