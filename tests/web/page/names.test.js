import assert from "node:assert/strict";
import { test } from "node:test";

import { Blocks } from "../../../assets/web/breakdown/blocks.js";
import { Group } from "../../../assets/web/core/bus.js";
import { Names } from "../../../assets/web/page/names.js";
import { Requests } from "../../../assets/web/page/requests.js";
import { Nodes } from "../../../assets/web/table/nodes.js";

/** Nodes 10 to 49: two kernels in turn, of one family; four layers of ten, two in each of two phases. */
const KEYS = Array.from({ length: 40 }, (_, n) => 10 + n);
const NODES = new Nodes({
  key: KEYS, name: KEYS.map((id) => (id % 2 ? "odd<a:b>" : "even")), kind: KEYS.map(() => "KERNEL"),
  family: KEYS.map((id) => Number(id >= 45)), families: ["gemm", "copy, in turn"],
  nvtx: KEYS.map((id) => (id < 30 ? `forward › layer ${Math.floor(id / 10)}` : id < 48 ? "backward" : null)),
});
const where = (/** @type {(id: number) => boolean} */ wanted) => KEYS.filter(wanted);

/** "first" and "second" with layers 0 and 1 each; of the second the last two nodes are in none. */
function blocksOf() {
  const ends = [20, 40, 10, 20, 30, 38, 40];
  const firsts = [0, 20, 0, 10, 20, 30, 38];
  const floats = new Float64Array(7).fill(1);
  return new Blocks(/** @type {any} */ ({
    header: { whole: ["phase", "layer"], launch_ns: 7, idle_ns: 0, strings: ["first", "second", "layer 0", "layer 1", ""] },
    whole_node: Uint32Array.from(KEYS), whole_row: Uint8Array.of(0, 0, 1, 1, 1, 1, 1), whole_label: Uint32Array.of(0, 1, 2, 3, 2, 3, 4),
    whole_parent: Uint32Array.of(0, 0, 0, 0, 1, 1, 1), whole_first: Uint32Array.from(firsts), whole_end: Uint32Array.from(ends),
    whole_executions: Uint32Array.from(firsts), whole_total_ns: floats, whole_cover_ns: floats, whole_width_ns: floats,
    whole_slot: new Uint8Array(7).fill(255),
  }), "whole");
}

const BLOCKS = [blocksOf()];
const SETS = [{ name: "finding:1", nodes: [49, 11, 13, 17, 25] }, { name: "fold:r0", nodes: Uint32Array.of(12, 14, 18, 33, 34) }];
/** @param {{nodes?: Nodes|null, blocks?: Blocks[]}} [there] */
const names = ({ nodes = NODES, blocks = BLOCKS } = {}) => new Names({ nodes: () => nodes, blocks: () => blocks, sets: () => SETS });

/** @type {[string[], number[]][]} */
const CASES = [
  [["family:copy, in turn"], where((id) => id >= 45)],
  [["kernel:odd<a:b>"], where((id) => id % 2 === 1)],
  [["kind:KERNEL"], KEYS],
  [["phase:second"], where((id) => id >= 30)],
  [["layer:layer 1"], where((id) => (id >= 20 && id < 30) || (id >= 40 && id < 48))],
  [["block:first › layer 1"], where((id) => id >= 20 && id < 30)],
  [["block:first › layer 0", "block:second › layer 1"], where((id) => id < 20 || (id >= 40 && id < 48))],
  [["nvtx:backward"], where((id) => id >= 30 && id < 48)],
  [["block:first › layer 1", "family:copy, in turn"], where((id) => (id >= 20 && id < 30) || id >= 45)],
  [["kernel:even", "phase:second", "id:11,13"], where((id) => id >= 30 || id % 2 === 0 || id === 11 || id === 13)],
  [["block:second › layer 0", "finding:1"], where((id) => (id >= 30 && id < 40) || [11, 13, 17, 25, 49].includes(id))],
  [["finding:1"], [11, 13, 17, 25, 49]],
  [["fold:r0"], [34, 33, 18, 14, 12]],
];

test("a selection has the name of what it is, and the name leads back to its nodes", () => {
  for (const [wanted, ids] of CASES) {
    assert.deepEqual(names().namesOf(ids), wanted);
    const found = new Set(wanted.flatMap((name) => names().nodesOf(name) ?? []));
    assert.deepEqual(Array.from(found).toSorted((a, b) => a - b), ids.toSorted((a, b) => a - b));
  }
});

