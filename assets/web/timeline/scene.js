/**
 * The timeline as arrays: two sides, each with lanes of intervals in order of start.
 *
 * @typedef {Object} Bars  intervals of one lane, in order of start, never overlapping
 * @property {string} label
 * @property {Int32Array} items  indices into the side's arrays
 * @typedef {{start: number, duration: number, item: number, name: number}} Call  `item`: of the
 * stream operation it launches, or -1; `name`: an index into the strings, or -1
 * @typedef {{ordinal: number, gpu_ns: number, exec: number, idle_ns?: number, idle_fraction: number}}
 * Launch
 * @typedef {{mode: "one"|"median"|"all", count: number, total_ns: number, idle_ns: number,
 * idle_fraction: number, queued_ns: number, zero: string, launch_count: number, launch_id?: number,
 * lanes: string[], depth?: number, launches: Launch[], order: string}} SideFacts
 * @typedef {Pick<Side, "name"|"lanes"|"start"|"duration"|"step"|"nodeId"|"slowest"|"strings"|"labels"|"label"|"type"|"family">}
 *   SideSpans  what is drawn of a side's lanes
 */
import * as colour from "../core/colour.js";
import { LaidColours } from "../overlay/colours.js";
import { Changes } from "./changes.js";
import * as timelineSearch from "./search.js";
import * as timelineWaits from "./waits.js";
/** @import { TimeTransform } from "../core/axis.js" */
/** @import { Laid } from "../core/frame.js" */
/** @import { Payload } from "../core/payload.js" */

const NO_NODE = 0xffffffff;

export class Side {
  /**
   * @param {string} name  "graph" or "stream", or one of several launches
   * @param {Payload} payload
   */
  constructor(name, payload) {
    /** @type {SideFacts} */
    const facts = payload.header[name];
    this.name = name;
    this.facts = facts;
    /** @type {Uint32Array} */ this.nodeId = payload[`${name}_node_id`];
    /** @type {Uint32Array} */ this.label = payload[`${name}_name`];
    /** @type {Uint8Array} */ this.type = payload[`${name}_type`];
    /** The places of the colours of families, where there are any. @type {Uint8Array|undefined} */
    this.family = payload[`${name}_family`];
    /** @type {Float64Array} */ this.start = payload[`${name}_start_ns`];
    /** @type {Float64Array} */ this.duration = payload[`${name}_duration_ns`];
    /** @type {Uint32Array} */ this.lane = payload[`${name}_lane`];
    /** @type {Int32Array} */ this.stream = payload[`${name}_stream`];
    /** @type {Int32Array} */ this.iteration = payload[`${name}_iteration`];
    /** @type {Float64Array|undefined} */ this.hostStart = payload[`${name}_host_start_ns`];
    /** @type {Float64Array} */ this.hostDuration = payload[`${name}_host_duration_ns`];
    /** Ranges open at the call of a stream operation, as indices into the strings. @type {Uint32Array|undefined} */
    this.calledIn = payload[`${name}_called_in_name`];
    /** @type {Uint32Array} */ this.launchCount = payload[`${name}_count`];
    this.count = this.start.length;
    /** The strings that `label` numbers. */
    /** @type {string[]} */ this.strings = payload.header.strings;
    /** Labels of names that are longer, by index. */
    /** @type {Record<number, string>} */ this.labels = payload.header.labels;
    /** Where the server merged: spans behind an entry, and the duration of the slowest. */
    /** @type {Uint32Array|undefined} */ this.merged = payload[`${name}_merged`];
    /** @type {Float64Array} */ this.slowest = payload[`${name}_slowest_ns`] || this.duration;
    /** Many launches, each on a row of `depth` lanes. */
    this.stacked = facts.mode === "all";
    this.depth = facts.depth || 1;
    this.step = new Uint8Array(this.count);
    for (let i = 0; i < this.count; i++) {
      this.step[i] = colour.step(payload.header.scale, this.slowest[i]);
    }
    this.lanes = this.splitLanes(facts.lanes);
    this.calls = this.listCalls(payload);
    this.waits = timelineWaits.list(payload, name);
    this.idle = this.listGaps(payload[`${name}_gap_start_ns`], payload[`${name}_gap_end_ns`]);
    this.byNode = this.listByNode(payload);
  }

