/**
 * The address: which page it names, and what of the page shown it keeps.
 *
 * A choice (launch, order, colour, layout, folding) is a step of its own, so that the back button
 * undoes it; a selection and an opened fold change the step they are made in. dcc.Location reports
 * of every change of the address; what the page did itself needs no new page.
 *
 * Pages are counted as they are requested, and the server says with each which it is: until the
 * last one is there, what the page shown still reports is no choice for the address.
 */
import * as bus from "../core/bus.js";
import * as nodeList from "../core/node_list.js";
import * as selectionNote from "../page/selection_note.js";
import { noUpdate, propsOf, set } from "./props.js";

/** Parameters whose change is a step back button goes over, and their values when absent. */
const STEPS = { launch: null, stream: null, order: "ordinal", colour: null, layout: null, fold: "none", table: "nodes", edges: "all", panel: "timeline" };
/** Colours that mean something against a baseline only (gviz.app.views.dag.overlays). */
const CHANGES = ["change", "ratio"];

/** The address whose page is shown, as far as pages depend on it. */
let shown = /** @type {string|null} */ (null);
/** The number of pages requested. */
let count = 0;
/**
 * Values that controls are about to take without anybody having chosen them.
 * @type {Record<string, string|undefined>}
 */
let expected = {};

function here() {
  return window.location.pathname + window.location.search;
}

/** Whether a page is requested that is not shown yet: the address may be a step further. */
function isComing() {
  return here() !== shown || propsOf("shown").data?.count !== count;
}

/** Let dcc.Location see what the address is now. */
function tellLocation() {
  window.dispatchEvent(new PopStateEvent("popstate"));
}

/** A query as addresses have it: lists keep their commas. @param {URLSearchParams} query */
function searchOf(query) {
  return `?${query.toString().replaceAll("%2C", ",")}`;
}

/**
 * Write the selection of the graph page into the address that is left: Dash may not have passed on
 * yet what was selected a moment ago, and knows nothing of it later.
 */
function keepSelection() {
  const group = bus.group(bus.PAGE);
  const query = new URLSearchParams(window.location.search);
  if (!group.listeners.size || !query.has("graph") || isComing()) return;
  nodeList.put(query, group.selected);
  const address = searchOf(query);
  if (address === window.location.search) return;
  window.history.replaceState(window.history.state, "", address);
  shown = here();
}

/** Lead to another page of ours. @param {string} address */
export function go(address) {
  keepSelection();
  window.history.pushState({}, "", address);
  tellLocation();
}

/** Lead to where the page shown is to be had from now on: no step. @param {string} address */
export function move(address) {
  window.history.replaceState(window.history.state, "", address);
  tellLocation();
}

/**
 * Write what the timeline shows into a query.
 * @param {URLSearchParams} query @param {string} launch @param {string} streamLaunch
 * @param {string} order
 */
export function setLaunches(query, launch, streamLaunch, order) {
  if (launch) query.set("launch", launch);
  if (streamLaunch) query.set("stream", streamLaunch);
  if (launch === "all" && order && order !== "ordinal") query.set("order", order);
}

/**
 * What is folded, and what is open: without folds only nodes with bodies (open_levels.py).
 * @param {URLSearchParams} query @param {string} folding @param {string[]|null|undefined} open
 */
export function addFolds(query, folding, open) {
  const folded = folding && folding !== "none";
  if (folded) query.set("fold", folding);
  const ids = (open || []).filter((id) => folded || /^n\d+$/.test(id));
  if (ids.length > 0) query.set("open", ids.join(","));
}

/**
 * Name the graph to compare with, as `from` does.
 * @param {URLSearchParams} query @param {Record<string, any>|null|undefined} from
 */
export function addBaseline(query, from) {
  for (const name of ["baseline", "baseline_graph"]) {
    if (from && from[name] !== undefined) query.set(name, from[name]);
  }
}

/**
 * What a page is compared with, by the names of addresses; null: nothing.
 * @param {any} view
 */
function baselineOf(view) {
  if (!view.baseline) return null;
  const { file, graph_id: there } = view.baseline;
  return { baseline: file.split("@")[0], baseline_graph: there };
}

/**
 * Edges by what they carry, and the address that is followed.
 * @param {URLSearchParams} query @param {any} data @param {string} buffer
 */
function addData(query, data, buffer) {
  if (data) query.set("edges", "data");
  if (data && buffer) query.set("buffer", buffer);
}

