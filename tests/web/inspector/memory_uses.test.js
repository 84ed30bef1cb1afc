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
  use_order: Uint32Array.of(0, 1, 2, 3, 3, 1),
  use_position: Uint32Array.of(0, 0, 0, 1, 1, 1), use_offset: Uint32Array.of(0, 0, 0, 16, 24, 0),
  use_extent: Float64Array.of(MIB, HALF, HALF - 8, 8, NaN, MIB), use_how: Uint8Array.of(1, 1, 3, 4, 0, 1),
  place_low: Uint32Array.of(0, HALF, MIB - 8, 64, 4096),
  place_high: Uint32Array.of(0x7f00, 0x7f00, 0x7f00, 0x7f01, 0),
  place_allocation: Int32Array.of(0, 0, 0, 1, -1),
  allocation_low: Uint32Array.of(0, 64), allocation_high: Uint32Array.of(0x7f00, 0x7f01),
  allocation_bytes: Float64Array.of(MIB, 4096), allocation_node: Int32Array.of(1, -1),
};

/** The lines of a side. @param {import("../../../assets/web/inspector/memory_uses.js").Given} given */
const lines = (given, words = []) => given.ways.map((way) => wayText(way, words));

test("who else is given a node's memory, at the same address and elsewhere in it", () => {
  const [{ title, given: [own, ...others], more }, ...sides] = memoryOf(uses, 1);
  assert.deepEqual([title, sides, others, more], ["Memory", [], [], 0]);
  assert.deepEqual(own.allocation, { bytes: MIB, address: 0x7f0000000000n, node: 1 });
  assert.deepEqual(own.same, { count: 2, keys: [2, 3] });
  assert.deepEqual(own.near, { count: 1, keys: [4] });
  assert.deepEqual(lines(own), ["allocates 1.00 MiB at its start "]);
  assert.equal(own.ways[0].letter, "A");
});

test("what a copy reads is an input and what it writes an output", () => {
  const [inputs, outputs, ...others] = memoryOf(uses, 2);
  assert.deepEqual([inputs.title, outputs.title, others], ["Inputs", "Outputs", []]);
  const [host] = inputs.given;
  assert.equal(host.allocation, null);
  assert.deepEqual(lines(host), ["reads 1.00 MiB at 0x1000 "]);
  assert.equal(host.ways[0].letter, null, "nobody else is given it");
  assert.equal(host.near.count, 0);
  const [{ before, after }] = outputs.given[0].ways;
  assert.deepEqual([before, after], [null, null], "allocating is no writing");
});

test("an address that others have shares a place with what reaches over it", () => {
  const [{ title, given: [half] }] = memoryOf(uses, 3);
  assert.equal(title, "Inputs or outputs");
  assert.deepEqual([half.same.keys, half.near.keys], [[1], [2, 4]]);
  assert.deepEqual(lines(half, [{ text: "half* out" }]), ["half* out: is given at most 512 KiB (to the next address in use) at 512 KiB into it "]);
  assert.deepEqual(memoryOf(uses, 9), []);
});

test("an address inside a structure says at which byte it stands", () => {
  const [{ given: [first, last] }] = memoryOf(uses, 4);
  const words = [{ text: "int = 1" }, { text: "Params (1.68 KiB)" }];
  assert.deepEqual(lines(first, words), ["Params (1.68 KiB) at byte 16: is given at most 8 B (to the end of the allocation) at 1,024 KiB into it "]);
  assert.deepEqual(lines(last, words), ["Params (1.68 KiB) at byte 24: is given its start "]);
});

test("who wrote a buffer last, and who reads it until it is written again", () => {
  // Node 1 writes, 2 reads it as a pointer to const, 3 is given it, 4 writes it anew, 5 reads that.
  const chain = {
    ...uses, use_node: Uint32Array.of(1, 2, 3, 4, 5), use_order: Uint32Array.of(0, 1, 2, 3, 4), use_place: new Uint32Array(5), use_reach: new Uint32Array(5).fill(1),
    use_access: Uint8Array.of(2, 6, 0, 2, 6), use_position: new Uint32Array(5), use_offset: new Uint32Array(5),
    use_extent: new Float64Array(5).fill(64), use_how: new Uint8Array(5).fill(1),
  };
  const way = (/** @type {number} */ node) => memoryOf(chain, node)[0].given[0].ways[0];
  const one = (/** @type {boolean} */ sure, /** @type {number[]} */ ...keys) => ({ sure, nodes: { count: keys.length, keys } });
  assert.deepEqual([way(1).before, way(1).after], [null, one(false, 2, 3)]);
  assert.deepEqual([way(2).before, way(2).after], [one(true, 1), one(false, 3)]);
  assert.deepEqual([way(4).before, way(4).after], [one(false, 3), one(true, 5)], "what is only read is not written");
  assert.deepEqual(memoryOf(chain, 5)[0].title, "Inputs");
});

test("a level has its part of the arrays of all, and what is found out about it is kept", () => {
  /** @type {Parameters<typeof usesOfLevel>[1]} */ const memory = { uses: [3, 5], places: [2, 4], allocations: [1, 2] };
  const part = usesOfLevel(uses, memory);
  assert.equal(usesOfLevel(uses, memory), part, "a part of its own for each question would be indexed each time");
  assert.deepEqual([Array.from(part.use_node), Array.from(part.place_low), Array.from(part.allocation_bytes)], [[4, 4], [MIB - 8, 64], [4096]]);
});
