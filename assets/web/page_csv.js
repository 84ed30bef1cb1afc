// The table shown as a CSV file: as it is sorted and filtered, values as recorded, in the units
// that the names of their columns say.
(function () {
  "use strict";
  /** Spreadsheets take a text that begins so for a formula. Reference: OWASP, CSV injection. */
  const FORMULA = /^[=+\-@\t\r]/;

  /** Of a file's name, in letters: file systems take 255, ending included. */
  const LONGEST_NAME = 80;

  /** A text that would be taken for a formula gets an apostrophe; numbers stay numbers. */
  function cell(value) {
    if (value === null || value === undefined) return "";
    return typeof value === "string" && FORMULA.test(value) ? `'${value}` : value;
  }

  async function save(button) {
    const kernels = document.getElementById("kernels-box");
    const id = kernels && !kernels.hidden ? "kernels" : "nodes";
    const grid = await window.dash_ag_grid.getApiAsync(id);
    const plain = button.dataset.name.replace(/[^A-Za-z0-9._-]+/g, "-").slice(0, LONGEST_NAME);
    grid.exportDataAsCsv({
      fileName: `${plain}${id === "kernels" ? "-kernels" : ""}.csv`,
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
