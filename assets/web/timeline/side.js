/**
 * One side of a timeline as arrays: a launch, or the eager work beside it.
 *
 * What is not needed to draw it is made when it is first read: of 100,000 spans each takes its time, and eager
 * work is closed at first.
 *
 * @typedef {Object} Bars  intervals of one lane, in order of start, never overlapping
 * @property {string} label
 * @property {Int32Array} items  indices into the side's arrays
 * @typedef {{start: number, duration: number, item: number, name: number}} Call  `item`: of the
 * stream operation it launches, or -1; `name`: an index into the strings, or -1
 * @typedef {{ordinal: number, gpu_ns: number, exec: number, idle_ns?: number, idle_fraction?: number}}
 * Launch
 * @typedef {{mode: "one"|"median"|"all", count: number, total_ns: number, idle_ns?: number,
 * idle_fraction?: number, queued_ns: number, zero: string, launch_count: number, launch_id?: number, timed_count?: number,
 * lanes: string[], depth?: number, launches: Launch[], order: string}} SideFacts
 * @typedef {Pick<Side, "name"|"lanes"|"start"|"duration"|"step"|"nodeId"|"slowest"|"strings"|"labels"|"label"|"type"|"family">}
 *   SideSpans  what is drawn of a side's lanes
 */
import * as colour from "../core/colour.js";
import { NodeSpans } from "./node_spans.js";
import * as timelineSearch from "./search.js";
import * as timelineWaits from "./waits.js";
/** @import { Payload } from "../core/payload.js" */

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
    this.payload = payload;
    this.waits = timelineWaits.list(payload, name);
    this.idle = this.listGaps(payload[`${name}_gap_start_ns`], payload[`${name}_gap_end_ns`]);
    /** @type {Uint8Array|null} */ this.madeStep = null;
    /** @type {Bars[]|null} */ this.madeLanes = null;
    /** @type {Call[]|null} */ this.madeCalls = null;
    /** @type {NodeSpans|null} */ this.madeByNode = null;
  }

  /** The step of the ramp of each interval. */
  get step() {
    return (this.madeStep ??= colour.steps(this.payload.header.scale, this.slowest));
  }

  get lanes() {
    return (this.madeLanes ??= this.splitLanes(this.facts.lanes));
  }

  /** Make what a painting needs. */
  prepare() {
    return [this.step, this.lanes, this.calls];
  }

  /** Host calls, in order of start. */
  get calls() {
    return (this.madeCalls ??= this.listCalls(this.payload));
  }

  /** The intervals of each node; those of a node in a body belong to the nodes around it too. */
  get byNode() {
    return (this.madeByNode ??= new NodeSpans(this.nodeId, this.payload.nested_node, this.payload.nested_parent));
  }

  /** The intervals of a node; none where it has none. @param {number} id */
  itemsOf(id) {
    return this.byNode.get(id) ?? [];
  }

  /** @param {string[]} labels */
  splitLanes(labels) {
    const counts = new Uint32Array(labels.length);
    for (let i = 0; i < this.count; i++) counts[this.lane[i]] += 1;
    const lanes = labels.map((label, n) => ({ label, items: new Int32Array(counts[n]) }));
    counts.fill(0);
    for (let i = 0; i < this.count; i++) lanes[this.lane[i]].items[counts[this.lane[i]]++] = i;
    return lanes;
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
