import assert from "node:assert/strict";
import { test } from "node:test";
import { wayText } from "../../../assets/web/inspector/memory.js";
import { memoryOf, usesOfLevel } from "../../../assets/web/inspector/memory_uses.js";

/**
 * Node 1 allocates 1 MiB, 2 copies into it from the host, 3 is given its second half, 4 a word in it and the start of
 * another allocation.
 */
const HALF = 2 ** 19, MIB = 2 ** 20;
const uses = {
  header: null,
  use_node: Uint32Array.of(1, 2, 3, 4, 4, 2),
  use_place: Uint32Array.of(0, 0, 1, 2, 3, 4),
  use_reach: Uint32Array.of(2, 1, 1, 1, 1, 1),
  use_access: Uint8Array.of(3, 2, 0, 0, 0, 1),
  use_bytes: Float64Array.of(MIB, HALF, NaN, NaN, NaN, MIB),
  place_low: Uint32Array.of(0, HALF, MIB - 8, 64, 4096),
  place_high: Uint32Array.of(0x7f00, 0x7f00, 0x7f00, 0x7f01, 0),
  place_allocation: Int32Array.of(0, 0, 0, 1, -1),
  allocation_low: Uint32Array.of(0, 64), allocation_high: Uint32Array.of(0x7f00, 0x7f01),
  allocation_bytes: Float64Array.of(MIB, 4096), allocation_node: Int32Array.of(1, -1),
};

test("who else is given a node's memory, at the same address and elsewhere in it", () => {
  const { given: [own, ...others], more } = memoryOf(uses, 1);
  assert.deepEqual([others, more], [[], 0]);
  assert.deepEqual(own.allocation, { bytes: MIB, address: 0x7f0000000000n, node: 1 });
  assert.deepEqual(own.same, { count: 2, keys: [2, 3] });
  assert.deepEqual(own.near, { count: 1, keys: [4] });
  assert.deepEqual(own.ways.map(wayText), ["allocates 1.00 MiB at its start "]);
  assert.equal(own.ways[0].letter, "A");
});

test("memory of which no allocation is known comes last, with its address", () => {
  const { given: [, host] } = memoryOf(uses, 2);
  assert.equal(host.allocation, null);
  assert.deepEqual(host.ways.map(wayText), ["reads 1.00 MiB at 0x1000 "]);
  assert.equal(host.ways[0].letter, null, "nobody else is given it");
  assert.equal(host.near.count, 0);
});

test("an address that others have shares a place with what reaches over it", () => {
  const { given: [half] } = memoryOf(uses, 3);
  assert.deepEqual([half.same.keys, half.near.keys], [[1], [2, 4]]);
  assert.deepEqual(half.ways.map(wayText), ["is given 512 KiB into it "]);
  assert.deepEqual(memoryOf(uses, 9), { given: [], more: 0 });
});

test("a level has its part of the arrays of all", () => {
  const part = usesOfLevel(uses, { uses: [3, 5], places: [2, 4], allocations: [1, 2] });
  assert.deepEqual([Array.from(part.use_node), Array.from(part.place_low), Array.from(part.allocation_bytes)], [[4, 4], [MIB - 8, 64], [4096]]);
});
