/**
 * Memory that a node is given, and who else is given it, out of the uses of its level. Python side:
 * gviz.app.views.dag.data_overlay.use_arrays.
 *
 * @typedef {{count: number, keys: number[]}} Named  how many nodes, and the first of them
 * @typedef {{sure: boolean, nodes: Named}} Neighbour  who had an address last or has it next; `sure`: it is known to write, or to read
 * @typedef {{letter: string|null, access: number, bytes: number, how: number, address: bigint, offset: number|null,
 *   position: number, byte: number, before: Neighbour|null, after: Neighbour|null}} Way
 *   `bytes` NaN: not known; `how`: gviz.model.memory.buffers.ExtentKind; `offset` in the allocation, null: none is known;
 *   `position` of the parameter, `byte` of the address in it
 * @typedef {{title: string, given: Given[], more: number}} Side  what a node reads, or writes, or either
 * @typedef {{allocation: {bytes: number, address: bigint, node: number|null}|null, ways: Way[], moreWays: number, same: Named, near: Named}} Given
 *   what a node is given in one allocation; `same`: who has the same addresses, `near`: who has others in it
 */
/** @import { Payload } from "../core/payload.js" */

/** Allocations of one node that are listed, and ways to addresses in each. */
const MOST = 6;
/** Nodes that are named. */
const NAMED = 12;
/** Accesses by gviz.model.memory.uses.Access: what surely writes, what surely reads only, what allocates and frees. */
const WRITES = new Set([2]), READS = new Set([1, 6]), LIVES = new Set([3, 4]);
/** Accesses of each side. @type {[string, number[]][]} */
const SIDES = [["Inputs", [1, 6]], ["Outputs", [2]], ["Inputs or outputs", [0, 5]], ["Memory", [3, 4]]];
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const NAMES = [
  "use_node", "use_place", "use_reach", "use_access", "use_order", "use_position", "use_offset", "use_extent", "use_how",
  "place_low", "place_high", "place_allocation", "allocation_low", "allocation_high", "allocation_bytes", "allocation_node",
];

/** @typedef {[number, number]} Range  from, to before */

/** The part of a level in the arrays of all. @param {Payload} whole @param {{uses: Range, places: Range, allocations: Range}} memory @returns {Payload} */
export function usesOfLevel(whole, { uses, places, allocations }) {
  const of = /** @type {Record<string, Range>} */ ({ use: uses, place: places, allocation: allocations });
  const parts = NAMES.map((name) => [name, whole[name].subarray(...of[name.split("_")[0]])]);
  return { header: null, ...Object.fromEntries(parts) };
}

/** @param {Payload} uses @param {"place"|"allocation"} what @param {number} at */
const addressOf = (uses, what, at) => (BigInt(uses[`${what}_high`][at]) << 32n) | BigInt(uses[`${what}_low`][at]);

