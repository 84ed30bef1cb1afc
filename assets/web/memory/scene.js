/**
 * Memory along a launch as arrays: lifetimes, who is given what, and where the rows stand.
 *
 * @typedef {{start: Float64Array, end: Float64Array}} Spans  when nodes ran, by start
 * @typedef {{life: true, allocation: number, bytes: number, offset: number, alloc: number|null,
 * free: number|null, start: number, end: number, allocLatest: number, freeLatest: number,
 * freed: string, nodes: number[], spans: Spans}} Life  what is allocated or freed here
 * @typedef {{life: false, allocation: number, bytes: number, start: number, end: number,
 * nodes: number[], spans: Spans, alloc?: undefined, free?: undefined}} Given  what is not
 * @typedef {Life|Given} Bar
 * @typedef {{kind: "head"|"chart"|"space"|"map"|"given"|"pool", y: number, h: number, about?: string,
 * title?: string, bar?: number}} MemoryRow
 * @typedef {{at: number, time: number, bytes: number}} Peak
 */
import { AXIS } from "../core/axis.js";
/** @import { Payload } from "../core/payload.js" */

const NONE = 0xffffffff;
const HEAD = 26;
const CHART = 74;
const GAP = 12;
/** The map of addresses takes what is left, within these. */
const MAP = [84, 280];
const ROW = 15;
const POOL = 58;

export class MemoryScene {
  /** @param {Payload} payload */
  constructor(payload) {
    this.payload = payload;
    this.header = payload.header;
    this.timed = this.header.axis === "time";
    /** @type {Map<number, number>} */
    this.index = new Map();
    payload.node_id.forEach((/** @type {number} */ id, /** @type {number} */ i) => this.index.set(id, i));
    /** Addresses in each allocation, by place. @type {Set<number>[]} */ this.places = [];
    /** Nodes that are given addresses in each allocation. @type {number[][]} */ this.users = [];
    this.joinUsers();
    /** What is allocated or freed here, then what nodes are given besides. @type {Bar[]} */
    this.bars = [...this.lives(), ...this.given()];
    /** @type {number} */ this.lifeCount = payload.life_alloc.length;
    /** @type {number} */
    this.depth = payload.range_bytes.reduce((/** @type {number} */ sum, /** @type {number} */ n) => sum + n, 0);
    this.peak = this.findPeak();
  }

  /** Node ids that are given addresses in each allocation, in the order of the graph. */
  joinUsers() {
    const { use_node: node, use_place: place, use_order: order, place_allocation: at } = this.payload;
    /** @type {Map<number, number>[]} */
    const users = Array.from(this.payload.allocation_bytes, () => new Map());
    this.places = users.map(() => new Set());
    for (let u = 0; u < node.length; u++) {
      const allocation = at[place[u]];
      if (allocation < 0) continue;
      users[allocation].set(node[u], order[u]);
      this.places[allocation].add(place[u]);
    }
    this.users = users.map((found) =>
      Array.from(found).sort(([a, first], [b, second]) => first - second || a - b).map(([id]) => id)
    );
  }

  /**
   * When nodes ran, by start; those that the scene does not have are left out.
   * @param {number[]} nodes
   */
  spansOf(nodes) {
    const { node_start: start, node_end: end } = this.payload;
    const at = Int32Array.from(nodes.flatMap((id) => this.index.get(id) ?? []));
    at.sort((a, b) => start[a] - start[b]);
    return { start: Float64Array.from(at, (i) => start[i]), end: Float64Array.from(at, (i) => end[i]) };
  }