  /**
   * The intervals of each node; those of a node in a body belong to the nodes around it too.
   * @param {Payload} payload
   */
  listByNode(payload) {
    const { nested_node: nested, nested_parent: parents } = payload;
    const around = new Map(Array.from(/** @type {Uint32Array} */ (nested ?? []), (id, n) => [id, parents[n]]));
    /** @type {Map<number, number[]>} */
    const found = new Map();
    for (let i = 0; i < this.count; i++) {
      if (this.nodeId[i] === NO_NODE) continue;
      for (let id = /** @type {number|undefined} */ (this.nodeId[i]); id !== undefined; id = around.get(id)) {
        const items = found.get(id);
        if (items) items.push(i);
        else found.set(id, [i]);
      }
    }
    return found;
  }

  /** The intervals of a node; none where it has none. @param {number} id */
  itemsOf(id) {
    return this.byNode.get(id) ?? [];
  }

  /** @param {string[]} labels */
  splitLanes(labels) {
    const lists = labels.map(() => /** @type {number[]} */ ([]));
    for (let i = 0; i < this.count; i++) lists[this.lane[i]].push(i);
    return lists.map((items, n) => ({ label: labels[n], items: Int32Array.from(items) }));
  }

  /**
   * Host calls in order of start: the launch call of each stream operation (`item`), and the
   * driver calls recorded meanwhile (`name`, an index into the strings).
   * @param {Payload} payload
   */
  listCalls(payload) {
    /** @type {Call[]} */
    const calls = [];
    for (let i = 0; this.hostStart && i < this.count; i++) {
      if (this.hostDuration[i] === this.hostDuration[i]) {
        calls.push({ start: this.hostStart[i], duration: this.hostDuration[i], item: i, name: -1 });
      }
    }
    const starts = payload[`${this.name}_call_start_ns`] || [];
    starts.forEach((/** @type {number} */ start, /** @type {number} */ n) => {
      const duration = payload[`${this.name}_call_end_ns`][n] - start;
      calls.push({ start, duration, item: -1, name: payload[`${this.name}_call_name`][n] });
    });
    return calls.sort((a, b) => a.start - b.start);
  }

  /**
   * Gaps in which nothing of this side runs, from the zero to the last end: [start, end] pairs.
   * @param {Float64Array|undefined} start @param {Float64Array} end
   * @returns {[number, number][]}
   */
  listGaps(start, end) {
    return start ? Array.from(start, (from, n) => [from, end[n]]) : [];
  }

  /**
   * The gap at a time, or null.
   * @param {number} ns
   */
  gapAt(ns) {
    const n = timelineSearch.firstFrom(this.idle.length, (at) => this.idle[at][1] > ns);
    return n < this.idle.length && this.idle[n][0] <= ns ? this.idle[n] : null;
  }
}

export class TimelineScene {
  /** @param {Payload} payload */
  constructor(payload) {
    this.header = payload.header;
    /** From one launch to the other, where they are two versions of one. */
    this.changes = payload.header.changes ? new Changes(payload) : null;
    /** All sides, top to bottom, those that are missing too. */
    this.names = Object.keys(payload.header.sides ?? { graph: 0, stream: 0 });
    this.sides = this.names
      .filter((name) => payload.header[name])
      .map((name) => new Side(name, payload));
    /** @type {LaidColours|null} */ this.laid = null;
    /** Eager work whose lanes are not shown, under a launch that is. @type {Side|null} */
    this.eager = null;
    this.total = this.totalOf();
  }