/** The first that is not less, among ascending numbers. @param {ArrayLike<number>} values @param {number} wanted */
function lowerBound(values, wanted) {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Of each level's uses the nodes that are given something in each allocation, in order. @type {WeakMap<Payload, Map<number, number[]>>} */
const known = new WeakMap();

/** The nodes that are given something in each allocation, looked for once. @param {Payload} arrays */
function nodesIn(arrays) {
  const before = known.get(arrays);
  if (before) return before;
  /** @type {Map<number, Set<number>>} */ const found = new Map();
  const { use_node: nodes, use_place: places, place_allocation: allocations } = arrays;
  for (let use = 0; use < nodes.length; use++) {
    const at = allocations[places[use]];
    const inside = found.get(at);
    if (inside) inside.add(nodes[use]);
    else found.set(at, new Set([nodes[use]]));
  }
  const made = new Map(Array.from(found, ([at, inside]) => [at, Array.from(inside).sort((one, other) => one - other)]));
  known.set(arrays, made);
  return made;
}

/** Nodes in order, without some. @param {Iterable<number>} nodes @param {(node: number) => boolean} isLeftOut @returns {Named} */
function named(nodes, isLeftOut) {
  const keys = Array.from(nodes).filter((node) => !isLeftOut(node)).sort((one, other) => one - other);
  return { count: keys.length, keys: keys.slice(0, NAMED) };
}

class Uses {
  /** @param {Payload} arrays @param {number} node by its number on the page */
  constructor(arrays, node) {
    this.arrays = arrays;
    this.node = node;
    /** @type {number[]} its uses, by place */ this.mine = [];
    /** @type {number[]} uses of more than one place */ this.wide = [];
    const { use_node: nodes, use_reach: reach } = arrays;
    for (let use = 0; use < nodes.length; use++) {
      if (nodes[use] === node) this.mine.push(use);
      if (reach[use] > 1) this.wide.push(use);
    }
  }

  /** @param {number} use */
  allocation(use) {
    return this.arrays.place_allocation[this.arrays.use_place[use]];
  }

  /** The uses that have a place in common with one, itself included. @param {number} use */
  overlapping(use) {
    const { use_place: place, use_reach: reach } = this.arrays;
    const first = place[use], last = first + reach[use];
    const found = this.wide.filter((other) => place[other] < first && place[other] + reach[other] > first);
    for (let at = lowerBound(place, first), end = lowerBound(place, last); at < end; at++) found.push(at);
    return found;
  }

  /** The nodes that have a place in common with a use, its own included. @param {number} use @returns {Set<number>} */
  sharing(use) {
    return new Set(this.overlapping(use).map((other) => this.arrays.use_node[other]));
  }

  /** Who had the memory of a use last, in the order of the graph, other than to read it. @param {number} use @returns {Neighbour|null} */
  before(use) {
    const { use_order: order, use_access: access } = this.arrays;
    const found = this.overlapping(use).filter((other) => order[other] < order[use] && !READS.has(access[other]) && !LIVES.has(access[other]));
    if (!found.length) return null;
    const latest = Math.max(...found.map((other) => order[other]));
    return this.neighbour(found.filter((other) => order[other] === latest), WRITES);
  }

  /** Who has it next: those that surely read only, up to the next that may write; that too, where it may read as well. @param {number} use @returns {Neighbour|null} */
  after(use) {
    const { use_order: order, use_access: access } = this.arrays;
    const later = this.overlapping(use).filter((other) => order[other] > order[use]);
    const until = Math.min(...later.filter((other) => !READS.has(access[other])).map((other) => order[other]));
    const found = later.filter((other) => order[other] <= until && !WRITES.has(access[other]) && !LIVES.has(access[other]));
    return found.length ? this.neighbour(found, READS) : null;
  }

  /** @param {number[]} uses @param {Set<number>} sure @returns {Neighbour} */
  neighbour(uses, sure) {
    const { use_node: node, use_access: access } = this.arrays;
    return { sure: uses.every((use) => sure.has(access[use])), nodes: named(new Set(uses.map((use) => node[use])), () => false) };
  }

  /** A letter for each place and reach that others have too, by place: the graph gives the same (dag/scene/uses.js). */
  letters() {
    const { use_place: place, use_reach: reach } = this.arrays;
    /** @type {Map<string, [number, number]>} */ const shared = new Map();
    for (const use of this.mine) {
      if (this.sharing(use).size > 1) shared.set(`${place[use]} ${reach[use]}`, [place[use], reach[use]]);
    }
    const sorted = Array.from(shared).sort(([, a], [, b]) => a[0] - b[0] || a[1] - b[1]);
    return new Map(sorted.slice(0, LETTERS.length).map(([key], at) => [key, LETTERS[at]]));
  }

  /** @param {number[]} uses in one allocation @param {Map<string, string>} letters @returns {Given} */
  given(uses, letters) {
    const { arrays } = this, at = this.allocation(uses[0]);
    const same = new Set(uses.flatMap((use) => Array.from(this.sharing(use))));
    const near = at < 0 ? [] : nodesIn(arrays).get(at) ?? [];
    const start = at < 0 ? null : addressOf(arrays, "allocation", at), by = arrays.allocation_node[at];
    return {
      allocation: start === null ? null : { bytes: arrays.allocation_bytes[at], address: start, node: by < 0 ? null : by },
      ways: uses.slice(0, MOST).map((use) => this.way(use, start, letters)),
      moreWays: Math.max(0, uses.length - MOST),
      same: named(same, (node) => node === this.node),
      near: named(near, (node) => node === this.node || same.has(node)),
    };
  }

  /** @param {number} use @param {bigint|null} start @param {Map<string, string>} letters @returns {Way} */
  way(use, start, letters) {
    const { use_place: place, use_reach: reach, use_access: access, use_extent: bytes, use_how: how, use_position: position, use_offset: byte } = this.arrays;
    const where = addressOf(this.arrays, "place", place[use]);
    return {
      letter: letters.get(`${place[use]} ${reach[use]}`) ?? null, access: access[use], bytes: bytes[use], how: how[use], address: where,
      offset: start === null ? null : Number(where - start), position: position[use], byte: byte[use],
      before: this.before(use), after: this.after(use),
    };
  }

  /** Some uses of the node, allocation by allocation; memory of which none is known comes last. @param {number[]} mine @param {Map<string, string>} letters */
  byAllocation(mine, letters) {
    /** @type {Map<number, number[]>} */ const groups = new Map();
    for (const use of mine) groups.set(this.allocation(use), [...(groups.get(this.allocation(use)) ?? []), use]);
    const order = Array.from(groups.keys()).sort((a, b) => Number(a < 0) - Number(b < 0) || a - b);
    const given = order.slice(0, MOST).map((at) => this.given(/** @type {number[]} */ (groups.get(at)), letters));
    return { given, more: Math.max(0, order.length - MOST) };
  }
}

/**
 * What a node is given: what it reads, what it writes, and what no one knows it to do either of.
 * @param {Payload} arrays of its level @param {number} node by its number on the page
 * @returns {Side[]} those that there are
 */
export function memoryOf(arrays, node) {
  const uses = new Uses(arrays, node), letters = uses.letters();
  return SIDES.flatMap(([title, kinds]) => {
    const mine = uses.mine.filter((use) => kinds.includes(arrays.use_access[use]));
    return mine.length ? [{ title, ...uses.byAllocation(mine, letters) }] : [];
  });
}