  /** @returns {Life[]} */
  lives() {
    const p = this.payload;
    /** @param {number} n @param {(number|null)[]} own */
    const used = (n, own) => this.users[p.life_allocation[n]].filter((id) => !own.includes(id));
    const allocating = /** @type {Uint32Array} */ (p.life_alloc);
    return Array.from(allocating, (alloc, n) => ({
      life: true,
      allocation: p.life_allocation[n],
      bytes: p.life_bytes[n],
      offset: p.life_offset[n],
      alloc: alloc === NONE ? null : alloc,
      free: p.life_free[n] === NONE ? null : p.life_free[n],
      start: p.life_start[n],
      end: p.life_end[n],
      allocLatest: p.life_alloc_latest[n],
      freeLatest: p.life_free_latest[n],
      freed: this.header.strings[p.life_freed[n]],
      nodes: this.users[p.life_allocation[n]],
      spans: this.spansOf(used(n, [alloc, p.life_free[n]])),
    }));
  }

  /** @returns {Given[]} */
  given() {
    const p = this.payload;
    const own = new Set(p.life_allocation);
    /** @type {Given[]} */
    const found = [];
    this.users.forEach((nodes, allocation) => {
      if (own.has(allocation) || !nodes.length) return;
      const spans = this.spansOf(nodes);
      found.push({
        life: false,
        allocation,
        bytes: p.allocation_bytes[allocation],
        start: spans.start[0],
        end: spans.end.reduce((a, b) => Math.max(a, b)),
        nodes,
        spans,
      });
    });
    return found.sort((a, b) => a.start - b.start || a.allocation - b.allocation);
  }

  /** @returns {Peak|null} */
  findPeak() {
    const { step_bytes: bytes, step_time: time } = this.payload;
    if (!bytes.length) return null;
    const at = bytes.indexOf(Math.max(...bytes));
    return { at, time: time[at], bytes: bytes[at] };
  }

  /**
   * How much is allocated at a time.
   * @param {number} time
   */
  bytesAt(time) {
    const { step_time: times, step_bytes: bytes } = this.payload;
    const at = times.findLastIndex((/** @type {number} */ t) => t <= time);
    return at < 0 ? 0 : bytes[at];
  }

  /** @param {number} allocation */
  addressOf(allocation) {
    return this.hex(this.payload.allocation_high[allocation], this.payload.allocation_low[allocation]);
  }

  /** @param {number} high @param {number} low */
  hex(high, low) {
    return `0x${((BigInt(high) << 32n) | BigInt(low)).toString(16)}`;
  }

  /**
   * Bars that share addresses with a bar, one after the other.
   * @param {Bar} bar
   */
  sharing(bar) {
    if (!bar.life) return [];
    const { offset, bytes } = bar;
    return this.bars.filter((other) =>
      other.life && other !== bar && other.offset < offset + bytes && offset < other.offset + other.bytes);
  }

  /**
   * Rows from the top down, for a height: {kind, y, h}; `bottom` is where they end.
   * @param {number} height
   */
  arrange(height) {
    /** @type {MemoryRow[]} */
    const rows = [];
    let y = AXIS;
    /** @param {MemoryRow["kind"]} kind @param {number} h @param {Partial<MemoryRow>} [more] */
    const add = (kind, h, more = {}) => {
      rows.push({ kind, y, h, ...more });
      y += h;
    };
    const others = this.bars.length - this.lifeCount;
    const pool = this.payload.pool_time.length ? HEAD + POOL : 0;
    if (this.lifeCount) {
      const rest = height - y - HEAD - CHART - 2 * GAP - pool - (others ? HEAD + 3 * ROW : 0);
      add("head", HEAD, { about: "chart", title: "Allocated along the launch" });
      add("chart", CHART);
      add("space", GAP);
      add("map", Math.max(MAP[0], Math.min(MAP[1], rest)));
      add("space", GAP);
    }
    if (others) {
      const title = this.lifeCount ? "Other memory that nodes are given" : "Memory that nodes are given";
      add("head", HEAD, { about: "given", title });
      for (let n = this.lifeCount; n < this.bars.length; n++) add("given", ROW, { bar: n });
      add("space", GAP);
    }
    if (pool) {
      add("head", HEAD, { about: "pool", title: "Pool for graphs, over the run" });
      add("pool", POOL);
    }
    return { rows, bottom: y };
  }
}
