/** Memory along a launch as arrays: lifetimes, who is given what, and where the rows stand. */
import { AXIS } from "../core/axis.js";

const NONE = 0xffffffff;
const HEAD = 26;
const CHART = 74;
const GAP = 12;
/** The map of addresses takes what is left, within these. */
const MAP = [84, 280];
const ROW = 15;
const POOL = 58;

export class MemoryScene {
  /** @param {import("./payload").Payload} payload */
  constructor(payload) {
    this.payload = payload;
    this.header = payload.header;
    this.timed = this.header.axis === "time";
    this.index = new Map();
    payload.node_id.forEach((id, i) => this.index.set(id, i));
    this.joinUsers();
    /** Bars: what is allocated or freed here, then what nodes are given besides. */
    this.bars = [...this.lives(), ...this.given()];
    this.lifeCount = payload.life_alloc.length;
    this.depth = payload.range_bytes.reduce((sum, n) => sum + n, 0);
    this.peak = this.findPeak();
  }

  /** Node ids that are given addresses in each allocation, in the order of the graph. */
  joinUsers() {
    const { use_node: node, use_place: place, use_order: order, place_allocation: at } = this.payload;
    const users = Array.from(this.payload.allocation_bytes, () => new Map());
    this.places = users.map(() => new Set());
    for (let u = 0; u < node.length; u++) {
      const allocation = at[place[u]];
      if (allocation < 0) continue;
      users[allocation].set(node[u], order[u]);
      this.places[allocation].add(place[u]);
    }
    this.users = users.map((found) =>
      Array.from(found.keys()).sort((a, b) => found.get(a) - found.get(b) || a - b)
    );
  }

  /** When nodes ran, by start. */
  spansOf(nodes) {
    const { node_start: start, node_end: end } = this.payload;
    const at = Int32Array.from(nodes, (id) => this.index.get(id));
    at.sort((a, b) => start[a] - start[b]);
    return { start: Float64Array.from(at, (i) => start[i]), end: Float64Array.from(at, (i) => end[i]) };
  }

  lives() {
    const p = this.payload;
    const used = (n, own) => this.users[p.life_allocation[n]].filter((id) => !own.includes(id));
    return Array.from(p.life_alloc, (alloc, n) => ({
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

  given() {
    const p = this.payload;
    const own = new Set(p.life_allocation);
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

  findPeak() {
    const { step_bytes: bytes, step_time: time } = this.payload;
    if (!bytes.length) return null;
    const at = bytes.indexOf(Math.max(...bytes));
    return { at, time: time[at], bytes: bytes[at] };
  }

  /** How much is allocated at a time. */
  bytesAt(time) {
    const { step_time: times, step_bytes: bytes } = this.payload;
    const at = times.findLastIndex((t) => t <= time);
    return at < 0 ? 0 : bytes[at];
  }

  addressOf(allocation) {
    return this.hex(this.payload.allocation_high[allocation], this.payload.allocation_low[allocation]);
  }

  hex(high, low) {
    return `0x${((BigInt(high) << 32n) | BigInt(low)).toString(16)}`;
  }

  /** Bars that share addresses with a bar, one after the other. */
  sharing(bar) {
    const over = (other) => other.offset < bar.offset + bar.bytes && bar.offset < other.offset + other.bytes;
    return this.bars.filter((other) => bar.life && other.life && other !== bar && over(other));
  }

  /** Rows from the top down, for a height: {kind, y, h}; `bottom` is where they end. */
  arrange(height) {
    const rows = [];
    let y = AXIS;
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
