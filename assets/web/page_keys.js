// Keys of the pages: "/" searches the table, Escape leaves the search and closes popovers.
(function () {
  "use strict";

  function typing(target) {
    return target.closest("input, textarea, select, [contenteditable]") !== null;
  }

  function closePopovers(except) {
    for (const popover of document.querySelectorAll("details.gv-how[open]")) {
      if (!except || !popover.contains(except)) {
        popover.removeAttribute("open");
      }
    }
  }

  document.addEventListener("pointerdown", (event) => closePopovers(event.target));

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    if (event.key === "Escape") {
      closePopovers(null);
    }
    const search = document.getElementById("search");
    if (event.key === "/" && search && !typing(event.target)) {
      event.preventDefault();
      search.focus();
      search.select();
    } else if (event.key === "Escape" && search && event.target === search) {
      search.blur();
    }
  });
})();
