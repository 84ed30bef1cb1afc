/**
 * Shows a page while Dash is still to come: the server put its content as plain HTML over the place
 * where Dash builds it (gviz.app.server.plain_html). Views in it are drawn at once, then Dash's scripts
 * run, and the views are taken over as they are when Dash makes the components they belong to.
 */
import * as firstPaint from "../core/first_paint.js";
import { openView } from "../page/views.js";
/** @import { Frame, Props } from "../core/frame.js" */

/**
 * Dash waits for the first picture, but no longer (ms): its scripts keep a processor busy that
 * the server needs for a large graph, which may take seconds.
 */
const HEAD_START = 1000;
/** For data that the server knows to take long. */
const LONG_HEAD_START = 4000;
/** The page built by Dash is there so long (ms): views it has not taken over it does not have. */
const PATIENCE = 300;
/** Dash does not get ready: its message is to be seen (ms). */
const GIVE_UP = 20000;

/** @param {HTMLScriptElement} tag */
function scriptLike(tag) {
  const script = document.createElement("script");
  for (const { name, value } of tag.attributes) script.setAttribute(name, value);
  script.textContent = tag.textContent;
  // In order, as if they stood in the page.
  script.async = false;
  return script;
}

/** Whether Dash's scripts run. */
let started = false;
/** Run the scripts that gviz.app.server.scripts left for later: files, then what stands in the page. */
function startDash() {
  if (started) return;
  started = true;
  const later = /** @type {HTMLTemplateElement} */ (document.getElementById("gviz-later"));
  const tags = Array.from(later.content.querySelectorAll("script"));
  const scripts = tags.map(scriptLike);
  const files = scripts.filter((script) => script.src);
  const inline = scripts.filter((script) => !script.src);
  const runInline = () => document.body.append(...inline);
  const last = files[files.length - 1];
  last.addEventListener("load", runInline);
  last.addEventListener("error", runInline);
  document.body.append(...files);
}

/** @type {Map<string, Frame>} views that are drawn, by the ids of the components they belong to */
const early = new Map();
/** Take away what is shown before Dash, and what is left of it. */
let leave = () => {};

/** Show what the server put there, draw its views, and run Dash's scripts behind them. */
export function begin() {
  /** @type {HTMLElement|null} */
  const page = document.querySelector(".gv-first-page");
  if (!page) {
    startDash();
    return;
  }
  // Nothing in it can be used yet.
  page.inert = true;
  /** @type {HTMLElement|null} */
  const titled = document.querySelector("[data-title]");
  document.title = titled?.dataset.title ?? "";
  /** @type {NodeListOf<HTMLElement>} */
  const boxes = page.querySelectorAll("[data-view]");
  for (const box of boxes) {
    const { view = "", props: text = "" } = box.dataset;
    const props = JSON.parse(text);
    early.set(props.id, openView(box, view, props));
  }
  firstPaint.painted().then(startDash);
  const isLong = Array.from(early.values()).some((frame) => frame.props.long);
  setTimeout(startDash, isLong ? LONG_HEAD_START : HEAD_START);
  const built = new MutationObserver(() => {
    if (!document.getElementById("page")?.hasChildNodes()) return;
    built.disconnect();
    if (early.size) setTimeout(leave, PATIENCE);
    else leave();
  });
  leave = () => {
    for (const frame of early.values()) frame.destroy();
    early.clear();
    page.remove();
    built.disconnect();
  };
  built.observe(document.body, { childList: true, subtree: true });
  setTimeout(leave, GIVE_UP);
}

/**
 * The view of that name, moved into a box of Dash's page; null if there is none.
 * @param {string} id @param {HTMLElement} box @param {Props} props
 */
export function takeOver(id, box, props) {
  const frame = early.get(id);
  if (!frame) return null;
  early.delete(id);
  frame.moveTo(box, props);
  if (!early.size) leave();
  return frame;
}
