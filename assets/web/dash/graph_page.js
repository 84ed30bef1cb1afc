/**
 * The graph page in the application. It begins as soon as its address is known, before Dash is
 * there, and moves into Dash's component once that is built: gviz.app.components.canvases.GraphPage.
 */
import { closest } from "../core/dom.js";
import * as firstPaint from "../core/first_paint.js";
import { lastTouched } from "../page/last_touched.js";
import { element, make } from "../core/parts.js";
import * as payloads from "../core/payload.js";
import { WAYS } from "../page/choices.js";
import { ComparedStore } from "../stores/compared.js";
import { FetchedStore, fetchPage } from "../stores/fetched.js";
import { notShown } from "../page/inspector.js";
import { GraphPage as Page, PARTS } from "../page/page.js";
import * as pageHistory from "./history.js";
/** @import { Side } from "../overlay/overlays.js" */
/** @import { ServedChoice } from "../stores/fetched.js" */
/** @import { Host } from "../page/page.js" */

/** Until Dash is notified of a selection (ms): that takes many times as long as drawing. */
const REST = 60;

/** The part that was last touched. @type {() => string|null} */
let touched = () => null;

/** A state but for what is selected. @param {string} query */
const unselected = (query) => query.replace(/&(node|select)=[^&]*/g, "");

/** A page that is shown, or on its way: one at a time. */
class Opening {
  /** @param {HTMLElement} box @param {string} source of its store @param {string} query */
  constructor(box, source, query) {
    this.box = box;
    this.source = source;
    this.closed = false;
    /** @type {Page|null} */ this.page = null;
    /** @type {string} where the store is asked for when the file has grown */ this.again = payloads.unversioned(source);
    /** What Dash is to be notified of. @type {{query: string, steps: number}|null} */ this.state = null;
    /** @type {((props: object) => void)|null} */ this.setProps = null;
    this.resting = 0;
    /** Settled once the table shows something, or nothing comes. */
    this.ready = this.begin(query);
  }

  /** @param {string} query @param {number} [steps] made before */
  async begin(query, steps = 0) {
    // Not in the turn that runs the script: tools that watch requests have all of it parsed again
    // for the place of one that is made there.
    await null;
    try {
      const made = await fetchPage(this.source, (words) => this.closed || this.wait(words));
      if (this.closed) return;
      if ("moved_to" in made) return pageHistory.move(made.moved_to);
      if ("chooses" in made) return this.offer(made);
      const store = made.compares ? new ComparedStore(made) : new FetchedStore(made);
      this.page = new Page(this.box, store, this.host(store), query);
      this.page.steps = steps;
      await this.page.filled;
    } catch (error) {
      if (!this.closed) this.box.replaceChildren(notShown(/** @type {Error} */ (error).message));
    }
  }

  /** Say that what is shown takes long. @param {string} words */
  wait(words) {
    this.box.replaceChildren(element("p", { class: "gv-message", role: "status" }, words));
  }

  /** Show a page that is there to choose what another one shows. @param {ServedChoice} made */
  offer({ name, parts, page }) {
    const choices = make(parts, page);
    choices.addEventListener("change", (event) => {
      const { id, value } = /** @type {HTMLSelectElement} */ (event.target);
      if (WAYS.includes(id)) pageHistory.go(value);
    });
    this.box.replaceChildren(choices);
    document.title = `${name} – gviz`;
  }

  /** @param {FetchedStore} store @returns {Host} */
  host({ graph }) {
    return {
      touched,
      write: (query, steps) => {
        const isSelection = this.state !== null && unselected(query) === unselected(this.state.query);
        this.state = { query, steps };
        this.report(isSelection ? REST : 0);
      },
      openGraph: (chosen) => pageHistory.openGraph(graph.fixed, chosen),
      open: pageHistory.go,
    };
  }

  /** Notify Dash of the state once it rests so long (ms), and the address is this page's. @param {number} rest */
  report(rest) {
    clearTimeout(this.resting);
    this.resting = window.setTimeout(() => {
      if (!this.setProps || pageHistory.isComing()) this.report(REST);
      else this.setProps({ state: this.state });
    }, rest);
  }

  /** @param {HTMLElement} box */
  moveTo(box) {
    if (this.page) this.page.moveTo(box);
    else box.replaceChildren(...this.box.childNodes);
    this.box = box;
  }

