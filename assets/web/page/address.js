/**
 * The state of a graph's page as the query of its address. Where that stands, in the query or in the
 * fragment of the address, is the matter of who opens the page.
 *
 * @typedef {{from: number, to: number, side: string}} Brush  a part of the time (ns) of one side of the timeline
 * @typedef {{node: number[], select: string[], filter: string[], brush: Brush|null, launch: string, stream: string, order: string, colour: string,
 *   layout: string, fold: string, open: string[], edges: string, buffer: string|null,
 *   table: string, sort: string, families: number[], only: string, panel: string, eager: string, measure: string, level: string, time: Times|null, search: string} & Room} State  `time`: what
 *   part of the timeline is looked at, null: all of it; `sort`: what rows of the table are sorted by, "": as at
 *   first; `select`: the names of what is selected, in place of `node`, and `filter` of the only nodes wanted
 *   (names.js); `brush`: the time of these, in place of `filter`; `families`: those that are open in it, by their places; `only`: "selected" or "all" rows
 */
import * as nodeList from "../core/node_list.js";
import { MOST_NAMED } from "./names.js";
/** @import { Times } from "../timeline/look.js" */
/** @import { Room } from "./panes.js" */

/** Fields whose values are words. */
const WORDS = /** @type {const} */ (
  ["launch", "stream", "order", "colour", "layout", "fold", "edges", "table", "sort", "only", "panel", "level", "search", "pane", "eager", "measure"]);
/** What the fields of the address are when it does not have them. */
const ABSENT = { only: "all", order: "ordinal", fold: "none", edges: "all", panel: "timeline", level: "0", eager: "closed" };
/** Characters of an address that servers and proxies let pass, but for where it leads. */
const MOST_CHARACTERS = 7800;
const SHARES = /^\d{1,2}(\.\d)?(,\d{1,2}(\.\d)?){0,3}$/;
const TIME = /^(\d{1,15})-(\d{1,15})$/;
/** The nodes of a filter that run in a part of the time. */
const BRUSH = /^time:(?:([a-z]{1,20}\d{0,6}):)?(\d{1,15}(?:\.\d{1,3})?)-(\d{1,15}(?:\.\d{1,3})?)$/;
/** The side of the timeline that a brush is of, where it names none. */
const FIRST_SIDE = "graph";
const PLACES = /^\d{1,6}(,\d{1,6}){0,999}$/;
const BUFFER = /^[0-9a-f]{1,16}(\.[0-9a-f]{1,16})?$/;

/** What a query requests; fields are absent where it has none. @param {string} text */
export function parse(text) {
  const query = new URLSearchParams(text);
  /** @type {Partial<State>} */
  const found = {};
  for (const name of WORDS) {
    const value = query.get(name);
    if (value !== null) found[name] = value;
  }
  const [node, buffer, open] = ["node", "buffer", "open"].map((name) => query.get(name));
  if (node !== null) found.node = nodeList.read(node);
  const [select, filter] = ["select", "filter"].map((name) => query.getAll(name).filter(Boolean).slice(0, MOST_NAMED));
  if (select.length) found.select = select;
  const brush = brushOf(filter[0] ?? "");
  if (brush) found.brush = brush;
  else if (filter.length) found.filter = filter;
  if (buffer !== null && BUFFER.test(buffer)) found.buffer = buffer;
  const shares = query.get("shares") ?? "";
  if (SHARES.test(shares)) found.shares = shares.split(",").map(Number);
  const families = query.get("families") ?? "";
  if (PLACES.test(families)) found.families = families.split(",").map(Number);
  const time = timesOf(query.get("time") ?? "");
  if (time) found.time = time;
  if (open !== null) found.open = open.split(",").filter(Boolean);
  return found;
}

/** @param {string} text @returns {Brush|null} */
function brushOf(text) {
  const [, side = FIRST_SIDE, ...times] = BRUSH.exec(text) ?? [];
  const [from, to] = times.map(Number);
  return from < to ? { from, to, side } : null;
}

/** A brush, as a query has it. @param {Brush} brush */
export const filterOf = ({ side, from, to }) => `time:${side === FIRST_SIDE ? "" : `${side}:`}${from}-${to}`;

/** What leaves nodes, as a query has it. @param {State} state */
const filtersOf = ({ filter, brush }) => (brush ? [filterOf(brush)] : filter);

/** @param {string} text @returns {Times|null} */
function timesOf(text) {
  if (text === "between" || text === "selected") return text;
  const [from, to] = (TIME.exec(text) ?? []).slice(1).map(Number);
  return from < to ? [from, to] : null;
}

/** The graph that a query names; null: none. @param {string} text */
export function graphOf(text) {
  const graph = new URLSearchParams(text).get("graph");
  return graph !== null && /^\d{1,15}$/.test(graph) ? Number(graph) : null;
}

/** A node with bodies, of all that can be open; the others are folds. @param {string} id */
export const isBody = (id) => /^n\d+$/.test(id);

/** What of all that is open is there: without folds only nodes with bodies. @param {string} fold @param {string[]} open */
const shownOpen = (fold, open) => (fold === "none" ? open.filter(isBody) : open);

/**
 * Put into a query what the places of nodes depend on, but for the launch.
 * @param {URLSearchParams} query @param {State} state @param {string} asked the layout that is requested, "" for none
 */
export function place(query, { fold, open, edges, level }, asked) {
  if (fold !== "none") query.set("fold", fold);
  const shown = shownOpen(fold, open);
  if (shown.length) query.set("open", shown.join(","));
  if (edges === "data") query.set("edges", "data");
  if (asked) query.set("layout", asked);
  if (level !== ABSENT.level) query.set("level", level);
}

/**
 * A state as a query: what differs from what is there without it; and how many of the selected nodes it has no room for.
 * @param {Record<string, string|number>} fixed which graph, or which two
 * @param {State} state @param {string} table the one that the page begins with
 * @param {string} [fold] what is folded at first
 */
export function write(fixed, state, table, fold = "none") {
  const query = new URLSearchParams(Object.entries(fixed).map(([name, value]) => [name, String(value)]));
  // Its place: addresses are read by people.
  query.set("node", "");
  for (const name of state.select) query.append("select", name);
  for (const name of filtersOf(state)) query.append("filter", name);
  for (const name of WORDS) {
    const value = state[name];
    if (value && value !== ABSENT[/** @type {"order"} */ (name)]) query.set(name, value);
  }
  if (state.table === table) query.delete("table");
  if (fold !== "none") query.set("fold", state.fold);
  if (state.launch !== "all") query.delete("order");
  if (state.edges === "data" && state.buffer) query.set("buffer", state.buffer);
  const open = shownOpen(state.fold, state.open);
  if (open.length) query.set("open", open.join(","));
  if (state.families.length) query.set("families", state.families.join(","));
  if (state.time) query.set("time", typeof state.time === "string" ? state.time : state.time.join("-"));
  if (state.shares) query.set("shares", state.shares.join(","));
  const ids = state.select.length ? [] : state.node;
  const kept = nodeList.put(query, ids, MOST_CHARACTERS - joined(query).length);
  return { text: joined(query), left: ids.length - kept };
}

/** A state as a query. @param {Record<string, string|number>} fixed @param {State} state @param {string} table */
export const textOf = (fixed, state, table) => write(fixed, state, table).text;

/** @param {URLSearchParams} query */
const joined = (query) => query.toString().replaceAll("%2C", ",").replaceAll("%3A", ":");
