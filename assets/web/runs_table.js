// The table of runs: its numbers, bars and links, and its order in the address.
(function () {
  "use strict";
  const functions = (window.dashAgGridFunctions = window.dashAgGridFunctions || {});
  const missing = (value) => value === null || value === undefined;

  functions.gvizDuration = (ns) => (missing(ns) ? "–" : window.gviz.format.time(ns));
  functions.gvizCount = (count) => (missing(count) ? "–" : count.toLocaleString("en").replaceAll(",", "\u202f"));
  /** A cell whose ground says how much of the greatest its value is. */
  functions.gvizBar = (value, most) => {
    const share = most > 0 && value > 0 ? (100 * value) / most : 0;
    return { backgroundImage: `linear-gradient(to right, var(--gv-selected) ${share}%, transparent ${share}%)` };
  };

  /** A cell that leads to the page of its run or graph. */
  function GvizLink({ value, data, colDef }) {
    const href = data[`${colDef.field}_href`];
    if (!href) return React.createElement("span", { className: "gv-muted" }, value);
    const go = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      window.gviz.history.go(href);
    };
    return React.createElement("a", { href, onClick: go, title: value, className: "gv-graph-link" }, value);
  }

  /** The button by which two graphs are picked: page_compare.js. */
  function GvizPick({ data }) {
    if (data.graph_id === undefined) return null;
    return React.createElement("button", {
      type: "button", className: "gv-button gv-compare-pick", "aria-pressed": "false",
      "data-file": data.key, "data-graph": String(data.graph_id),
    }, "Compare");
  }

  const components = (window.dashAgGridComponentFunctions = window.dashAgGridComponentFunctions || {});
  components.GvizLink = GvizLink;
  components.GvizPick = GvizPick;

  /** Keep the order in the address. @param {Object} api of the grid */
  function keepOrder(api) {
    const sorted = api.getColumnState().find((column) => column.sort && !column.sortIndex);
    const query = new URLSearchParams(window.location.search);
    if (query.get("view") !== "table") return;
    if (sorted) query.set("sort", (sorted.sort === "desc" ? "-" : "") + sorted.colId);
    else query.delete("sort");
    window.gviz.history.keep(query);
  }

  /** Called by Dash when the table is on the page. */
  async function watchOrder(id) {
    const api = await window.dash_ag_grid.getApiAsync(id);
    api.addEventListener("sortChanged", () => keepOrder(api));
    return window.gviz.dashProps.noUpdate();
  }

  window.dash_clientside = Object.assign({}, window.dash_clientside, { gvizRuns: { watchOrder } });
})();
