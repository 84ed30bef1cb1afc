// Keys of the pages: "/" searches the table, "?" shows the keys, Escape leaves the search and
// closes popovers, and keys that scroll scroll the page. The browser itself closes a dialog on
// Escape.

const SCROLLING = new Set(["PageDown", "PageUp", "Home", "End", "ArrowDown", "ArrowUp", " "]);

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

function showHelp() {
  const dialog = document.getElementById("key-help");
  if (dialog && !dialog.open) {
    dialog.showModal();
  }
}

/** Copy what a button carries; it says whether that went well. */
async function copy(button) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
  } catch {
    // Browsers give the clipboard to https and localhost only.
    button.textContent = "No access to the clipboard";
  }
  setTimeout(() => (button.textContent = label), 1500);
}

/** Give a page longer than its window the keys that scroll: the window itself never does. */
function lead(event) {
  const page = document.getElementById("page");
  const isLong = page && page.scrollHeight > page.clientHeight;
  // Elsewhere in the header such keys have a meaning of their own.
  const isFree = event.target.matches("body, .gv-header a");
  if (isLong && isFree && SCROLLING.has(event.key)) page.focus({ preventScroll: true });
}

/** Hear keys and pointer. */
export function listen() {
  document.addEventListener("click", (event) => {
    const copying = event.target.closest("button[data-copy]");
    if (copying) {
      copy(copying);
    }
    if (event.target.closest("#key-help-open")) {
      showHelp();
    }
    const dialog = event.target.closest("dialog.gv-dialog");
    // A click beside the content hits the dialog itself.
    if (dialog && (event.target === dialog || event.target.closest(".gv-close"))) {
      dialog.close();
    }
  });

  document.addEventListener("pointerdown", (event) => closePopovers(event.target));

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    lead(event);
    if (event.key === "Escape") {
      closePopovers(null);
    }
    if (event.key === "?" && !typing(event.target)) {
      showHelp();
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
}