test("a range of many layers is named by itself", () => {
  const nvtx = KEYS.map((id) => `layer ${id % 5} › ${id % 2 ? "mlp" : "attention"}`);
  const known = names({ nodes: new Nodes({ key: KEYS, kind: KEYS.map(() => "KERNEL"), nvtx }), blocks: [] });
  const odd = where((id) => id % 2 === 1);
  assert.deepEqual(known.namesOf(odd), ["range:mlp"]);
  assert.deepEqual(known.nodesOf("range:mlp"), odd);
  assert.deepEqual(known.nodesOf("range:layer 1 › mlp"), where((id) => id % 10 === 1));
  assert.deepEqual([known.nodesOf("range:layer 1"), known.nodesOf("nvtx:layer 1")?.length], [null, 8]);
});

test("what is no such set has no name, nor have few nodes", () => {
  const odd = where((id) => id % 2 === 1);
  for (const ids of [odd.slice(1), [...odd.slice(0, -1), 10], [...odd, 999], [], [45, 46, 47]]) assert.deepEqual(names().namesOf(ids), []);
});

test("a name that is not there leads to nothing", () => {
  for (const name of ["layer:layer 9", "kernel:", "nvtx:forw", "finding:2", "nonsense", "constructor:x"]) assert.equal(names().nodesOf(name), null);
  assert.equal(names({ nodes: null }).nodesOf("kernel:even"), null);
});

test("a filter without a name is its ids", () => {
  assert.deepEqual(names().filterOf([10, 12, 13, 14, 15, 31]), ["id:10,12-15,31"]);
  assert.deepEqual(names().nodesOf("id:10,12-15,31,999"), [10, 12, 13, 14, 15, 31]);
  assert.deepEqual(names().filterOf(where((id) => id % 2 === 0)), ["kernel:even"]);
});

/** A page that learns what it knows by and by. @param {Record<string, string[]>} requested */
function page(requested) {
  const there = { nodes: /** @type {Nodes|null} */ (null), blocks: /** @type {Blocks[]} */ ([]), isComing: true };
  const known = new Names({ nodes: () => there.nodes, blocks: () => there.blocks, sets: () => [] });
  const group = new Group();
  /** @type {string[][]} */
  const missed = [];
  const host = { names: known, isComing: () => there.isComing, miss: (/** @type {string[]} */ some) => missed.push(some) };
  return { there, group, missed, requests: new Requests(group, host, requested) };
}

const NONE = /** @type {import("../../../assets/web/page/address.js").State} */ (/** @type {any} */ ({ node: [], brush: null }));

globalThis.document ??= /** @type {any} */ ({ dispatchEvent: () => true });

test("what is asked for stays in the address until it can be selected", () => {
  const { there, group, requests } = page({ select: ["layer:layer 1"], filter: ["kernel:even"] });
  there.nodes = NODES;
  requests.settle();
  assert.deepEqual([group.selected, group.filtered?.length], [[], 20]);
  assert.deepEqual(requests.named(NONE), { select: ["layer:layer 1"], filter: ["kernel:even"] });
  there.blocks = BLOCKS;
  requests.settle();
  assert.equal(group.selected.length, 18);
  assert.deepEqual(requests.named({ ...NONE, node: group.selected }).select, ["layer:layer 1"]);
});

test("a filter that an address has no room for is known", () => {
  const key = Array.from({ length: 3_000 }, (_, n) => 100 + n * n);
  const { there, group, requests } = page({});
  there.nodes = new Nodes({ key, kind: key.map(() => "KERNEL") });
  group.filter(key.filter((_, n) => n % 3 === 0));
  assert.ok(requests.isUnfiltered(NONE) && !requests.isUnfiltered({ ...NONE, brush: { from: 1, to: 2, side: "graph" } }));
  group.filter(key);
  assert.ok(!requests.isUnfiltered(NONE));
});

test("what a reader selects meanwhile is not taken away", () => {
  const { there, group, requests } = page({ select: ["layer:layer 1"] });
  group.select([10]);
  requests.hear({ selected: true, filtered: false });
  Object.assign(there, { nodes: NODES, blocks: BLOCKS });
  requests.settle();
  assert.deepEqual(group.selected, [10]);
});

test("a name that leads to nothing is said once nothing more comes, and the rest selected", () => {
  const { there, group, missed, requests } = page({ select: ["kernel:even", "layer:layer 9"] });
  Object.assign(there, { nodes: NODES, blocks: BLOCKS });
  requests.settle();
  assert.deepEqual([group.selected, missed], [[], []]);
  there.isComing = false;
  requests.settle();
  assert.deepEqual([group.selected.length, missed], [20, [["layer:layer 9"]]]);
  assert.deepEqual(requests.named(NONE).select, []);
});
