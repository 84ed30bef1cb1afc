// Numbers in the table of nodes, and its search box.
(function () {
  "use strict";

  function threeDigits(value) {
    if (value === 0) {
      return "0";
    }
    const rounded = Number(value.toPrecision(3));
    const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(rounded))));
    return digits > 0
      ? rounded.toFixed(digits)
      : rounded.toLocaleString("en").replaceAll(",", "\u202f");
  }

  const functions = (window.dashAgGridFunctions = window.dashAgGridFunctions || {});
  functions.gvizMicroseconds = (ns) => (ns === null || ns === undefined ? "" : threeDigits(ns / 1e3));
  functions.gvizPercent = (f) =>
    f === null || f === undefined ? "" : threeDigits(f * 100) + "\u202f%";

  document.addEventListener("input", (event) => {
    if (event.target.id === "search" && window.dash_ag_grid) {
      window.dash_ag_grid
        .getApiAsync("nodes")
        .then((api) => api.setGridOption("quickFilterText", event.target.value));
    }
  });
})();
