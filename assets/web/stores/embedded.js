/** A store in a saved file: data of a graph that were written with it, and sums over several nodes. */
import * as firstPaint from "../core/first_paint.js";
import * as format from "../core/format.js";
import { element, facts, make, section } from "../core/parts.js";
import { nodeParts } from "../inspector/node.js";
import { picks } from "../inspector/picks.js";
import { recordOf } from "../inspector/records.js";
import * as address from "../page/address.js";
import { Families } from "../table/families.js";
import { Nodes } from "../table/nodes.js";
import { joinLayers } from "../table/layers.js";
import { sumsOf } from "../table/sums.js";
import * as blobs from "./blobs.js";
/** @import { Carried } from "../overlay/carry.js" */
/** @import { Source } from "../overlay/overlays.js" */
/** @import { Verdict } from "../breakdown/breakdown.js" */
/** @import { State } from "../page/address.js" */
/** @import { Narrowed, Rows } from "../table/table.js" */
/** @import { Graph, Store } from "../page/store.js" */

/**
 * @typedef {Graph & {nothing: number, memory_facts: number, nodes_a_blob: number,
 *   timeline: Record<string, number>, memory: Record<string, number>, breakdown: number|null, verdict: Verdict|null, recording: string}} SavedGraph  the blob graph-ID, with where the data are; `recording` is the name of the file that it was made of: gviz.app.html_file.graph_data
 */

/** Nodes listed of a selection of many; as gviz.app.inspector.inspector. */
const SLOWEST = 8;

/** A table that the file carries. @param {Carried} table @returns {Source} */
export const sourceOf = ({ name, source, side, recorded }) => ({ name, side, recorded, open: async () => blobs.stream(source) });

/** The command that computes what options ask. @param {string} recording @param {number} graph @param {Record<string, string>} options */
export function commandOf(recording, graph, options) {
  const given = Object.entries(options).map(([name, value]) => `--${name} '${value}'`);
  return `gviz what-if '${recording.replaceAll("'", "'\\''")}' --graph ${graph} ${given.join(" ")}`;
}

/** @implements {Store} */
export class EmbeddedStore {
  /** @param {SavedGraph} graph @param {Carried[]} [tables] that the file carries */
  constructor(graph, tables = []) {
    this.graph = graph;
    /** Those on this graph. */
    this.tables = tables.filter(({ graphs }) => !graphs || graphs.includes(graph.id));
    /** @type {Promise<Nodes>|null} */ this.table = null;
  }

  nodes() {
    this.table ??= blobs.members(`table-${this.graph.id}`).then((columns) => new Nodes(columns));
    return this.table;
  }

  /** @param {string} _table by kernel family @param {Nodes} nodes @param {Narrowed} how @returns {Rows|Promise<Rows>} */
  rows(_table, nodes, { search, only }) {
    return new Families(nodes, nodes.filter(search, only));
  }

  /**
   * @param {"dag"|"timeline"|"memory"} view @param {State} state @param {string} asked
   */
  source(view, state, asked) {
    const { graph } = this;
    if (view === "timeline") return `${graph.id}/${graph.timeline[state.launch]}`;
    // The median launch and the stack of all have no single one to place nodes by.
    const launch = state.launch in graph.memory ? state.launch : Object.keys(graph.memory)[0];
    if (view === "memory") return `${graph.id}/${graph.memory[launch]}`;
    const query = new URLSearchParams();
    address.place(query, state, asked);
    if (launch) query.set("launch", launch);
    return `${graph.id}?${query}`;
  }

  launches() {
    return Object.keys(this.graph.timeline);
  }

  /** Those on the graph before are for its comparison. */
  overlays() {
    return this.tables.filter(({ side }) => side !== "A").map((table) => sourceOf({ ...table, side: undefined }));
  }

  breakdown() {
    const { id, breakdown, verdict, recording } = this.graph;
    if (breakdown === null || verdict === null) return null;
    // The views come first: what is made of these would hold up their first painting.
    return {
      breakdown: () => firstPaint.painted().then(() => blobs.payload(`${id}/${breakdown}`)),
      verdict: async () => verdict,
      whatIf: async (/** @type {Record<string, string>} */ options) =>
        ({ sentences: ["a saved file computes no answers; gviz does:"], caveats: [], command: commandOf(recording, id, options) }),
    };
  }

  async memoryFacts() {
    return make(this.graph.parts, this.graph.memory_facts);
  }

  /** @param {number[]} ids */
  keyOf(ids) {
    return ids.join();
  }

  /** @param {number[]} ids */
  async inspect(ids) {
    const nodes = await this.nodes();
    const known = ids.filter((id) => nodes.has(id));
    if (!known.length) return make(this.graph.parts, this.graph.nothing);
    return known.length > 1 ? this.several(nodes, known) : this.one(nodes, known[0]);
  }

  /** @param {Nodes} nodes @param {number} id @returns {Promise<HTMLElement>} */
  async one(nodes, id) {
    const { id: graph, nodes_a_blob: each } = this.graph;
    const place = nodes.place(id);
    const record = recordOf(await blobs.json(`facts-${graph}-${Math.floor(place / each)}`), place % each);
    const memory = await blobs.memory(graph, record.at, id);
    return nodeParts(record, nodes, memory);
  }

  /**
   * Sums over a selection; as gviz.app.inspector.inspector has them from the server.
   * @param {Nodes} nodes @param {number[]} ids
   */
  several(nodes, ids) {
    const rows = ids.map((id) => nodes.row(id));
    const { ns, share, timed, of } = sumsOf(nodes, ids);
    /** @type {Map<string, number>} */
    const kinds = new Map();
    for (const { kind } of rows) kinds.set(kind, (kinds.get(kind) || 0) + 1);
    const counts = Array.from(kinds).sort((a, b) => b[1] - a[1]);
    const slowest = rows.filter((row) => row.median_ns !== null)
      .toSorted((a, b) => (b.median_ns ?? 0) - (a.median_ns ?? 0)).slice(0, SLOWEST);
    const none = "no times", layers = joinLayers(rows.map((row) => row.layer));
    return element("div", {},
      element("div", { class: "gv-inspector-head" },
        element("h2", {}, `${format.counted(rows.length, "node")} selected`),
        ...(layers ? [element("p", { class: "gv-muted" }, layers)] : [])),
      section("Sums", facts([
        ["Time", ns === null ? none : format.duration(ns),
          "Derived: sum of medians; in loops of what a launch takes on average"],
        ["Share of time", share === null ? none : format.percent(share),
          "Derived: node time over the launch's GPU time, of event copies over all node times"],
        ["Timed", `${timed} of ${of}`, "Nodes with spans"],
        ...counts.map(([kind, count]) => /** @type {[string, string]} */ ([kind, String(count)])),
      ])),
      ...(slowest.length ? [section("Slowest of them", picks(nodes, slowest.map((row) => row.key)))] : []));
  }
}
