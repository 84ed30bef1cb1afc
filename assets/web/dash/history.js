/**
 * The address: which page it names, and what of the page shown it keeps.
 *
 * A choice (launch, order, colour, layout, folding) is a step of its own, so that the back button
 * undoes it; a selection and an opened fold change the step they are made in. dcc.Location reports
 * of every change of the address; what the page did itself needs no new page, and what the graph
 * page can show without one it shows.
 *
 * Pages are counted as they are requested, and the server says with each which it is: until the
 * last one is there, what the page shown still reports is no choice for the address.
 */
import { noUpdate, propsOf } from "./props.js";

/** Parameters whose change is a step of the back button, and their values when absent. */
const STEPS = { launch: null, stream: null, order: "ordinal", colour: null, layout: null, fold: "none", table: "nodes", edges: "all", panel: "timeline" };

/** Parameters that name what a page is about. */
const NAMED = ["file", "graph", "a", "b"];

/** The address whose page is shown, as far as pages depend on it. */
let shown = /** @type {string|null} */ (null);
/** The number of pages requested. */
let count = 0;
/** Choices of the graph page that are steps of the address already. */
let taken = 0;
/** Shows what an address requests on the page that is there; false: that is another page. @type {(search: string) => boolean} */
let goHere = () => false;
/** The state of the page that is there, as a query; null: it has none. @type {() => string|null} */
let stateHere = () => null;

/** Have a page show what addresses of it request, and say its state. @param {typeof goHere} show @param {typeof stateHere} state */
export function leaveTo(show, state) {
  goHere = show;
  stateHere = state;
}

function here() {
  return window.location.pathname + window.location.search;
}

/** Whether a page is requested that is not there yet. */
const isPending = () => propsOf("shown").data?.count !== count;

/** Whether the page shown is not the address's: that may be a step further. */
export const isComing = () => here() !== shown || isPending();

/** Let dcc.Location see what the address is now. */
function tellLocation() {
  window.dispatchEvent(new PopStateEvent("popstate"));
}

/** A query as addresses have it: lists keep their commas. @param {URLSearchParams} query */
function searchOf(query) {
  return `?${query.toString().replaceAll("%2C", ",").replaceAll("%3A", ":")}`;
}

/** Whether a query is about what the address is about. @param {URLSearchParams} query */
function isOfAddress(query) {
  const now = new URLSearchParams(window.location.search);
  return NAMED.every((name) => now.get(name) === query.get(name));
}

/**
 * Write the state of the graph page into the address that is left: Dash may not have passed on
 * yet what was selected a moment ago, and knows nothing of it later.
 */
function keepState() {
  const query = new URLSearchParams(stateHere() ?? "");
  if (!query.size || isComing() || !isOfAddress(query)) return;
  const address = searchOf(query);
  if (address === window.location.search) return;
  window.history.replaceState(window.history.state, "", address);
  shown = here();
}

/** Lead to another page of ours. @param {string} address */
export function go(address) {
  keepState();
  window.history.pushState({}, "", address);
  tellLocation();
}

/** Lead to where the page shown is to be had from now on: no step. @param {string} address */
export function move(address) {
  window.history.replaceState(window.history.state, "", address);
  tellLocation();
}

/**
 * Whether a choice differs: what the address did not have was no choice.
 * @param {URLSearchParams} before @param {URLSearchParams} now
 */
function isStep(before, now) {
  return Object.entries(STEPS).some(([name, absent]) => {
    const old = before.get(name) ?? absent;
    const next = now.get(name) ?? absent;
    return old !== null && next !== old;
  });
}

/** Change the address of the page shown. @param {URLSearchParams} query */
export function keep(query) {
  write(query, isStep(new URLSearchParams(window.location.search), query));
}

/** @param {URLSearchParams} query @param {boolean} isNew whether it is a step */
function write(query, isNew) {
  const address = searchOf(query);
  if (address === window.location.search || isComing()) return;
  const state = window.history.state;
  if (isNew) window.history.pushState(state, "", address);
  else window.history.replaceState(state, "", address);
  shown = here();
  tellLocation();
}

// -- what Dash calls ------------------------------------------------------------------

/**
 * The page to make, if the address names another one than is shown.
 * @param {string} pathname @param {string} search @param {number} again
 */
export function follow(pathname, search, again) {
  const requested = pathname + (search || "");
  if (!pathname || (requested === shown && window.dash_clientside.callback_context.triggered_id !== "again")) {
    return noUpdate();
  }
  const isHere = pathname === shown?.split("?")[0] && window.dash_clientside.callback_context.triggered_id !== "again";
  shown = requested;
  if (isHere && !isPending() && goHere(search || "")) return noUpdate();
  taken = 0;
  count += 1;
  return { path: pathname, search: search || "", again: again || 0, count };
}

/** The state that the graph page reports. @param {{query: string, steps: number}} state */
export function remember({ query: text, steps }) {
  const query = new URLSearchParams(text);
  // The page may be on its way out.
  if (steps === undefined || !isOfAddress(query)) return noUpdate();
  const isNew = steps > taken;
  taken = steps;
  write(query, isNew);
  return noUpdate();
}

// -- what the graph page leads to -----------------------------------------------------

/**
 * Lead to another graph of the recording: at once, so that no later step overwrites it.
 * @param {Record<string, any>} fixed what the address of the page shown has for certain @param {number} graph
 */
export function openGraph({ file }, graph) {
  go(searchOf(new URLSearchParams({ file, graph: String(graph) })));
}
