/**
 * One selection for all of the graph page. Canvases, inspector and tables select in the bus; this
 * brings what is selected into view where it was not picked, and notifies Dash, which writes the
 * address and knows the table of nodes, once it rests: that takes many times as long as drawing.
 */
import * as bus from "../core/bus.js";
import { canvasOf } from "../core/dom.js";
import { lastTouched } from "../core/last_touched.js";
import * as pageInspector from "./inspector.js";
import { set, setPresent } from "./props.js";

const VIEWS = ["dag", "timeline", "memory"];
/** Until Dash is notified (ms), and how long it waits for the inspector to be filled. */
const REST = 60;
const PATIENCE = 500;

/** The part that was last touched. @type {() => string|null} */
let touched = () => null;
let resting = 0;

const group = () => bus.group(bus.PAGE);

// -- the table ------------------------------------------------------------------------

/** @param {any} rows */
function idsOfRows(rows) {
  if (!rows) return [];
  return Array.isArray(rows) ? rows.map((row) => row.key) : (rows.ids || []).map(Number);
}

/** @param {number[]} ids */
export function selectInGrid(ids) {
  /** @type {{selectedRows: object, scrollTo?: object}} */
  const props = { selectedRows: { ids: ids.map(String) } };
  if (ids.length > 0) props.scrollTo = { rowId: String(ids[0]), rowPosition: null };
  setPresent("nodes", props);
}

/**
 * Rows were selected. The grid reports what it was set to as well, and late: only what its reader
 * does counts, or it would undo a newer selection.
 * @param {any} rows
 */
export function fromGrid(rows) {
  if (touched() === "nodes") group().select(idsOfRows(rows));
}

// -- a selection ----------------------------------------------------------------------

/** @param {number[]} ids @param {string|null} source which part of the page shows it already */
function notifyDash(ids, source) {
  // Before Dash is there, what is selected is what the page comes with.
  if (!window.dash_clientside.set_props) return;
  if (source !== "nodes" && document.getElementById("nodes")) selectInGrid(ids);
  set("selection", { data: ids });
}

/** Hear what happens on the page. */
export function listen() {
  touched = lastTouched([...VIEWS, "nodes", "kernels", "inspector"]);
  document.addEventListener("gviz-select", ({ detail: ids }) => {
    // Other pages have selections too.
    if (!document.getElementById("inspector-body")) return;
    const source = touched();
    for (const view of VIEWS) {
      if (view !== source && ids.length) canvasOf(view)?.gvizShow?.(ids[0]);
    }
    clearTimeout(resting);
    const page = group();
    // The page may be another one by then.
    const notify = () => page === group() && page.selected === ids && notifyDash(ids, source);
    const late = new Promise((done) => setTimeout(done, PATIENCE));
    resting = setTimeout(() => Promise.race([pageInspector.filling(), late]).then(notify), REST);
  });
}
