// The table by kernel name: groups of the rows that the table of nodes shows, and what a row of
// them does. Python side: gviz.app.views.table.kernel_table.
import * as bus from "../core/bus.js";
import { integer } from "../core/format.js";
import { group } from "../table/kernels.js";
import * as dashProps from "./props.js";
/** @import { NodeRow } from "../table/nodes.js" */

/** @param {string} id */
const apiOf = (id) => window.dash_ag_grid.getApiAsync(id);
/** Whether the table is the one shown; its grid may be there a little later. */
let shown = false;
const watched = new WeakSet();
/** @type {ReturnType<typeof group>} */
let groups = [];
/** @type {Set<number>} */
let selected = new Set();

/** Make the groups anew from what the table of nodes shows. */
async function fill() {
  if (!shown) return;
  const [nodes, kernels] = await Promise.all([apiOf("nodes"), apiOf("kernels")]);
  watch(nodes, kernels);
  /** @type {NodeRow[]} */
  const rows = [];
  nodes.forEachNodeAfterFilter((row) => rows.push(row.data));
  groups = group(rows);
  hand();
}

/** @param {boolean} wanted */
export function show(wanted) {
  shown = wanted;
  fill();
}

/**
 * Hand the groups to the grid, each with how many of its nodes are selected; rows whose nodes
 * all are, are selected too.
 */
function hand() {
  const rowData = groups.map((row) => ({
    ...row, selected: row.nodes.reduce((count, id) => count + Number(selected.has(id)), 0),
  }));
  const ids = rowData.filter((row) => row.selected === row.count).map((row) => row.id);
  dashProps.set("kernels", { rowData, selectedRows: { ids } });
}

/** @param {GridApi} nodes @param {GridApi} kernels */
function watch(nodes, kernels) {
  if (!watched.has(nodes)) {
    watched.add(nodes);
    nodes.addEventListener("filterChanged", fill);
    nodes.addEventListener("rowDataUpdated", fill);
  }
  if (watched.has(kernels)) return;
  watched.add(kernels);
  kernels.addEventListener("selectionChanged", (event) => {
    // What the page itself selected ("api...") or refilled is no choice of its reader.
    if (event.source.startsWith("api") || event.source === "rowDataChanged") return;
    const ids = kernels.getSelectedRows().flatMap((row) => row.nodes);
    pageGroup().select(ids.sort((a, b) => a - b));
  });
  kernels.addEventListener("rowDoubleClicked", (event) => open(event.data));
  kernels.addEventListener("cellKeyDown", (event) => {
    if (event.event.key === "Enter") open(event.data);
  });
}

const pageGroup = () => bus.group(bus.PAGE);

/**
 * Show the nodes of a row, and only them.
 * @param {any} row
 */
function open(row) {
  pageGroup().filter(row.nodes);
  dashProps.set("table-view", { value: "nodes" });
}

/**
 * The button of a row.
 * @param {any} props
 */
export function GvizShowNodes(props) {
  return React.createElement(
    "button",
    {
      type: "button",
      className: "gv-button gv-copy",
      // Its cell is what the keyboard reaches: Enter there does the same.
      tabIndex: -1,
      title: "Show only these nodes (Enter)",
      "aria-label": `Show only the nodes of ${props.data.name}`,
      onClick: () => open(props.data),
    },
    "Show",
  );
}

/**
 * The text of the column of counts in a row.
 * @param {{selected: number, count: number}} given
 */
export function gvizCountOf({ selected: part, count }) {
  return part ? `${integer(part)} of ${integer(count)}` : integer(count);
}

/** Hear what happens on the page. */
export function listen() {
  document.addEventListener("gviz-select", (event) => {
    selected = new Set(event.detail);
    if (shown) hand();
  });
}