  totalOf() {
    const shared = this.sides.filter((side) => !this.isApart(side.name));
    return Math.max(1, ...shared.map((s) => s.facts.total_ns));
  }

  /** Whether a side has a scale of its own: eager work whose lanes are shown under a launch. @param {string} name */
  isApart(name) {
    return name === "stream" && this.canCloseEager && !this.eager;
  }

  /** How much more of the width a nanosecond of a side has than on the axis above. @param {string} name */
  scaleOf(name) {
    return this.isApart(name) ? this.total / Math.max(1, this.present(name).facts.total_ns) : 1;
  }

  /** The transform of a side's times. @param {string} name @param {TimeTransform} given that of the axis above @returns {TimeTransform} */
  transformOf(name, { k, x }) {
    return { k: k * this.scaleOf(name), x };
  }

  /** Whether there is eager work under a launch. */
  get canCloseEager() {
    return !!this.eager || (!this.header.sides && this.sides.length > 1);
  }

  /** Show the lanes of eager work under a launch, or have a line say what it is. @param {boolean} isOpen */
  showEager(isOpen) {
    const eager = this.eager ?? this.side("stream") ?? null;
    const others = this.sides.filter((side) => side !== eager);
    // Without a launch it is all there is.
    const isClosed = !isOpen && eager !== null && others.length > 0 && !this.header.sides;
    this.sides = eager && !isClosed ? [...others, eager] : others;
    this.eager = isClosed ? eager : null;
    this.total = this.totalOf();
  }

  /** Make the colours of what is laid on the graph. @param {Laid} laid */
  prepare(laid) {
    this.coloursOf(laid);
  }

  /** Colours of what a reader has laid on the graph, made once; null: nothing. @param {Laid|null} [laid] */
  coloursOf(laid) {
    if (!laid) return null;
    if (this.laid?.laid !== laid) {
      const nodes = new Set(this.sides.flatMap((side) => Array.from(side.byNode.keys())));
      this.laid = new LaidColours(laid, Array.from(nodes, (node) => laid.of(node)));
    }
    return this.laid;
  }

  /** All sides but one. @param {Side} side */
  others(side) {
    return this.sides.filter((other) => other.name !== side.name);
  }

  /** @param {string} name */
  side(name) {
    return this.sides.find((s) => s.name === name);
  }

  /** A side that is there. @param {string} name @returns {Side} */
  present(name) {
    return /** @type {Side} */ (this.side(name));
  }

  /**
   * What a comparison or a job calls its sides, all of them launches; undefined where the sides
   * are a graph and the same work by stream calls. `against`: what lengths are multiples of.
   * @param {string} name
   * @returns {{title: string, missing: string, letter: string, against?: string}|undefined}
   */
  named(name) {
    return this.header.sides?.[name];
  }

  /** Whether another scene shows the same launches, perhaps fewer of all. @param {TimelineScene} other */
  shows(other) {
    /** @param {TimelineScene} scene */
    const launches = ({ header }) =>
      JSON.stringify(
        this.names.map((name) => header[name] && [header[name].mode, header[name].ordinal, header[name].zero]),
      );
    return this.header.graph_id === other.header.graph_id && launches(this) === launches(other);
  }

  /** The label of a span's kernel, or its name. @param {SideSpans} side @param {number} i */
  nameOf(side, i) {
    return side.labels[side.label[i]] ?? this.wholeNameOf(side, i);
  }

  /** @param {SideSpans} side @param {number} i */
  wholeNameOf(side, i) {
    return side.strings[side.label[i]];
  }

  /** @param {Side} side @param {Call} call */
  titleOf(side, call) {
    if (call.item >= 0) return `launch of ${this.nameOf(side, call.item)}`;
    return side.strings[call.name];
  }

  /** @param {SideSpans} side @param {number} i */
  kindOf(side, i) {
    return this.header.kinds[side.type[i]] || `type ${side.type[i]}`;
  }
}

