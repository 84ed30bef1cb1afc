// The table shown as a CSV file: as it is sorted and filtered, values as recorded, in the units
// that the names of their columns say.
(function () {
  "use strict";
  const { cell, nameOf } = window.gviz.csv;

  async function save(button) {
    const kernels = document.getElementById("kernels-box");
    const id = kernels && !kernels.hidden ? "kernels" : "nodes";
    const grid = await window.dash_ag_grid.getApiAsync(id);
    grid.exportDataAsCsv({
      fileName: `${nameOf(button.dataset.name)}${id === "kernels" ? "-kernels" : ""}.csv`,
      columnKeys: grid.getAllDisplayedColumns().map((c) => c.getColId()).filter((c) => c !== "open"),
      processCellCallback: ({ value }) => cell(value),
      processHeaderCallback: ({ column }) => column.getColId(),
    });
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("#save-csv");
    if (button) save(button);
  });
})();
