/**
 * The Compare page: its choices in the address, its table, and one selection for the views and the
 * table. Views share theirs by themselves (core/bus.js); what is selected or filtered there comes here
 * as the document's events.
 *
 * @typedef {{nodes: Record<string, [number, number][]>, around: Record<number, [number, number]>,
 *   inside: Record<number, unknown>}} Ways  to bodies and back, from gviz.app.pages.compare.views.body_ways: the
 *   runs of nodes of each level, the level around each and the node there, nodes that hold some
 */
import * as bus from "../core/bus.js";
import * as csv from "../core/csv.js";
import { canvasOf, closest } from "../core/dom.js";
import * as format from "../core/format.js";
import { lastTouched } from "../core/last_touched.js";
import * as nodeList from "../core/node_list.js";
import * as selectionNote from "../page/selection_note.js";
import { loadRows } from "./grid.js";
import * as pageHistory from "./history.js";
import { noUpdate, present, propsOf, setPresent as set } from "./props.js";

const GROUP = "compare-page";
const VIEWS = ["compare-dag", "compare-timeline"];
const TABLE = "compare-table";
/** AG Grid's words for a selection that its user makes. */
const BY_READER = new Set(["rowClicked", "spaceKey", "keyboardSelectAll", "checkboxSelected"]);

/** The part that was last touched. @type {() => string|null} */
let touched = () => null;

/**
 * Write fields of the address; null: it leaves it out.
 * @param {Record<string, any>} fields @param {number[]} [selected] nodes, where they changed
 */
function keep(fields, selected) {
  if (!present("compare-body")) return;
  const query = new URLSearchParams(window.location.search);
  for (const [name, value] of Object.entries(fields)) {
    if (value === null || value === "") query.delete(name);
    else query.set(name, value);
  }
  if (selected) selectionNote.show(nodeList.put(query, selected), selected.length);
  pageHistory.keep(query);
}

// -- what is compared -----------------------------------------------------------------

/**
 * Another file or graph was chosen: another page.
 * @param {string} a @param {string} b @param {string} graphA @param {string} graphB
 */
export function choose(a, b, graphA, graphB) {
  const query = new URLSearchParams(window.location.search);
  const files = a !== (query.get("a") || undefined) || b !== (query.get("b") || undefined);
  const next = new URLSearchParams();
  if (a) next.set("a", a);
  if (b) next.set("b", b);
  if (!files && graphA) {
    next.set("graph", graphB && graphB !== "found" ? `${graphA}:${graphB}` : graphA);
  }
  /** @param {string} name */
  const same = (name) => (query.get(name) || "") === (next.get(name) || "");
  // Without graph= the page chose one itself: that is no choice.
  const chosen = window.dash_clientside.callback_context.triggered_id;
  if (files || (String(chosen).startsWith("compare-graph") && !same("graph"))) {
    pageHistory.go(`${window.location.pathname}?${next.toString().replaceAll("%3A", ":")}`);
  }
  return noUpdate();
}

// -- the table ------------------------------------------------------------------------

/**
 * Columns and rows of the table that is chosen.
 * @param {any} rows @param {any} tables
 */
export async function fill(rows, tables) {
  if (!rows || !tables) return [noUpdate(), noUpdate()];
  const found = await loadRows(TABLE, `${tables.source}&rows=${rows}`);
  if (found === null) return [noUpdate(), noUpdate()];
  keep({ rows: rows === "nodes" ? null : rows });
  const api = await window.dash_ag_grid.getApiAsync(TABLE);
  watch(api);
  return [tables.columns[rows], found];
}

/**
 * The nodes that a row is about.
 * @param {any} row
 */
const keysOf = (row) => row.keys || [row.key];

/** The grids that are listened to. @type {WeakSet<GridApi>} */
const watched = new WeakSet();

/** @param {GridApi} api */
function watch(api) {
  if (watched.has(api)) return;
  watched.add(api);
  api.addEventListener("selectionChanged", (event) => {
    // New rows and what is marked here are no choice of the reader.
    if (!BY_READER.has(event.source)) return;
    const keys = api.getSelectedRows().flatMap(keysOf);
    bus.group(GROUP).select(Array.from(new Set(keys)));
  });
  // What is selected, at first by the address, is marked among other rows too.
  api.addEventListener("rowDataUpdated", () => markRows(api, bus.group(GROUP).selected));
}

