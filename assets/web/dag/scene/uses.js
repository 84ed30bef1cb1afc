/**
 * Users of memory: uses of addresses by nodes. Python side: gviz.app.views.dag.data_overlay.
 *
 * A buffer is what one node is given and others are given too: the uses that overlap one of its
 * own. Places are addresses that uses start at, in order; a use covers `reach` of them.
 *
 * @typedef {{text: string, letter: string, place: number, bytes: number, items: number[],
 *   links: [number, number][], colour?: number}} Buffer  items in the order of the graph; links as of dag/scene/flow.js
 */
import * as format from "../../core/format.js";
import * as dataFlow from "./flow.js";
/** @import { Payload } from "../../core/payload.js" */
/** @import { DagScene } from "./scene.js" */

/** Values of gviz.model.memory.uses.Access. */
export const ACCESS = ["is given", "reads", "writes", "allocates", "frees", "is given", "reads"];
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/**
 * Starts of groups in a sorted array of numbers below `count`.
 * @param {Uint32Array} numbers @param {number} count
 */
function startsOf(numbers, count) {
  const start = new Uint32Array(count + 1);
  for (const n of numbers) start[n + 1] += 1;
  for (let n = 0; n < count; n++) start[n + 1] += start[n];
  return start;
}

export class DataUses {
  /** @param {Payload} payload @param {DagScene} scene */
  constructor(payload, scene) {
    this.payload = payload;
    this.scene = scene;
    /** @type {Uint32Array} */ this.node = payload.use_node;
    /** @type {Uint32Array} */ this.place = payload.use_place;
    /** @type {Uint32Array} */ this.reach = payload.use_reach;
    /** @type {Uint8Array} */ this.access = payload.use_access;
    /** @type {Float64Array} */ this.bytes = payload.use_bytes;
    /** @type {number} */ this.placeCount = payload.place_low.length;
    this.start = startsOf(this.place, this.placeCount);
    /** @type {number[]} */ this.wide = [];
    for (let u = 0; u < this.reach.length; u++) if (this.reach[u] > 1) this.wide.push(u);
  }

  /** Uses by item, those of nodes that the scene lacks behind the last: made at the first selection. */
  byItem() {
    if (this.items) return this.items;
    const { index, count } = this.scene;
    const item = Uint32Array.from(this.node, (id) => index.get(id) ?? count);
    const start = startsOf(item, count + 1);
    const next = start.slice();
    const uses = new Uint32Array(item.length);
    for (let u = 0; u < item.length; u++) uses[next[item[u]]++] = u;
    return (this.items = { item, start, uses });
  }

  /** @param {number} i */
  usesOf(i) {
    const { start, uses } = this.byItem();
    return uses.subarray(start[i], start[i + 1]);
  }

  /**
   * The uses that overlap the places from `first` to before `last`.
   * @param {number} first @param {number} last
   */
  overlapping(first, last) {
    const found = this.wide.filter((u) => this.place[u] < first && this.place[u] + this.reach[u] > first);
    for (let u = this.start[first]; u < this.start[last]; u++) found.push(u);
    return found;
  }

  /**
   * Items of uses in the order of the graph, each once.
   * @param {number[]} uses
   */
  itemsOf(uses) {
    const { item } = this.byItem();
    const order = this.payload.use_order;
    const sorted = uses.slice().sort((a, b) => order[a] - order[b] || this.node[a] - this.node[b]);
    return Array.from(new Set(sorted.map((u) => item[u]).filter((i) => i < this.scene.count)));
  }

  /**
   * What items have in common with others, by place; letters as gviz.app.inspector.node_memory gives them.
   * @param {number[]} items
   * @returns {Buffer[]}
   */
  buffersOf(items) {
    const { item } = this.byItem();
    const mine = new Set(items);
    /** @type {Map<number, number>} */
    const ranges = new Map();
    for (const i of items) {
      for (const u of this.usesOf(i)) ranges.set(this.place[u] * 2 ** 21 + this.reach[u], u);
    }
    /** @type {Buffer[]} */
    const found = [];
    for (const u of Array.from(ranges.values()).sort((a, b) => this.compare(a, b))) {
      const uses = this.overlapping(this.place[u], this.place[u] + this.reach[u]);
      // Within a fold its own nodes are others too.
      const shared = uses.some((other) => this.node[other] !== this.node[u]);
      const beyond = items.length === 1 || uses.some((other) => !mine.has(item[other]));
      if (!shared || !beyond) continue;
      const letter = LETTERS[found.length] || "";
      found.push({ ...this.bufferOf(this.place[u], this.bytes[u], [uses]), letter });
    }
    return found;
  }

  /** @param {number} a @param {number} b */
  compare(a, b) {
    return this.place[a] - this.place[b] || this.reach[a] - this.reach[b];
  }

  /**
   * A buffer of uses, in groups: what lies in different allocations is not joined.
   * @param {number} place @param {number} bytes @param {number[][]} groups
   * @returns {Omit<Buffer, "letter">}
   */
  bufferOf(place, bytes, groups) {
    const size = Number.isFinite(bytes) ? `.${bytes.toString(16)}` : "";
    const items = groups.map((uses) => this.itemsOf(uses));
    return {
      text: this.addressOf(place).toString(16) + size,
      place,
      bytes,
      items: Array.from(new Set(items.flat())),
      links: items.flatMap((group) => dataFlow.links(this.scene, group)),
    };
  }

  /**
   * The buffer that an address names, or null: all uses of it.
   * @param {string|null} text hexadecimal "address" or "address.bytes"
   * @returns {Buffer|null}
   */
  find(text) {
    if (!text) return null;
    const [address, size] = text.split(".").map((part) => BigInt(`0x${part}`));
    const end = address + (size ?? 1n);
    /** @type {{first: number, uses: number[]}[]} */
    const groups = [];
    for (let first = 0; first < this.placeCount; first++) {
      const at = this.addressOf(first);
      if (at < address || at >= end) continue;
      let last = first + 1;
      while (last < this.placeCount && this.sameBuffer(first, last, end)) last += 1;
      groups.push({ first, uses: this.overlapping(first, last) });
      first = last - 1;
    }
    if (!groups.length) return null;
    const bytes = size === undefined ? NaN : Number(size);
    const buffer = this.bufferOf(groups[0].first, bytes, groups.map(({ uses }) => uses));
    return { ...buffer, text, letter: "A" };
  }

  /** @param {number} first @param {number} last @param {bigint} end */
  sameBuffer(first, last, end) {
    const { place_allocation: allocation } = this.payload;
    return allocation[first] === allocation[last] && this.addressOf(last) < end;
  }

  /** @param {number} place */
  addressOf(place) {
    const { place_low: low, place_high: high } = this.payload;
    return (BigInt(high[place]) << 32n) | BigInt(low[place]);
  }

  /**
   * Where a place is, in words.
   * @param {number} place
   */
  whereOf(place) {
    return `0x${this.addressOf(place).toString(16)}`;
  }

  /**
   * The allocation around a place in words, "" where none is recorded.
   * @param {number} place
   */
  aroundOf(place) {
    return this.allocationText(this.payload.place_allocation[place]);
  }

  /** @param {number} at */
  allocationText(at) {
    if (at < 0) return "";
    const { allocation_bytes: bytes, allocation_low: low, allocation_high: high } = this.payload;
    const address = (BigInt(high[at]) << 32n) | BigInt(low[at]);
    return `${format.byteSize(bytes[at])} at 0x${address.toString(16)}`;
  }
}