  /** Take in what its recording has by now. */
  async renew() {
    if (!this.page) return;
    const { identity } = /** @type {FetchedStore} */ (this.page.store).graph;
    const given = new URLSearchParams({ identity });
    const joined = this.again + (this.again.includes("?") ? "&" : "?") + given;
    try {
      const graph = await payloads.loadJson(joined);
      if (this.closed) return;
      if (graph.moved_to) pageHistory.move(graph.moved_to);
      else if (!this.page.renew(new FetchedStore(graph))) this.reopen();
    } catch (error) {
      this.page.inspector.say(/** @type {Error} */ (error).message);
    }
  }

  /** Begin anew with what there is by now. */
  reopen() {
    const { page } = this;
    if (!page) return;
    page.close();
    this.page = null;
    this.source = this.again;
    this.ready = this.begin(page.query(), page.steps);
  }

  close() {
    this.closed = true;
    clearTimeout(this.resting);
    this.page?.close();
  }
}

/** The one that is shown. @type {Opening|null} */
let shown = null;

/**
 * Begin with the page that the document names.
 * @returns {Promise<void>|null} settled once it can be used; null: the document names none
 */
export function begin() {
  const box = early();
  if (!box) return null;
  const { source = "" } = box.dataset;
  shown = new Opening(box, source, window.location.search);
  // The views are there once it is ready: only then can their painting be waited for.
  return shown.ready.then(firstPaint.painted).then(firstPaint.shown);
}

/** Where the page stands until Dash is there. @returns {HTMLElement|null} */
const early = () => document.querySelector(".gv-early [data-source]");

/** What stands in Dash's place is not wanted any more: Dash shows a page. */
export function leave() {
  document.querySelector(".gv-early")?.remove();
}

/**
 * The page that has begun, if it is that of a source, in a box of Dash's page.
 * @param {HTMLElement} box @param {string} source @param {string} query
 */
function take(box, source, query) {
  const begun = early() && shown;
  if (begun && begun.source === source && !begun.closed) begun.moveTo(box);
  else {
    begun?.close();
    shown = new Opening(box, source, query);
  }
  leave();
  return /** @type {Opening} */ (shown);
}

/**
 * Dash's component: props `source`, the address of the store; `state`, the query that it begins with
 * and what it reports; `serial`, another one for each page that the server made.
 * @param {any} props
 */
export function GraphPage(props) {
  const box = React.useRef(null);
  // In the same turn: what has begun is not to be seen away from the page.
  React.useLayoutEffect(() => {
    const opening = take(box.current, props.source, props.state.query);
    opening.setProps = props.setProps;
    return () => opening.close();
  }, [props.serial]);
  return React.createElement("div", { id: props.id, className: "gv-graph-box", ref: box });
}

/**
 * Show what an address requests, if it is of the page shown; false: it is not.
 * @param {string} search
 */
export function go(search) {
  const page = shown?.closed ? null : shown?.page;
  if (!page) return false;
  const query = new URLSearchParams(search);
  const { fixed } = page.graph;
  const own = ["file", "graph", "a", "b"].every((name) => (query.get(name) ?? "") === String(fixed[name] ?? ""));
  if (!own) return false;
  return page.go(search);
}

/** The state of what is shown, as a query; null: nothing is. */
export const state = () => (shown?.closed ? null : shown?.page?.query() ?? null);

/** What tables can be laid on: the sides of what is shown. @returns {readonly Side[]} */
export const sides = () => shown?.page?.sides ?? [];

/** Lay the tables among some files on a side of what is shown; return the others. @param {File[]} files @param {number} side its place among all */
export async function layTables(files, side) {
  const page = shown?.page;
  return page ? page.overlays.take(files, page.sides[side]) : files;
}

/** Take in what the recording of the page shown has by now. */
export const renew = () => shown?.renew();

/** A link of the page to another page of ours needs no new document. @param {MouseEvent} event */
function followLink(event) {
  const address = closest(event, ".gv-graph-page a[href]")?.getAttribute("href") ?? "";
  if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  // Another site's, or a place on this page; a link of Dash's own, which it has followed.
  if (!address.startsWith("/") || event.defaultPrevented) return;
  event.preventDefault();
  pageHistory.go(address);
}

/** Hear what happens on the page. */
export function listen() {
  touched = lastTouched(PARTS);
  document.addEventListener("click", followLink);
}