/**
 * Select the rows about these nodes; of edges those between them, of groups none.
 * @param {GridApi} api @param {number[]} ids
 */
function markRows(api, ids) {
  // The page may have gone while its rows were on their way.
  if (api.isDestroyed()) return;
  const chosen = new Set(ids);
  /** @type {GridRow[]} */
  const found = [];
  api.forEachNode((node) => {
    const row = node.data;
    const is = row.key !== undefined
      ? chosen.has(row.key)
      : row.to_node !== undefined && keysOf(row).every((/** @type {number} */ key) => chosen.has(key));
    if (is) found.push(node);
  });
  // Through Dash: it would undo what the grid alone knows with the next rows.
  set(TABLE, { selectedRows: { ids: found.map((node) => node.id) } });
  const seen = found.find((node) => node.displayed);
  if (seen) api.ensureNodeVisible(seen, null);
}

/** @param {(api: GridApi) => void} act */
async function withTable(act) {
  if (!present(TABLE) || !window.dash_ag_grid) return;
  act(await window.dash_ag_grid.getApiAsync(TABLE));
}

// -- bodies ---------------------------------------------------------------------------

/**
 * The ways to bodies and back; null: there are none.
 * @returns {Ways|null}
 */
function bodyWays() {
  const ways = document.getElementById("compare-bodies")?.dataset.ways;
  return ways ? JSON.parse(ways) : null;
}

/**
 * Draw another level, with a node of it, or of the one it was opened from, selected.
 * @param {string|number} level @param {number} [node]
 */
function goToLevel(level, node) {
  set("compare-level", { value: String(level) });
  if (node !== undefined) bus.group(GROUP).select([node]);
}

/** @param {number} node */
const openId = (node) => `n${node}`;

/** @returns {string[]} */
const opened = () => propsOf("compare-dag").open || [];

/**
 * The nodes that hold a level, from it outwards to the one that is drawn; null: it is not in that.
 * @param {number} level @param {number} drawn
 * @param {Record<number, [number, number]>} around
 */
function parentsOf(level, drawn, around) {
  const found = [];
  for (let at = level; at !== drawn; [at] = around[at]) {
    if (!around[at]) return null;
    found.push(around[at][1]);
  }
  return found;
}

/** Buttons for the bodies of the selected node, and a button out of the body that is drawn. */
function offerBodies() {
  const ways = bodyWays();
  if (!ways) return;
  const { selected } = bus.group(GROUP);
  const drawn = Number(propsOf("compare-level").value || 0);
  const found = selected.length === 1 ? buttonsFor(selected[0], drawn, ways) : [];
  const out = ways.around[drawn];
  if (out) found.push(wayButton("Out of the body", () => goToLevel(...out)));
  document.getElementById("compare-bodies")?.replaceChildren(...found);
}

/**
 * What can be done about a node: show the body it is in, open or close its own.
 * @param {number} node @param {number} drawn @param {Ways} ways
 */
function buttonsFor(node, drawn, ways) {
  /** @param {[string, [number, number][]]} entry */
  const isIn = ([, runs]) => runs.some(([first, last]) => first <= node && node <= last);
  const home = Object.entries(ways.nodes).find(isIn);
  // A row of the table may be about a node of another level.
  const parents = home ? parentsOf(Number(home[0]), drawn, ways.around) : [];
  if (home && parents === null) return [wayButton("Show it where it is", () => goToLevel(home[0]))];
  const closed = (parents ?? []).map(openId).filter((one) => !opened().includes(one));
  /** @param {string[]} open */
  const setOpen = (open) => set("compare-dag", { open });
  if (closed.length) return [wayButton("Show it where it is", () => setOpen([...opened(), ...closed]))];
  if (!ways.inside[node]) return [];
  const id = openId(node);
  return opened().includes(id)
    ? [wayButton("Close its bodies", () => setOpen(opened().filter((other) => other !== id)))]
    : [wayButton("Open its bodies", () => setOpen([...opened(), id]))];
}

/** @param {string} text @param {() => void} act */
function wayButton(text, act) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "gv-button";
  button.textContent = text;
  button.addEventListener("click", act);
  return button;
}

/** @param {HTMLElement} button */
async function save(button) {
  const { cell, nameOf } = csv;
  const grid = await window.dash_ag_grid.getApiAsync(TABLE);
  grid.exportDataAsCsv({
    fileName: `${nameOf(button.dataset.name ?? "")}-${propsOf("compare-rows").value}.csv`,
    processCellCallback: ({ value, column, node }) => cell(node?.data[column.getColId()] ?? value),
    processHeaderCallback: ({ column }) => column.getColId(),
  });
}

