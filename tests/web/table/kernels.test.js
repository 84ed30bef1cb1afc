import assert from "node:assert/strict";
import { test } from "node:test";

import { group, Kernels } from "../../../assets/web/table/kernels.js";

/** @param {number} key @param {string} name @param {number|null} ns @param {string} kernel */
const row = (key, name, ns, kernel = `${name}<float>`) => ({
  key, name, label: name.toUpperCase(), kernel, slot: 3, kind: "KERNEL", median_ns: ns, launch_ns: ns === null ? null : 2 * ns,
  share: ns === null ? null : ns / 100, body: null,
});

test("rows of one name are one, with their sums and extremes", () => {
  const [gemm, add] = group([row(1, "gemm", 10), row(2, "add", 4), row(3, "gemm", 30), row(4, "gemm", 11)]);
  assert.deepEqual(gemm, {
    id: "name gemm", name: "gemm", label: "GEMM", kernel: "gemm<float>", slot: 3, nodes: [1, 3, 4], count: 3, total_ns: 102,
    share: 0.51, median_ns: 11, min_ns: 10, max_ns: 30,
  });
  assert.equal(add.median_ns, 4);
});

test("what was not timed counts, and has no times", () => {
  const [one, none] = group([row(1, "a", 10), row(2, "a", null), row(3, "b", null)]);
  assert.deepEqual([one.count, one.total_ns, one.median_ns], [2, 20, 10]);
  assert.deepEqual([none.total_ns, none.share, none.median_ns, none.min_ns, none.max_ns], [null, null, null, null, null]);
});

test("kernels that share a short name are counted", () => {
  const [one] = group([row(1, "gemm", 1, "gemm<float>"), row(2, "gemm", 2, "gemm<half>")]);
  assert.equal(one.kernel, "2 kernels of this short name, such as gemm<float>");
  assert.equal(one.median_ns, 1.5);
});

test("a kernel may be called what every object has", () => {
  assert.deepEqual(group([row(1, "constructor", 1), row(2, "__proto__", 2)]).map(({ name }) => name), ["constructor", "__proto__"]);
});

test("rows are sorted by what they have, either way", () => {
  const kernels = new Kernels([row(1, "gemm", 10), row(2, "add", 40), row(3, "gemm", 30), row(4, "copy", null)]);
  const names = (/** @type {string} */ by, falling = false) =>
    kernels.arrange({ by, falling }).map((place) => kernels.row(place).name);
  assert.deepEqual(names("total_ns", true), ["gemm", "add", "copy"]);
  assert.deepEqual(names("name"), ["add", "copy", "gemm"]);
  assert.deepEqual(kernels.nodesOf(kernels.arrange({ by: "count", falling: true })[0]), [1, 3]);
});
