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

/** The parts that were cut out, by their ranges: what is found out about one is kept with it. @type {WeakMap<object, Payload>} */
const parts = new WeakMap();

/** The part of a level in the arrays of all, the same each time. @param {Payload} whole @param {{uses: Range, places: Range, allocations: Range}} memory @returns {Payload} */
export function usesOfLevel(whole, memory) {
  const of = /** @type {Record<string, Range>} */ ({ use: memory.uses, place: memory.places, allocation: memory.allocations });
  const cut = () => Object.fromEntries(NAMES.map((name) => [name, whole[name].subarray(...of[name.split("_")[0]])]));
  const part = parts.get(memory) ?? { header: null, ...cut() };
  parts.set(memory, part);
  return part;
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

/** What of a level's uses serves every node: indexed once. */
class Index {
  /** @param {Payload} arrays */
  constructor(arrays) {
    const { use_node: nodes, use_place: places, use_reach: reach, place_allocation: allocations, allocation_low: { length: count } } = arrays;
    /** @type {number[]} uses of more than one place */ this.wide = [];
    /** Where each allocation's nodes begin among all. */ this.begin = new Uint32Array(count + 1);
    for (let use = 0; use < nodes.length; use++) {
      if (reach[use] > 1) this.wide.push(use);
      const at = allocations[places[use]];
      if (at >= 0) this.begin[at + 1]++;
    }
    for (let at = 0; at < count; at++) this.begin[at + 1] += this.begin[at];
    this.nodes = new Uint32Array(this.begin[count]);
    const free = this.begin.slice();
    for (let use = 0; use < nodes.length; use++) {
      const at = allocations[places[use]];
      if (at >= 0) this.nodes[free[at]++] = nodes[use];
    }
    /** @type {Map<number, Set<number>>} by allocation, of those that were asked for */ this.asked = new Map();
  }

  /** The nodes that are given something in an allocation, ascending. @param {number} at */
  nodesIn(at) {
    const found = this.asked.get(at) ?? new Set(this.nodes.slice(this.begin[at], this.begin[at + 1]).sort());
    this.asked.set(at, found);
    return found;
  }
}

/** @type {WeakMap<Payload, Index>} */
const indices = new WeakMap();

/** @param {Payload} arrays */
function indexOf(arrays) {
  const index = indices.get(arrays) ?? new Index(arrays);
  indices.set(arrays, index);
  return index;
}

/** Nodes in order, each once. @param {number[]} nodes */
const ascending = (nodes) => new Set(nodes.sort((one, other) => one - other));

/** @type {Set<number>} */
const NOBODY = new Set();

/** Nodes that are in order, without some. @param {Set<number>} nodes @param {Set<number>} [leftOut] @returns {Named} */
function named(nodes, leftOut = NOBODY) {
  /** @type {number[]} */ const keys = [];
  for (const node of nodes) {
    if (keys.length === NAMED) break;
    if (!leftOut.has(node)) keys.push(node);
  }
  return { count: nodes.size - Array.from(leftOut).filter((node) => nodes.has(node)).length, keys };
}

class Uses {
  /** @param {Payload} arrays @param {number} node by its number on the page */
  constructor(arrays, node) {
    this.arrays = arrays;
    this.node = node;
    /** @type {number[]} its uses, by place */ this.mine = [];
    this.index = indexOf(arrays);
    const { use_node: nodes } = arrays;
    for (let use = 0; use < nodes.length; use++) if (nodes[use] === node) this.mine.push(use);
  }

  /** @param {number} use */
  allocation(use) {
    return this.arrays.place_allocation[this.arrays.use_place[use]];
  }

  /** The uses that have a place in common with one, itself included. @param {number} use */
  overlapping(use) {
    const { use_place: place, use_reach: reach } = this.arrays;
    const first = place[use], last = first + reach[use];
    const found = this.index.wide.filter((other) => place[other] < first && place[other] + reach[other] > first);
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
    return { sure: uses.every((use) => sure.has(access[use])), nodes: named(ascending(uses.map((use) => node[use]))) };
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
    const same = ascending(uses.flatMap((use) => Array.from(this.sharing(use))));
    const start = at < 0 ? null : addressOf(arrays, "allocation", at), by = arrays.allocation_node[at];
    return {
      allocation: start === null ? null : { bytes: arrays.allocation_bytes[at], address: start, node: by < 0 ? null : by },
      ways: uses.slice(0, MOST).map((use) => this.way(use, start, letters)),
      moreWays: Math.max(0, uses.length - MOST),
      same: named(same, new Set([this.node])),
      near: at < 0 ? named(NOBODY) : named(this.index.nodesIn(at), same),
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
