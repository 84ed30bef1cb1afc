// The table of nodes: its numbers, its search box, and the nodes that a view filters it to.
import * as bus from "../core/bus.js";
import * as csv from "../core/csv.js";
import { closest } from "../core/dom.js";
import * as format from "../core/format.js";

/** What columns name as functions of their own. */
export const FUNCTIONS = {
  gvizMicroseconds: format.microseconds,
  gvizPercent: format.percent,
  gvizSignedMicroseconds: format.signedMicroseconds,
  gvizSignedPercent: format.signedPercent,
};

/** @param {Set<number>|null} wanted @param {GridApi} api */
function showFilter(wanted, api) {
  const clear = document.getElementById("filter-clear");
  if (!clear) {
    return;
  }
  clear.hidden = wanted === null;
  let total = 0;
  api.forEachNode(() => (total += 1));
  clear.textContent = wanted === null ? "" : `${wanted.size} of ${total} nodes ✕`;
}

/**
 * Save the table shown as a CSV file: as it is sorted and filtered, values as recorded, in the
 * units that the names of its columns say.
 * @param {HTMLElement} button
 */
async function save(button) {
  const kernels = document.getElementById("kernels-box");
  const id = kernels && !kernels.hidden ? "kernels" : "nodes";
  const grid = await window.dash_ag_grid.getApiAsync(id);
  grid.exportDataAsCsv({
    fileName: `${csv.nameOf(button.dataset.name ?? "")}${id === "kernels" ? "-kernels" : ""}.csv`,
    columnKeys: grid.getAllDisplayedColumns().map((c) => c.getColId()).filter((c) => c !== "open"),
    processCellCallback: ({ value }) => csv.cell(value),
    processHeaderCallback: ({ column }) => column.getColId(),
  });
}

/** Hear what happens on the page. */
export function listen() {
  document.addEventListener("gviz-filter", async (event) => {
    if (!document.getElementById("nodes") || !window.dash_ag_grid) {
      return;
    }
    const wanted = event.detail === null ? null : new Set(event.detail);
    const api = await window.dash_ag_grid.getApiAsync("nodes");
    api.setGridOption("isExternalFilterPresent", () => wanted !== null);
    api.setGridOption("doesExternalFilterPass", (/** @type {GridRow} */ row) => wanted === null || wanted.has(row.data.key));
    api.onFilterChanged();
    showFilter(wanted, api);
  });
  document.addEventListener("click", (event) => {
    const button = closest(event, "#save-csv");
    if (button) save(button);
    if (closest(event, "#filter-clear")) {
      bus.group(bus.PAGE).filter(null);
    }
  });
  document.addEventListener("input", (event) => {
    const { id, value } = /** @type {HTMLInputElement} */ (event.target);
    if (id === "search" && window.dash_ag_grid) {
      window.dash_ag_grid
        .getApiAsync("nodes")
        .then((api) => api.setGridOption("quickFilterText", value));
    }
  });
}
