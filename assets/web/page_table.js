// The table of nodes: its numbers, its search box, and the nodes that a view filters it to.
(function () {
  "use strict";

  const functions = (window.dashAgGridFunctions = window.dashAgGridFunctions || {});
  functions.gvizMicroseconds = window.gviz.format.microseconds;
  functions.gvizPercent = window.gviz.format.share;
  functions.gvizSignedMicroseconds = window.gviz.format.signedMicroseconds;
  functions.gvizSignedPercent = window.gviz.format.signedShare;

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

  document.addEventListener("gviz-filter", async (event) => {
    if (!document.getElementById("nodes") || !window.dash_ag_grid) {
      return;
    }
    const wanted = event.detail === null ? null : new Set(event.detail);
    const api = await window.dash_ag_grid.getApiAsync("nodes");
    api.setGridOption("isExternalFilterPresent", () => wanted !== null);
    api.setGridOption("doesExternalFilterPass", (row) => wanted === null || wanted.has(row.data.key));
    api.onFilterChanged();
    showFilter(wanted, api);
  });

  document.addEventListener("click", (event) => {
    if (event.target.id === "filter-clear") {
      window.gviz.bus.group(window.gviz.bus.PAGE).filter(null);
    }
  });

  document.addEventListener("input", (event) => {
    if (event.target.id === "search" && window.dash_ag_grid) {
      window.dash_ag_grid
        .getApiAsync("nodes")
        .then((api) => api.setGridOption("quickFilterText", event.target.value));
    }
  });
})();
