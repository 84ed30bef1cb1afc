/** A store whose server makes the data of a graph when they are requested. */
import * as firstPaint from "../core/first_paint.js";
import { element, make } from "../core/parts.js";
import * as payloads from "../core/payload.js";
import { memoryOf } from "../inspector/memory_uses.js";
import { nodeParts } from "../inspector/node.js";
import { recordOf } from "../inspector/records.js";
import { Families } from "../table/families.js";
import { Nodes } from "../table/nodes.js";
import * as address from "../page/address.js";
/** @import { Payload } from "../core/payload.js" */
/** @import { NodeRecord } from "../inspector/records.js" */
/** @import { State } from "../page/address.js" */
/** @import { Narrowed, Rows } from "../table/table.js" */
/** @import { Graph, Store } from "../page/store.js" */

/**
 * @typedef {Graph & {identity: string, sources: {dag: string, timeline: string, memory: string,
 *   table: string, inspector: string, uses: string, "what-if": string, facts: string, breakdown: string, verdict: string, saved: string,
 *   sides: Record<string, {table: string, breakdown: string}>}}} ServedGraph  with where the data are: gviz.app.pages.graph
 * @typedef {{chooses: true, name: string, parts: import("../core/parts.js").Part[], page: number}} ServedChoice  a
 *   page on which what is to be compared is chosen
 */

const SILENT = "gviz does not answer: it was stopped, or the connection is gone.";
/** The server is asked again for what it has not made yet after so long (ms). */
const AGAIN = 700;
/** What comes in so long (ms) is waited for: it would be seen to come. */
const SOON = 20;
/** The median launch and the stack of all have no single one to place nodes by. */
const ONE = /^\d+$/;

/** An address with more in its query: lists keep their commas. @param {string} source @param {URLSearchParams} query */
function joined(source, query) {
  if (!query.size) return source;
  return source + (source.includes("?") ? "&" : "?") + query.toString().replaceAll("%2C", ",");
}

/**
 * What the server makes in the background. @param {string} source @param {AbortSignal} signal
 * @param {string} [body] JSON, sent along @returns {Promise<any>}
 */
async function untilMade(source, signal, body) {
  const made = await payloads.loadJson(source, signal, body);
  if (!made.waiting) return made;
  await new Promise((resolve) => setTimeout(resolve, AGAIN));
  signal.throwIfAborted();
  return untilMade(source, signal, body);
}

/** Have the server's reason stand, and in place of the browser's a sentence. @template T @param {Promise<T>} answer */
async function explained(answer) {
  try {
    return await answer;
  } catch (error) {
    throw error instanceof payloads.Refusal ? error : new Error(SILENT);
  }
}

/**
 * What the page at an address is made of, once the server has it.
 * @param {string} source @param {(words: string) => void} wait is shown that it takes long
 * @returns {Promise<ServedGraph|ServedChoice|{moved_to: string}>} `moved_to`: where it is instead
 */
export async function fetchPage(source, wait) {
  const found = await payloads.loadJson(source);
  if (!found.waiting) return found;
  wait(found.waiting);
  await new Promise((resolve) => setTimeout(resolve, AGAIN));
  return fetchPage(source, wait);
}

/** @implements {Store} */
export class FetchedStore {
  /** @param {ServedGraph} graph */
  constructor(graph) {
    this.graph = graph;
    /** @type {Promise<Nodes>|null} */ this.all = null;
    /** Who uses the memory of a level, once it was asked for. @type {Map<number, Promise<Payload>>} */ this.levelUses = new Map();
  }

  /** @returns {Promise<Nodes>} */
  nodes() {
    this.all ??= this.readNodes();
    return this.all;
  }

  async readNodes() {
    return new Nodes(await payloads.loadMembers(this.graph.sources.table));
  }

  /** @param {string} _table by kernel family @param {Nodes} nodes @param {Narrowed} how @returns {Rows|Promise<Rows>} */
  rows(_table, nodes, { search, only }) {
    return new Families(nodes, nodes.filter(search, only));
  }

  /**
   * @param {"dag"|"timeline"|"memory"} view @param {State} state @param {string} asked
   */
  source(view, state, asked) {
    const { sources, launch } = this.graph;
    const query = new URLSearchParams();
    const one = ONE.test(state.launch);
    if (view === "timeline") {
      if (state.launch) query.set("launch", state.launch);
      if (state.stream) query.set("stream", state.stream);
      if (state.launch === "all" && state.order !== "ordinal") query.set("order", state.order);
    } else if (view === "memory") {
      if (one || launch) query.set("launch", one ? state.launch : launch);
    } else {
      address.place(query, state, asked);
      if (one && (asked === "time" || state.colour === "launch")) query.set("launch", state.launch);
    }
    return joined(sources[view], query);
  }

  /** @param {number[]} ids */
  async inspect(ids) {
    const { sources } = this.graph;
    const found = await explained(payloads.loadJson(sources.inspector, undefined, JSON.stringify(ids)));
    return found.levels ? this.one(recordOf(found, 0)) : make(found.parts, found.place);
  }

  /** What is said of a node: at once, though the first time who uses the memory of 100,000 nodes takes a second. @param {NodeRecord} record */
  async one(record) {
    const nodes = await explained(this.nodes());
    if (record.memoryUnknown) return nodeParts(record, nodes, []);
    const memory = explained(this.uses(record.at)).then((uses) => memoryOf(uses, record.key));
    const soon = await Promise.race([memory, new Promise((resolve) => setTimeout(resolve, SOON))]);
    return nodeParts(record, nodes, soon ?? memory);
  }

  /** Who uses the memory of a level. @param {number} level */
  uses(level) {
    const known = this.levelUses.get(level);
    if (known) return known;
    const asked = payloads.load(joined(this.graph.sources.uses, new URLSearchParams({ level: String(level) })));
    this.levelUses.set(level, asked);
    asked.catch(() => this.levelUses.delete(level));
    return asked;
  }

  /** @param {number[]} ids */
  keyOf(ids) {
    return `${this.graph.sources.inspector} ${ids.join()}`;
  }

  /** @param {string} query */
  async saved(query) {
    return explained(payloads.loadBytes(joined(this.graph.sources.saved, new URLSearchParams({ state: query }))));
  }

  overlays() {
    return (this.graph.overlays ?? []).map(({ source, ...table }) => ({ ...table, open: () => explained(payloads.loadStream(source)) }));
  }

  breakdown() {
    const { has_breakdown: has, sources } = this.graph;
    if (!has) return null;
    return {
      // The views come first: their data and these are made one after the other.
      breakdown: () => firstPaint.painted().then(() => payloads.load(sources.breakdown)),
      verdict: (/** @type {AbortSignal} */ signal) =>
        firstPaint.painted().then(() => untilMade(sources.verdict, signal)),
      whatIf: (/** @type {object} */ options, /** @type {AbortSignal} */ signal) =>
        explained(untilMade(sources["what-if"], signal, JSON.stringify(options))),
    };
  }

  async memoryFacts() {
    const { parts, place } = await explained(payloads.loadJson(this.graph.sources.facts));
    return element("div", {}, make(parts, place));
  }

  /** @returns {string[]} */
  launches() {
    return [];
  }
}
