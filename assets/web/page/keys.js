// Keys of the pages: "/" searches the table, "?" shows the keys, Escape leaves the search and
// closes popovers, and keys that scroll scroll the page. The browser itself closes a dialog on
// Escape.
import { closest } from "../core/dom.js";

const SCROLLING = new Set(["PageDown", "PageUp", "Home", "End", "ArrowDown", "ArrowUp", " "]);

/** @param {Event} event */
function typing(event) {
  return closest(event, "input, textarea, select, [contenteditable]") !== null;
}

/** @param {Element|null} except */
function closePopovers(except) {
  for (const popover of document.querySelectorAll("details.gv-how[open]")) {
    if (!except || !popover.contains(except)) {
      popover.removeAttribute("open");
    }
  }
}

function showHelp() {
  const dialog = /** @type {HTMLDialogElement|null} */ (document.getElementById("key-help"));
  if (dialog && !dialog.open) {
    dialog.showModal();
  }
}

/**
 * Copy what a button carries; it says whether that went well.
 * @param {HTMLElement} button
 */
async function copy(button) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(button.dataset.copy ?? "");
    button.textContent = "Copied";
  } catch {
    // Browsers give the clipboard to https and localhost only.
    button.textContent = "No access to the clipboard";
  }
  setTimeout(() => (button.textContent = label), 1500);
}

/**
 * Give a page longer than its window the keys that scroll: the window itself never does.
 * @param {KeyboardEvent} event
 */
function lead(event) {
  // Elsewhere in the header such keys have a meaning of their own.
  const isFree = event.target instanceof Element && event.target.matches("body, .gv-header a");
  if (!isFree || !SCROLLING.has(event.key)) return;
  const page = document.getElementById("page");
  // Asked last: all that changed is laid out first, which takes longer than any other key does.
  if (page && page.scrollHeight > page.clientHeight) page.focus({ preventScroll: true });
}

/** Hear keys and pointer. */
export function listen() {
  document.addEventListener("click", (event) => {
    const copying = closest(event, "button[data-copy]");
    if (copying) {
      copy(copying);
    }
    if (closest(event, "#key-help-open")) {
      showHelp();
    }
    const dialog = /** @type {HTMLDialogElement|null} */ (closest(event, "dialog.gv-dialog"));
    // A click beside the content hits the dialog itself.
    if (dialog && (event.target === dialog || closest(event, ".gv-close"))) {
      dialog.close();
    }
  });

  document.addEventListener("pointerdown", (event) => closePopovers(/** @type {Element} */ (event.target)));

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    lead(event);
    if (event.key === "Escape") {
      closePopovers(null);
    }
    if (event.key === "?" && !typing(event)) {
      showHelp();
    }
    const search = /** @type {HTMLInputElement|null} */ (document.getElementById("search"));
    if (event.key === "/" && search && !typing(event)) {
      event.preventDefault();
      search.focus();
      search.select();
    } else if (event.key === "Escape" && search && event.target === search) {
      search.blur();
    }
  });
}
