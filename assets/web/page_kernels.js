// The table by kernel name: groups of the rows that the table of nodes shows, and what a row of
// them does. Python side: gviz.app.views.table.kernel_table.
(function () {
  "use strict";

  function median(sorted) {
    const middle = sorted.length >> 1;
    return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  /**
   * One row a name. Times are null where no node of the name was timed.
   * @param {Array<Object>} rows of the table of nodes
   */
  function group(rows) {
    const names = new Map();
    for (const row of rows) {
      if (!names.has(row.name)) names.set(row.name, []);
      names.get(row.name).push(row);
    }
    return Array.from(names, ([name, members]) => {
      // What is inside a node is told of the nodes there.
      const timed = members.filter((row) => row.median_ns !== null);
      const times = timed.map((row) => row.median_ns).sort((a, b) => a - b);
      const shares = members.map((row) => row.share).filter((share) => share !== null);
      const add = (values) => values.reduce((a, b) => a + b, 0);
      return {
        // Never the name of something that every object has, such as "constructor".
        id: `name ${name}`,
        name,
        kernel: wordsOf(new Set(members.map((row) => row.kernel))),
        nodes: members.map((row) => row.key),
        count: members.length,
        total_ns: times.length ? add(timed.map((row) => row.launch_ns)) : null,
        share: shares.length ? add(shares) : null,
        median_ns: times.length ? median(times) : null,
        min_ns: times.length ? times[0] : null,
        max_ns: times.length ? times[times.length - 1] : null,
      };
    });
  }

  /** The whole name, or how many kernels share the short one. */
  function wordsOf(kernels) {
    const [first] = kernels;
    return kernels.size === 1 ? first : `${kernels.size} kernels of this short name, such as ${first}`;
  }

  // -- the grid ---------------------------------------------------------------------------

  const apiOf = (id) => window.dash_ag_grid.getApiAsync(id);
  /** Whether the table is the one shown; its grid may be there a little later. */
  let shown = false;
  const watched = new WeakSet();
  let groups = [];
  let selected = new Set();

  /** Make the groups anew from what the table of nodes shows. */
  async function fill() {
    if (!shown) return;
    const [nodes, kernels] = await Promise.all([apiOf("nodes"), apiOf("kernels")]);
    watch(nodes, kernels);
    const rows = [];
    nodes.forEachNodeAfterFilter((row) => rows.push(row.data));
    groups = group(rows);
    hand();
  }

  /** @param {boolean} wanted */
  function show(wanted) {
    shown = wanted;
    fill();
  }

  /**
   * Hand the groups to the grid, each with how many of its nodes are selected; rows whose nodes
   * all are, are selected too.
   */
  function hand() {
    const rowData = groups.map((row) => ({
      ...row, selected: row.nodes.reduce((count, id) => count + selected.has(id), 0),
    }));
    const ids = rowData.filter((row) => row.selected === row.count).map((row) => row.id);
    window.gviz.dashProps.set("kernels", { rowData, selectedRows: { ids } });
  }

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

  const pageGroup = () => window.gviz.bus.group(window.gviz.bus.PAGE);

  /** Show the nodes of a row, and only them. */
  function open(row) {
    pageGroup().filter(row.nodes);
    window.gviz.dashProps.set("table-view", { value: "nodes" });
  }

  document.addEventListener("gviz-select", (event) => {
    selected = new Set(event.detail);
    if (shown) hand();
  });

  const components = (window.dashAgGridComponentFunctions = window.dashAgGridComponentFunctions || {});
  components.GvizShowNodes = (props) =>
    React.createElement(
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

  const functions = (window.dashAgGridFunctions = window.dashAgGridFunctions || {});
  functions.gvizCountOf = ({ selected: part, count }) => (part ? `${part} of ${count}` : `${count}`);

  window.gviz = Object.assign(window.gviz || {}, { kernels: { group, show } });
})();
