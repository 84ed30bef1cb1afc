// The table of runs: its numbers, bars and links, and its order in the address.
import { inTwo } from "../core/dom.js";
import * as format from "../core/format.js";
import { widthsOf } from "../table/widths.js";
import * as pageHistory from "./history.js";
import * as dashProps from "./props.js";

export const gvizDuration = format.duration;
export const gvizCount = format.integer;

/**
 * A cell whose ground says how much of the greatest its value is.
 * @param {any} value @param {number} most
 */
export const gvizBar = (value, most) => {
  const share = most > 0 && value > 0 ? (100 * value) / most : 0;
  return { backgroundImage: `linear-gradient(to right, var(--gv-selected) ${share}%, transparent ${share}%)` };
};

/**
 * A cell that leads to the page of its run or graph.
 * @param {{value: any, data: any, colDef: any}} given
 */
export function GvizLink({ value, data, colDef }) {
  const href = data[`${colDef.field}_href`];
  const name = GvizName({ value });
  if (!href) return React.createElement("span", { className: "gv-muted" }, name);
  /** @param {any} event */
  const go = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    pageHistory.go(href);
  };
  return React.createElement("a", { href, onClick: go, title: value, className: "gv-graph-link" }, name);
}

/**
 * A name, cut in its middle where the cell is narrow.
 * @param {{value: string}} given
 */
export function GvizName({ value }) {
  const [head, tail] = inTwo(value ?? "");
  return React.createElement("span", { className: "gv-middle" }, React.createElement("span", {}, head), tail && React.createElement("span", {}, tail));
}

/**
 * The button by which two graphs are picked: dash/compare.js.
 * @param {{data: any}} given
 */
export function GvizPick({ data }) {
  if (data.graph_id === undefined) return null;
  return React.createElement("button", {
    type: "button", className: "gv-button gv-compare-pick", "aria-pressed": "false",
    "data-file": data.key, "data-graph": String(data.graph_id),
  }, "Compare");
}

/** Keep the order in the address. @param {GridApi} api of the grid */
function keepOrder(api) {
  const sorted = api.getColumnState().find((column) => column.sort && !column.sortIndex);
  const query = new URLSearchParams(window.location.search);
  if (query.get("view") !== "table") return;
  if (sorted) query.set("sort", (sorted.sort === "desc" ? "-" : "") + sorted.colId);
  else query.delete("sort");
  pageHistory.keep(query);
}

/** Have no column cut at the edge. @param {GridApi} api of the grid */
function fitColumns(api) {
  const shown = api.getAllDisplayedColumns();
  const { left, right } = api.getHorizontalPixelRange();
  const widths = widthsOf(shown.map((column) => column.getColDef()), right - left);
  api.setColumnWidths(shown.map((column, n) => ({ key: column.getColId(), newWidth: widths[n] })));
}

/**
 * Called by Dash when the table is on the page.
 * @param {string} id
 */
export async function watchTable(id) {
  const api = await window.dash_ag_grid.getApiAsync(id);
  api.addEventListener("sortChanged", () => keepOrder(api));
  api.addEventListener("gridSizeChanged", () => fitColumns(api));
  fitColumns(api);
  return dashProps.noUpdate();
}
