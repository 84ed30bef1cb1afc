// Titles, dark and light, and links of all pages. Dash calls these as clientside callbacks.
import { make } from "../core/parts.js";
import * as selectionNote from "../page/selection_note.js";
import * as pageHistory from "./history.js";
import * as places from "./places.js";
import { noUpdate } from "./props.js";

/** The address that the page was last made for. */
let made = "";

/**
 * Another page came: its title, and its beginning in view, or the place where it was left.
 * @param {string} text
 */
export function title(text) {
  document.title = text;
  const address = window.location.pathname + window.location.search;
  // The first page may have said something before Dash was there.
  if (made && address !== made) selectionNote.clear();
  if (address !== made && !places.restore() && !window.location.hash) document.getElementById("page")?.scrollTo(0, 0);
  made = address;
  return noUpdate();
}

export function theme() {
  const scheme = document.documentElement.getAttribute("data-mantine-color-scheme");
  return scheme === "dark" ? "Switch to light" : "Switch to dark";
}

/**
 * Make what stands in data-parts (gviz.app.components.parts) into elements; React leaves alone what it
 * has not made.
 */
function fill() {
  /** @type {NodeListOf<HTMLElement>} */
  const hosts = document.querySelectorAll("[data-parts]");
  for (const host of hosts) {
    const parts = JSON.parse(host.dataset.parts ?? "");
    host.removeAttribute("data-parts");
    host.dataset.handed = "";
    host.replaceChildren(...make(parts, parts.length - 1).childNodes);
  }
}

/**
 * A link to another page of ours needs no new document; one with a target is the browser's.
 * @param {any} event
 */
function followLink(event) {
  const link = event.target.closest?.("[data-handed] a[href]");
  if (!link || link.target || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const address = link.getAttribute("href");
  // Another site's, or a place on this page.
  if (!address.startsWith("/")) return;
  event.preventDefault();
  pageHistory.go(address);
}

/** Hear what happens on the page. */
export function listen() {
  const changes = { childList: true, subtree: true, attributeFilter: ["data-parts"] };
  new MutationObserver(fill).observe(document.body, changes);
  document.addEventListener("click", followLink);
}