/**
 * Whether a choice differs: what the address did not have was no choice.
 * @param {URLSearchParams} before @param {URLSearchParams} now
 */
function isStep(before, now) {
  return Object.entries(STEPS).some(([name, absent]) => {
    const old = before.get(name) ?? absent;
    const next = now.get(name) ?? absent;
    return old !== null && next !== old && next !== expected[name];
  });
}

/** Change the address of the page shown. @param {URLSearchParams} query */
export function keep(query) {
  const address = searchOf(query);
  if (address === window.location.search || isComing()) return window.location.search;
  const before = new URLSearchParams(window.location.search);
  const state = window.history.state;
  if (isStep(before, query)) window.history.pushState(state, "", address);
  else window.history.replaceState(state, "", address);
  shown = here();
  tellLocation();
  return address;
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
  shown = requested;
  expected = {};
  count += 1;
  return { path: pathname, search: search || "", again: again || 0, count };
}

/**
 * Lead to the graph or the baseline chosen: at once, so that no later step overwrites it.
 * @param {string} graph @param {string} baseline @param {any} view
 */
export function openGraph(graph, baseline, view) {
  const chosen = chosenAddress(graph, baseline, view);
  if (chosen) go(chosen);
  return noUpdate();
}

/**
 * The address of a choice; null: it is shown already.
 * @param {string} graph @param {string} baseline @param {any} view
 */
function chosenAddress(graph, baseline, view) {
  const shownBaseline = baselineOf(view);
  if (graph && Number(graph) !== view.graph) {
    const query = new URLSearchParams({ file: view.file, graph });
    // Without its graph: that which corresponds to the new one.
    addBaseline(query, shownBaseline && { baseline: shownBaseline.baseline });
    return "?" + query;
  }
  const { baseline: file, baseline_graph: there } = shownBaseline || {};
  const before = file === undefined ? "none" : `${there}:${file}`;
  return baseline && baseline !== before ? chooseBaseline(baseline, before) : null;
}

/**
 * The address of this page against another baseline: the rest stays as it is.
 * @param {string} chosen @param {string} before
 */
function chooseBaseline(chosen, before) {
  const query = new URLSearchParams(window.location.search);
  query.delete("baseline");
  query.delete("baseline_graph");
  if (chosen === "none") {
    if (CHANGES.includes(query.get("colour") ?? "")) query.delete("colour");
  } else {
    const at = chosen.indexOf(":");
    addBaseline(query, { baseline: chosen.slice(at + 1), baseline_graph: chosen.slice(0, at) });
    if (before === "none") query.set("colour", CHANGES[0]);
    set("baseline-note", { children: "Comparing…" });
  }
  return searchOf(query);
}

/**
 * `drawn` is the layout that the view reports; until it does, the choice shows a guess.
 * @param {number[]} selected @param {string} launch @param {string} streamLaunch
 * @param {string} order @param {string} colour @param {string} layout @param {string} drawn
 * @param {string} folding @param {string[]|null|undefined} open @param {string} table
 * @param {any} data @param {string} buffer @param {string} panel @param {any} view
 */
export function remember(
  selected, launch, streamLaunch, order, colour, layout, drawn, folding, open, table, data, buffer,
  panel, view,
) {
  const before = new URLSearchParams(window.location.search);
  // The page may be on its way out.
  if (!view || before.get("file") !== view.file || Number(before.get("graph")) !== view.graph) {
    return noUpdate();
  }
  if (before.get("baseline") !== view.requested_baseline) return noUpdate();
  const query = new URLSearchParams({ file: view.file, graph: view.graph });
  const nodes = selected || [];
  selectionNote.show(nodeList.put(query, nodes), nodes.length);
  setLaunches(query, launch, streamLaunch, order);
  if (colour) query.set("colour", colour);
  if (layout && (before.has("layout") || drawn === layout)) query.set("layout", layout);
  addFolds(query, folding, open);
  if (table === "kernels") query.set("table", table);
  addBaseline(query, baselineOf(view));
  addData(query, data, buffer);
  if (panel === "memory") query.set("panel", panel);
  const address = keep(query);
  expected = {};
  return address;
}

/** Values that controls will take by themselves: no steps. @param {Record<string, string|undefined>} values */
export function expect(values) {
  expected = { ...expected, ...values };
}