// -- picking two of the Runs page -------------------------------------------------------

/** @returns {HTMLElement[]} */
const picks = () => Array.from(document.querySelectorAll(".gv-compare-pick"));

/**
 * The first one pressed is before, the second after; pressed again it is none.
 * @param {HTMLElement} button
 */
function pick(button) {
  const first = picks().find((other) => other.getAttribute("aria-pressed") === "true");
  if (first && first !== button) {
    const [a, b] = [first.dataset, button.dataset];
    const query = new URLSearchParams({ a: a.file ?? "", b: b.file ?? "", graph: `${a.graph}:${b.graph}` });
    const runs = document.querySelector(".gv-header .gv-brand")?.getAttribute("href");
    pageHistory.go(`${runs}compare?${query.toString().replaceAll("%3A", ":")}`);
    return;
  }
  const pressed = !first;
  button.setAttribute("aria-pressed", String(pressed));
  for (const other of picks()) {
    if (other === button) other.textContent = pressed ? "Before ✓" : "Compare";
    else other.textContent = pressed ? "… with this" : "Compare";
  }
}

// -- the views ------------------------------------------------------------------------

/**
 * Colours, layout, level and open bodies of the views, and their fields of the address.
 * @param {string} _scheme @param {any} tables @param {string} colour @param {string} layout
 * @param {string|number} level @param {string[]|null|undefined} open
 */
export function look(_scheme, tables, colour, layout, level, open) {
  const dark = document.documentElement.getAttribute("data-mantine-color-scheme") === "dark";
  const source = window.dash_clientside.callback_context.triggered_id;
  for (const id of VIEWS) set(id, { theme: dark ? "dark" : "light" });
  if (!tables) return noUpdate();
  if (colour) {
    for (const id of VIEWS) set(id, { colour });
    keep({ colour: colour === "change" ? null : colour });
  }
  if (["compare-layout", "compare-level", "compare-dag"].includes(source ?? "")) {
    const [path, requested] = propsOf("compare-dag").source.split("?");
    const next = new URLSearchParams(requested);
    next.set("layout", layout);
    next.set("level", String(level || 0));
    const ids = (open || []).join(",");
    if (ids) next.set("open", ids);
    else next.delete("open");
    const text = next.toString().replaceAll("%40", "@").replaceAll("%3A", ":").replaceAll("%2C", ",");
    set("compare-dag", { source: `${path}?${text}` });
    keep({ layout: layout === "structure" ? null : layout, level: Number(level) ? level : null, open: ids });
  }
  offerBodies();
  return noUpdate();
}

/** Hear what happens on the page. */
export function listen() {
  touched = lastTouched([...VIEWS, TABLE]);
  document.addEventListener("gviz-select", (event) => {
    if (!present("compare-body")) return;
    const selected = event.detail;
    for (const view of VIEWS) {
      if (view === touched() || !selected.length) continue;
      canvasOf(view)?.gvizShow?.(selected[0]);
    }
    keep({}, selected);
    withTable((api) => {
      const about = new Set(api.getSelectedRows().flatMap(keysOf));
      // What the table itself requested is marked already.
      if (about.size === selected.length && selected.every((id) => about.has(id))) return;
      markRows(api, selected);
    });
  });
  document.addEventListener("gviz-select", offerBodies);
  document.addEventListener("gviz-filter", (event) => {
    const only = event.detail === null ? null : new Set(event.detail);
    withTable((api) => {
      api.setGridOption("isExternalFilterPresent", () => only !== null);
      api.setGridOption("doesExternalFilterPass", (/** @type {GridRow} */ row) =>
        only === null || keysOf(row.data).some((/** @type {number} */ key) => only.has(key)));
      api.onFilterChanged();
      const clear = document.getElementById("compare-filter-clear");
      if (!clear) return;
      clear.hidden = only === null;
      clear.textContent = only === null ? "" : `${format.counted(only.size, "node")} ✕`;
    });
  });
  document.addEventListener("click", (event) => {
    const picked = closest(event, ".gv-compare-pick");
    if (picked) pick(picked);
    const button = closest(event, "#compare-csv");
    if (button) save(button);
    if (closest(event, "#compare-filter-clear")) bus.group(GROUP).filter(null);
  });
}
