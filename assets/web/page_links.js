// Joins choices and views of the graph page. Dash calls these as clientside callbacks.
(function () {
  "use strict";

  const { noUpdate, setPresent: setProps } = window.gviz.dashProps;

  /** Rows of the table of nodes were selected. */
  function selectRows(rows) {
    window.gviz.selection.fromGrid(rows);
    return noUpdate();
  }

  /** Fetch the table's rows, and select once the grid has them. */
  async function loadTable(source, selected) {
    const rows = await window.gviz.gridRows.load("nodes", source);
    if (rows === null) return noUpdate();
    const table = document.getElementById("nodes");
    const filled = window.gviz.payload.unversioned(source);
    const again = table?.dataset.filled === filled;
    if (table) table.dataset.filled = filled;
    // Rows of a recording that has grown keep their selection, and the table its place.
    if (!again && selected && selected.length > 0) {
      const grid = await window.dash_ag_grid.getApiAsync("nodes");
      const apply = () => {
        grid.removeEventListener("rowDataUpdated", apply);
        window.gviz.selection.selectInGrid(selected);
      };
      grid.addEventListener("rowDataUpdated", apply);
    }
    return rows;
  }

  function showLaunch(launch, streamLaunch, order, source) {
    const query = new URLSearchParams();
    window.gviz.history.setLaunches(query, launch, streamLaunch, order);
    setProps("order-box", { hidden: launch !== "all" });
    const next = source.split("?")[0] + "?" + query;
    return next === source ? noUpdate() : next;
  }

  /** A page, or what has become of its recording: the inspector is filled anew. */
  function showInspector(source, selected) {
    const group = window.gviz.bus.group(window.gviz.bus.PAGE);
    window.gviz.pageInspector.show(source, group.listeners.size ? group.selected : selected || []);
    return noUpdate();
  }

  /** Nodes one by one, or by kernel name. */
  function showTable(view) {
    const kernels = view === "kernels";
    setProps("kernels-box", { hidden: !kernels });
    setProps("nodes-box", { hidden: kernels });
    window.gviz.kernels.show(kernels);
    return noUpdate();
  }

  /** Show the timeline or the memory view; its data are fetched when it is first looked at. */
  function showPanel(panel, launch, first, source) {
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

  /** Follow an address: the button of the inspector says which. */
  function follow(address) {
    setProps("data", { checked: true });
    setProps("dag", { buffer: address });
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-follow]");
    if (button) {
      follow(button.dataset.follow);
    }
  });

  /** Where the DAG comes from: its layout, and the launch where that is asked about. */
  function place(layout, colour, launch, folding, open, data, source, drawn) {
    const [path, before] = source.split("?");
    const query = new URLSearchParams();
    window.gviz.history.addFolds(query, folding, open);
    window.gviz.history.addBaseline(query, Object.fromEntries(new URLSearchParams(before)));
    if (data) {
      query.set("edges", "data");
    }
    if (layout && (layout !== drawn || source.includes("layout="))) {
      query.set("layout", layout);
    }
    // The median launch and the stack of all have no single one to place nodes by.
    if (/^\d+$/.test(launch) && (layout === "time" || colour === "launch")) {
      query.set("launch", launch);
    }
    const asked = query.toString().replaceAll("%2C", ",").replaceAll("%40", "@");
    const next = query.size > 0 ? `${path}?${asked}` : path;
    return next === source || (before === undefined && query.size === 0) ? noUpdate() : next;
  }

  /** The view says which layout it drew, also where none was asked for. */
  function drawn(layout, chosen) {
    if (!layout || layout === chosen || layout === "table") return noUpdate();
    window.gviz.history.expect({ layout });
    return layout;
  }

  function colour(value) {
    setProps("dag", { colour: value });
    setProps("timeline", { colour: value });
    return noUpdate();
  }

  /** The address that the page was last made for. */
  let made = "";

  /** Another page came: its title, and its beginning in view. */
  function title(text) {
    document.title = text;
    const address = window.location.pathname + window.location.search;
    if (address !== made && !window.location.hash) document.getElementById("page")?.scrollTo(0, 0);
    made = address;
    return noUpdate();
  }

  function theme() {
    const scheme = document.documentElement.getAttribute("data-mantine-color-scheme");
    const dark = scheme === "dark";
    setProps("dag", { theme: dark ? "dark" : "light" });
    setProps("timeline", { theme: dark ? "dark" : "light" });
    setProps("memory", { theme: dark ? "dark" : "light" });
    return dark ? "Switch to light" : "Switch to dark";
  }

  window.dash_clientside = Object.assign({}, window.dash_clientside, {
    gvizPage: { selectRows, showInspector, loadTable, showTable, showLaunch, showPanel, place, drawn, colour, title, theme },
  });
})();
