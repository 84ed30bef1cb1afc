/**
 * The timeline as arrays: two sides, each with lanes of intervals in order of start.
 *
 * @typedef {Object} Bars  intervals of one lane, in order of start, never overlapping
 * @property {string} label
 * @property {Int32Array} items  indices into the side's arrays
 */
import * as timelineSearch from "./search.js";
import * as colour from "../core/colour.js";
import * as timelineWaits from "./waits.js";

const NO_NODE = 0xffffffff;

class Side {
  /**
   * @param {string} name  "graph" or "stream", or one of several launches
   * @param {Object} payload
   */
  constructor(name, payload) {
    const facts = payload.header[name];
    this.name = name;
    this.facts = facts;
    this.nodeId = payload[`${name}_node_id`];
    this.label = payload[`${name}_name`];
    this.type = payload[`${name}_type`];
    this.start = payload[`${name}_start_ns`];
    this.duration = payload[`${name}_duration_ns`];
    this.lane = payload[`${name}_lane`];
    this.stream = payload[`${name}_stream`];
    this.iteration = payload[`${name}_iteration`];
    this.hostStart = payload[`${name}_host_start_ns`];
    this.hostDuration = payload[`${name}_host_duration_ns`];
    /** Ranges open at the call of a stream operation, as indices into the strings. */
    this.calledIn = payload[`${name}_called_in_name`];
    this.launchCount = payload[`${name}_count`];
    this.count = this.start.length;
    /** The strings that `label` numbers. */
    this.strings = payload.header.strings;
    /** Where the server merged: spans behind an entry, and the duration of the slowest. */
    this.merged = payload[`${name}_merged`];
    this.slowest = payload[`${name}_slowest_ns`] || this.duration;
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

  /** The intervals of each node; those of a node in a body belong to the nodes around it too. */
  listByNode(payload) {
    const { nested_node: nested, nested_holder: holders } = payload;
    const around = new Map(Array.from(nested || [], (id, n) => [id, holders[n]]));
    const found = new Map();
    for (let i = 0; i < this.count; i++) {
      if (this.nodeId[i] === NO_NODE) continue;
      for (let id = this.nodeId[i]; id !== undefined; id = around.get(id)) {
        if (!found.has(id)) found.set(id, []);
        found.get(id).push(i);
      }
    }
    return found;
  }

  splitLanes(labels) {
    const lists = labels.map(() => []);
    for (let i = 0; i < this.count; i++) lists[this.lane[i]].push(i);
    return lists.map((items, n) => ({ label: labels[n], items: Int32Array.from(items) }));
  }

  /**
   * Host calls in order of start: the launch call of each stream operation (`item`), and the
   * driver calls recorded meanwhile (`name`, an index into the strings).
   */
  listCalls(payload) {
    const calls = [];
    for (let i = 0; this.hostStart && i < this.count; i++) {
      if (this.hostDuration[i] === this.hostDuration[i]) {
        calls.push({ start: this.hostStart[i], duration: this.hostDuration[i], item: i, name: -1 });
      }
    }
    const starts = payload[`${this.name}_call_start_ns`] || [];
    starts.forEach((start, n) => {
      const duration = payload[`${this.name}_call_end_ns`][n] - start;
      calls.push({ start, duration, item: -1, name: payload[`${this.name}_call_name`][n] });
    });
    return calls.sort((a, b) => a.start - b.start);
  }

  /** Gaps in which nothing of this side runs, from the zero to the last end: [start, end] pairs. */
  listGaps(start, end) {
    return start ? Array.from(start, (from, n) => [from, end[n]]) : [];
  }

  /** The gap at a time, or null. */
  gapAt(ns) {
    const n = timelineSearch.firstFrom(this.idle.length, (at) => this.idle[at][1] > ns);
    return n < this.idle.length && this.idle[n][0] <= ns ? this.idle[n] : null;
  }
}

export class TimelineScene {
  constructor(payload) {
    this.header = payload.header;
    /** All sides, top to bottom, those that are missing too. */
    this.names = Object.keys(payload.header.sides ?? { graph: 0, stream: 0 });
    this.sides = this.names
      .filter((name) => payload.header[name])
      .map((name) => new Side(name, payload));
    this.total = Math.max(1, ...this.sides.map((s) => s.facts.total_ns));
  }

  /** All sides but one. @param {Side} side */
  others(side) {
    return this.sides.filter((other) => other.name !== side.name);
  }

  side(name) {
    return this.sides.find((s) => s.name === name);
  }

  /**
   * What a comparison or a job calls its sides, all of them launches; undefined where the sides
   * are a graph and the same work by stream calls. `against`: what lengths are told in times of.
   * @returns {{title: string, missing: string, letter: string, against?: string}|undefined}
   */
  named(name) {
    return this.header.sides?.[name];
  }

  /** Whether another scene shows the same launches, perhaps fewer of all. @param {TimelineScene} other */
  shows(other) {
    const said = ({ header }) =>
      JSON.stringify(
        this.names.map((name) => header[name] && [header[name].mode, header[name].ordinal, header[name].zero]),
      );
    return this.header.graph_id === other.header.graph_id && said(this) === said(other);
  }

  nameOf(side, i) {
    return side.strings[side.label[i]];
  }

  titleOf(side, call) {
    if (call.item >= 0) return `launch of ${this.nameOf(side, call.item)}`;
    return side.strings[call.name];
  }

  kindOf(side, i) {
    return this.header.kinds[side.type[i]] || `type ${side.type[i]}`;
  }
}

