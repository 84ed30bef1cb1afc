// Joins choices and views of the graph page. Dash calls these as clientside callbacks.
import * as bus from "../core/bus.js";
import { closest } from "../core/dom.js";
import { make } from "../core/parts.js";
import * as payloads from "../core/payload.js";
import * as breakdown from "../page/breakdown.js";
import * as selectionNote from "../page/selection_note.js";
import { loadRows } from "./grid.js";
import * as pageHistory from "./history.js";
import * as pageInspector from "./inspector.js";
import * as kernelTable from "./kernels.js";
import { noUpdate, setPresent as setProps } from "./props.js";
import * as pageSelection from "./selection.js";

/**
 * Rows of the table of nodes were selected.
 * @param {any} rows
 */
export function selectRows(rows) {
  pageSelection.fromGrid(rows);
  return noUpdate();
}

/**
 * Fetch the table's rows, and select once the grid has them.
 * @param {string} source @param {number[]} selected
 */
export async function loadTable(source, selected) {
  const rows = await loadRows("nodes", source);
  if (rows === null) return noUpdate();
  const table = document.getElementById("nodes");
  const filled = payloads.unversioned(source);
  const again = table?.dataset.filled === filled;
  if (table) table.dataset.filled = filled;
  // Rows of a recording that has grown keep their selection, and the table its place.
  if (!again && selected && selected.length > 0) {
    const grid = await window.dash_ag_grid.getApiAsync("nodes");
    const apply = () => {
      grid.removeEventListener("rowDataUpdated", apply);
      pageSelection.selectInGrid(selected);
    };
    grid.addEventListener("rowDataUpdated", apply);
  }
  return rows;
}

/**
 * @param {string} launch @param {string} streamLaunch @param {string} order @param {string} source
 */
export function showLaunch(launch, streamLaunch, order, source) {
  const query = new URLSearchParams();
  pageHistory.setLaunches(query, launch, streamLaunch, order);
  setProps("order-box", { hidden: launch !== "all" });
  const next = source.split("?")[0] + "?" + query;
  return next === source ? noUpdate() : next;
}

/**
 * A page, or what has become of its recording: the inspector is filled anew.
 * @param {string} source @param {number[]} selected
 */
export function showInspector(source, selected) {
  const group = bus.group(bus.PAGE);
  pageInspector.show(source, group.listeners.size ? group.selected : selected || []);
  return noUpdate();
}

/**
 * The verdict and the breakdown of the graph shown.
 * @param {{breakdown: string, verdict: string}|null} source
 */
export function showBreakdown(source) {
  breakdown.show(source);
  return noUpdate();
}

/**
 * Nodes one by one, or by kernel name.
 * @param {any} view
 */
export function showTable(view) {
  const kernels = view === "kernels";
  setProps("kernels-box", { hidden: !kernels });
  setProps("nodes-box", { hidden: kernels });
  kernelTable.show(kernels);
  return noUpdate();
}

/**
 * Show the timeline or the memory view; its data are fetched when it is first looked at.
 * @param {string} panel @param {string} launch @param {string} first @param {string} source
 */
export function showPanel(panel, launch, first, source) {
  const memory = panel === "memory";
  setProps("timeline-box", { hidden: memory });
  setProps("memory-box", { hidden: !memory });
  setProps("eager-box", { hidden: memory });
  if (!memory) {
    return noUpdate();
  }
  // The median launch and the stack of all have no single one to place nodes by.
  const next = /^\d+$/.test(launch) ? `${first.split("?")[0]}?launch=${launch}` : first;
  return next === source ? noUpdate() : next;
}

/**
 * Follow an address: the button of the inspector has it.
 * @param {string} address
 */
function follow(address) {
  setProps("data", { checked: true });
  setProps("dag", { buffer: address });
}

/**
 * The DAG's source: its layout, and the launch where that is requested.
 * @param {string} layout @param {string} colour @param {string} launch @param {string} folding
 * @param {string[]|null|undefined} open @param {any} data @param {string} source @param {any} shown
 */
export function place(layout, colour, launch, folding, open, data, source, shown) {
  const [path, before] = source.split("?");
  const query = new URLSearchParams();
  pageHistory.addFolds(query, folding, open);
  pageHistory.addBaseline(query, Object.fromEntries(new URLSearchParams(before)));
  if (data) {
    query.set("edges", "data");
  }
  if (layout && (layout !== shown || source.includes("layout="))) {
    query.set("layout", layout);
  }
  // The median launch and the stack of all have no single one to place nodes by.
  if (/^\d+$/.test(launch) && (layout === "time" || colour === "launch")) {
    query.set("launch", launch);
  }
  const requested = query.toString().replaceAll("%2C", ",").replaceAll("%40", "@");
  const next = query.size > 0 ? `${path}?${requested}` : path;
  return next === source || (before === undefined && query.size === 0) ? noUpdate() : next;
}

/**
 * The view reports which layout it drew, also where none was requested.
 * @param {string} layout @param {string} chosen
 */
export function drawn(layout, chosen) {
  if (!layout || layout === chosen || layout === "table") return noUpdate();
  pageHistory.expect({ layout });
  return layout;
}

/** @param {any} value */
export function paint(value) {
  setProps("dag", { colour: value });
  setProps("timeline", { colour: value });
  return noUpdate();
}

/** The address that the page was last made for. */
let made = "";

/**
 * Another page came: its title, and its beginning in view.
 * @param {string} text
 */
export function title(text) {
  document.title = text;
  const address = window.location.pathname + window.location.search;
  if (address !== made) selectionNote.clear();
  if (address !== made && !window.location.hash) document.getElementById("page")?.scrollTo(0, 0);
  made = address;
  return noUpdate();
}

export function theme() {
  const scheme = document.documentElement.getAttribute("data-mantine-color-scheme");
  const dark = scheme === "dark";
  setProps("dag", { theme: dark ? "dark" : "light" });
  setProps("timeline", { theme: dark ? "dark" : "light" });
  setProps("memory", { theme: dark ? "dark" : "light" });
  return dark ? "Switch to light" : "Switch to dark";
}

/**
 * Make what stands in data-parts (gviz.app.components.parts) into elements; React leaves alone what it
 * has not made.
 */
function fill() {
  /** @type {NodeListOf<HTMLElement>} */
  const hosts = document.querySelectorAll("#report-body [data-parts]");
  for (const host of hosts) {
    const parts = JSON.parse(host.dataset.parts ?? "");
    host.removeAttribute("data-parts");
    host.dataset.handed = "";
    host.replaceChildren(...make(parts, parts.length - 1).childNodes);
  }
}

/**
 * A link to another page of ours needs no new document.
 * @param {any} event
 */
function followLink(event) {
  const link = event.target.closest?.("[data-handed] a[href], #inspector-body a[href]");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const address = link.getAttribute("href");
  // Another site's, or a place on this page.
  if (!address.startsWith("/")) return;
  event.preventDefault();
  pageHistory.go(address);
}

/** Hear what happens on the page. */
export function listen() {
  const changes = { childList: true, subtree: true, attributeFilter: ["data-parts"] };
  new MutationObserver(fill).observe(document.body, changes);
  document.addEventListener("click", followLink);
  document.addEventListener("click", (event) => {
    const button = closest(event, "button[data-follow]");
    if (button) {
      follow(button.dataset.follow ?? "");
    }
  });
}
