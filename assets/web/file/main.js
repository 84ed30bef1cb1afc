/** A saved file: opens what its address names, in dark or light. */
import { byId } from "../core/dom.js";
import { turn } from "../core/pace.js";
import { lastTouched } from "../page/last_touched.js";
import { element, make } from "../core/parts.js";
import * as payloads from "../core/payload.js";
import { LIST } from "../overlay/carry.js";
import * as drop from "../overlay/drop.js";
import * as address from "../page/address.js";
import * as blobs from "../stores/blobs.js";
import { EmbeddedStore } from "../stores/embedded.js";
import * as keys from "../page/keys.js";
import { GraphPage, PARTS } from "../page/page.js";
import { SavedComparison } from "../stores/saved_comparison.js";
import * as split from "../page/split.js";
/** @import { Host } from "../page/page.js" */

/** Where Mantine keeps the chosen scheme, as early/theme.js reads it. */
const SCHEME = "mantine-color-scheme-value";

const touched = lastTouched(PARTS);

/**
 * Who a page tells its state: it stands in the fragment of the file's address.
 * @param {string} hash that the page is opened by @returns {Host}
 */
function hostAt(hash) {
  let known = hash;
  return {
    touched,
    /** Replaced, not pushed: the back button leads to the graph before. */
    write(query) {
      // The address leads to another page by now; what this one still takes in is no choice for it.
      if (window.location.hash !== known) return;
      // In full: inside a notebook the file is a frame whose base is the notebook's address.
      const [file] = window.location.href.split("#");
      window.history.replaceState(null, "", `${file}#${query}`);
      known = window.location.hash;
    },
    openGraph(graph) {
      window.location.hash = `graph=${graph}`;
    },
    open() {},
  };
}

/** What is shown. @type {GraphPage|null} */
let page = null;

/** The store of a graph of the file, or of one and its counterpart. @param {number} id */
async function readStore(id) {
  // Unpacked beside the rest: the page shows it as soon as it stands.
  blobs.members(`table-${id}`);
  const graph = await blobs.json(`graph-${id}`);
  const tables = blobs.has(LIST) ? await blobs.json(LIST) : [];
  return graph.compares ? new SavedComparison(graph, tables) : new EmbeddedStore(graph, tables);
}

/**
 * Open what the address names.
 * @param {any} file
 */
async function open(file) {
  const { hash } = window.location;
  const query = hash.slice(1) || file.state;
  const requested = address.graphOf(query);
  const { id } = file.graphs.find((/** @type {{id: number}} */ one) => one.id === requested) || file.graphs[0];
  const store = await readStore(id);
  // Unpacked data come at the end of a long task: the page is made in one of its own.
  await turn();
  // What the address names by now is opened as well, and may be there already.
  if (window.location.hash !== hash) return;
  page?.close();
  page = new GraphPage(byId("page"), store, hostAt(hash), query);
  byId("file-note").textContent = store.graph.note;
}

/** "dark" or "light", as the document says. */
function theme() {
  return document.documentElement.getAttribute("data-mantine-color-scheme") ?? "light";
}

const system = window.matchMedia("(prefers-color-scheme: dark)");

function switchTheme() {
  const next = theme() === "dark" ? "light" : "dark";
  system.removeEventListener("change", followSystem);
  try {
    window.localStorage.setItem(SCHEME, next);
  } catch {
    // Storage may be blocked; then the choice lasts as long as the page.
  }
  applyTheme(next);
}

/** Whether a reader has chosen dark or light, here or on another page. */
function isChosen() {
  try {
    return ["dark", "light"].includes(window.localStorage.getItem(SCHEME) ?? "");
  } catch {
    return false;
  }
}

/** The system went dark or light; a frame may hear of it only after it has begun. */
function followSystem() {
  applyTheme(system.matches ? "dark" : "light");
}

/** @param {string} name */
function applyTheme(name) {
  document.documentElement.setAttribute("data-mantine-color-scheme", name);
  const button = byId("theme-switch");
  button.textContent = name === "dark" ? "☾" : "☀";
  button.title = name === "dark" ? "Switch to light" : "Switch to dark";
}

/** Show the file, or why that is not possible. */
async function start() {
  const box = document.getElementById("file");
  if (!box) return;
  try {
    if (!window.DecompressionStream) throw new Error("it is too old; a browser of 2023 or later opens it");
    payloads.takeStored(blobs.payload);
    const file = await blobs.json("file");
    box.replaceWith(make(file.parts, file.frame));
    const mark = element("img", { src: /** @type {HTMLLinkElement} */ (document.querySelector("link[rel=icon]")).href, alt: "", width: "22", height: "22" });
    byId("brand-mark").replaceWith(mark);
    byId("theme-switch").addEventListener("click", switchTheme);
    if (isChosen()) {
      applyTheme(theme());
    } else {
      followSystem();
      system.addEventListener("change", followSystem);
    }
    window.addEventListener("hashchange", () => open(file));
    await open(file);
  } catch (error) {
    const { message } = /** @type {Error} */ (error);
    (document.getElementById("page") ?? box).textContent = `This browser could not open the file: ${message}.`;
  }
}

/** What tables can be laid on by now. */
const sides = () => page?.sides ?? [""];

/** Lay dropped tables on the graph that is shown. @param {File[]} files @param {number} part of the page */
async function take(files, part) {
  const others = await page?.overlays.take(files, sides()[part]);
  for (const { name } of others ?? []) page?.overlays.refuse(name);
}

drop.listen(() => sides().map((side) => `Drop a table (.csv, .json) to lay it on ${drop.nameOf(side)}`), take);
keys.listen();
split.listen();
start();
