/**
 * The page of a graph: its panes joined, from whichever store its data come. The page owns its state;
 * who opened it keeps that in an address.
 *
 * @typedef {{touched: () => string|null, write: (query: string, steps: number) => void,
 *   openGraph: (graph: number) => void, open: (address: string) => void}} Host
 *   who opened the page: what was last touched; the state as a query, and how many choices led to it;
 *   another graph of the recording was chosen; a choice leads to another page
 */
import { Breakdown } from "../breakdown/breakdown.js";
import * as announce from "../core/announce.js";
import * as bus from "../core/bus.js";
import { byId, closest } from "../core/dom.js";
import { counted } from "../core/format.js";
import { make } from "../core/parts.js";
import { Overlays, SIDES, isOverlay } from "../overlay/overlays.js";
import * as commands from "../search/commands.js";
import { Search } from "../search/field.js";
import { Palette } from "../search/palette.js";
import * as address from "./address.js";
import { begin, layoutsOf } from "./begin.js";
import * as choices from "./choices.js";
import * as growth from "./growth.js";
import { Inspector, notShown } from "./inspector.js";
import { Names } from "./names.js";
import { Panes } from "./panes.js";
import { Requests } from "./requests.js";
import * as selectionNote from "./selection_note.js";
import { ShareMenu } from "./share.js";
import { Tables } from "./tables.js";
import { Views } from "./views.js";
/** @import { Blocks } from "../breakdown/blocks.js" */
/** @import { Props } from "../core/frame.js" */
/** @import { State } from "./address.js" */
/** @import { Store } from "./store.js" */
/** @import { Name } from "./views.js" */

/** The parts of the page that are touched, of which each shows what is selected in it. */
export const PARTS = ["dag", "timeline", "memory", "nodes", "kernels", "inspector"];

export class GraphPage {
  /**
   * @param {HTMLElement} box @param {Store} store @param {Host} host
   * @param {string} query what is requested, as page/address.js has it
   */
  constructor(box, store, host, query) {
    this.store = store;
    this.host = host;
    this.views = new Views({ group: bus.PAGE, props: (name) => this.props(name), receive: (change) => this.receive(change) });
    /** @type {number[]|null} */ this.filtered = null;
    /** Of the breakdown, once that is there. @type {Blocks|null} */ this.blocks = null;
    /** Choices made. */ this.steps = 0;
    this.element = make(store.graph.parts, store.graph.page);
    box.replaceChildren(this.element);
    document.title = `${store.graph.name} – gviz`;
    this.group = bus.group(bus.PAGE);
    this.search = new Search(this.group, {
      nodes: () => this.tables.nodes, left: () => this.tables.left, rows: () => this.tables.ordered(),
      narrowed: (text) => this.find(text), there: () => this.tables.narrowed(), show: (node) => this.bring(node),
    });
    this.menu = new ShareMenu({
      store: () => this.store, query: () => this.query(), frame: (view) => this.views.frames[/** @type {Name} */ (view)],
      table: () => this.tables.shown, overlays: () => this.overlays.sources(),
    });
    this.overlays = new Overlays({
      sides: this.sides, about: (side) => this.about(side), laid: (column, gone) => this.relay(column, gone),
    });
    this.panes = new Panes(this.element, (room) => this.give(room));
    this.palette = new Palette(() => this.commands(), (text) => commands.ofText(text, this.search));
    const requested = address.parse(query);
    this.state = begin(this.store, requested);
    /** The layout that is requested; "": that which the view chooses. */
    this.asked = choices.oneOf(["", ...layoutsOf()], requested.layout);
    this.group.selected = this.state.node;
    const names = this.names = new Names({
      nodes: () => this.tables.nodes, blocks: () => this.breakdown?.timed ?? [],
      sets: () => [...(this.breakdown?.sets ?? []), ...(this.views.dag()?.folds() ?? [])],
    });
    this.requests = new Requests(this.group, { names, isComing: () => this.isComing(), miss: selectionNote.miss }, requested);
    this.tables = new Tables(store, this.group, this.search, {
      state: () => this.state, touched: () => host.touched(), overlays: this.overlays,
      changed: (change) => {
        Object.assign(this.state, change);
        this.write();
      },
      view: (table) => this.choose(/** @type {any} */ ({ id: "", name: "table-view", value: table })),
    });
    this.ends = [bus.subscribe(bus.PAGE, () => this.hear()), this.watchTheme()];
    this.inspector = new Inspector(byId("inspector-body"), this.group);
    this.showRoom();
    for (const view of store.graph.first) this.open(/** @type {Name} */ (view));
    this.breakdown = this.openBreakdown();
    this.breakdown?.open(this.state.pane);
    this.listening = this.listen();
    this.settle();
    /** Settled once the table is filled, or says why it is not. */
    this.filled = this.fill(store);
    // What the address does not say, what lies on the graph says.
    this.overlays.lay(store.overlays?.() ?? [], requested.colour === undefined);
  }

  get graph() {
    return this.store.graph;
  }

  // -- the state ------------------------------------------------------------------------

  /** The state, as the query of an address has it. */
  query() {
    return this.written().text;
  }

  /** The state as an address has it. */
  written() {
    const state = { ...this.state, ...this.requests.named(this.state) };
    return address.write(this.graph.fixed, state, Object.keys(this.graph.tables)[0], this.graph.fold);
  }

  /** Whether parts of the page are on their way that know names of nodes. */
  isComing() {
    const { dag } = this.views.frames;
    return !this.tables.nodes || !!this.breakdown?.isComing || !!dag?.isWaiting();
  }

  /** Fetch the nodes. @param {Store} store where they are by now */
  async fill(store) {
    await this.tables.fill(store);
    this.learn();
  }

  /** More is known that has a name. */
  learn() {
    this.requests.settle();
    this.write();
  }

  /**
   * Show what an address requests; false: this page has not got it.
   * @param {string} query
   */
  go(query) {
    const requested = address.parse(query);
    /** @type {[string, string|undefined][]} */
    const chosen = [["launch", requested.launch], ["stream-launch", requested.stream]];
    if (chosen.some(([id, value]) => value && choices.choiceOf(id) && !choices.offered(id).includes(value))) return false;
    const node = this.tables.known(requested.node || []);
    this.state = { ...begin(this.store, requested), node: this.state.node };
    this.asked = choices.oneOf(["", ...layoutsOf()], requested.layout);
    this.state.layout ||= this.views.frames.dag?.payload?.header.layout ?? "";
    this.showRoom();
    this.breakdown?.open(this.state.pane);
    this.tables.narrow();
    this.update();
    this.group.select(node);
    if (!this.state.brush) this.group.filter(null);
    this.requests.ask(requested);
    return true;
  }

  // -- the canvases -------------------------------------------------------------------

  /** @param {Name} name of a view */
  open(name) {
    const frame = this.views.open(name, this.state.node);
    // A requested part of the time is where it is looked for.
    if (name !== "timeline" || !this.state.time) frame?.show(this.state.node);
    if (name === "timeline" && this.blocks) this.views.timeline()?.track(this.blocks);
  }

  /** What a view is to show. @param {Name} name */
  props(name) {
    const { colour: chosen, fold, open, buffer, time, brush, eager } = this.state;
    const laid = this.overlays.column(chosen);
    const colour = isOverlay(chosen) ? this.graph.colour : chosen;
    return {
      source: this.store.source(name, this.state, this.asked), colour, laid, fold, open, buffer, times: time, brush, eager,
      loaded: () => this.learn(),
    };
  }

  /** Have the views show the state. */
  update() {
    this.views.update();
    this.breakdown?.measure(this.overlays.measures(), this.state.measure);
    this.settle();
  }

  /** A reader wants other room for the panes. @param {Partial<State>} room */
  give(room) {
    Object.assign(this.state, room);
    this.showRoom();
    this.breakdown?.open(this.state.pane);
    this.write();
  }

  /** Have the panes, and the field of the search, be as the state says. */
  showRoom() {
    this.panes.show(this.state);
    this.search.write(this.state.search);
  }

  /** A view changed a property of its own. @param {Partial<Props>} change */
  receive({ open, layout, buffer, times, brush, eager, fold }) {
    if (fold !== undefined && fold !== this.state.fold) choices.choose("folding", fold);
    if (eager !== undefined && eager !== this.state.eager) {
      this.state.eager = eager;
      this.update();
    }
    if (times !== undefined) {
      this.state.time = times;
      this.write();
    }
    if (brush !== undefined) {
      this.state.brush = brush;
      this.write();
    }
    if (buffer !== undefined) {
      this.state.buffer = buffer;
      this.write();
    }
    // What it drew where it could not draw what was requested, or nothing was.
    if (layout && layout !== "table" && layout !== this.state.layout) {
      this.state.layout = layout;
      this.settle();
    }
    if (!open) return;
    announce.say(`${counted(open.length, "fold or body", "folds and bodies")} open.`);
    this.state.open = open;
    this.update();
  }

  /** Views are drawn in the colours of the page: dark and light are the document's. */
  watchTheme() {
    const observer = new MutationObserver(() => this.update());
    observer.observe(document.documentElement, { attributeFilter: ["data-mantine-color-scheme"] });
    return () => observer.disconnect();
  }

  /** The verdict and the breakdown; null where there is none of this graph. */
  openBreakdown() {
    const [box, source] = [document.getElementById("breakdown"), this.store.breakdown()];
    return box && source && new Breakdown(box, document.getElementById("findings"), this.group, source,
      { look: (about) => this.look(about), known: (blocks) => this.know(blocks), said: () => this.learn(),
        toggled: (pane) => this.give({ pane }), nodesOf: (name) => this.names.nodesOf(name) ?? [] });
  }

  /** Look at what of a launch is no node, in the timeline. @param {"idle"|"eager"} about */
  look(about) {
    if (this.state.panel !== "timeline") {
      this.state.panel = "timeline";
      this.settle();
    }
    if (about === "idle") this.views.timeline()?.showIdle();
    else this.receive({ eager: "open" });
  }

  /** The breakdown is there: its rows stand above the lanes of the timeline too. @param {Blocks} blocks */
  know(blocks) {
    this.blocks = blocks;
    this.learn();
    this.views.timeline()?.track(blocks);
  }

  // -- overlays -------------------------------------------------------------------------

  /** What tables can be laid on: the graph, or each of two. */
  get sides() {
    return this.graph.compares ? SIDES : /** @type {const} */ ([""]);
  }

  /** What rows of a table can be about, once it is known. @param {import("../overlay/overlays.js").Side} side */
  async about(side) {
    if (side) return this.store.about?.(side) ?? null;
    await this.filled;
    const { nodes } = this.tables;
    await this.breakdown?.taken.catch(() => {});
    return nodes && { nodes, groups: this.blocks?.named() ?? [] };
  }

  /**
   * Show what lies on the graph by now.
   * @param {import("../overlay/overlays.js").AnyColumn|null} column to colour by; null: none other
   * @param {import("../overlay/overlays.js").AnyColumn[]} gone columns that were on it
   */
  async relay(column, gone) {
    this.overlays.offer(choices.choiceOf("colour"));
    if (column) this.state.colour = column.id;
    else if (gone.some(({ id }) => id === this.state.colour)) this.state.colour = this.graph.colour;
    if (gone.some(({ id }) => id === this.state.measure)) this.state.measure = "";
    await this.recolour();
  }

  /** Show what lies on the graph, one part after the other: of many nodes each takes as long as the page may be held up. */
  async recolour() {
    for (const step of this.views.steps(this.overlays.column(this.state.colour))) {
      await this.overlays.inTurn(step);
    }
    await this.tables.relay();
    if (!this.listening.signal.aborted) this.update();
  }

  // -- the search ------------------------------------------------------------------------

  /** A reader searches. @param {string} text */
  find(text) {
    this.state.search = text;
    this.tables.narrow();
    this.write();
  }

  /** Bring a node into view in every part. @param {number} node */
  bring(node) {
    this.views.show([node]);
    this.tables.shown?.show(node);
  }

  // -- selection ----------------------------------------------------------------------

  /** Selection, hover or filter changed: the canvases know, the rest is updated. */
  hear() {
    const { selected, filtered, hovered } = this.group;
    const what = { selected: !bus.same(selected, this.state.node), filtered: filtered !== this.filtered };
    this.requests.hear(what);
    if (what.selected) {
      this.state.node = selected.slice();
      // A requested part of the time is where it is looked for.
      const still = this.requests.isTaking ? this.state.time && "timeline" : this.host.touched();
      if (selected.length) this.views.show(selected, still);
      selectionNote.forget();
      this.settle();
    }
    this.filtered = filtered;
    if (what.filtered) this.write();
    this.tables.hear(what);
    this.inspector.mark(hovered);
  }

  /** What follows from the state without the canvases: inspector, controls, address. */
  settle() {
    const { state, store } = this;
    this.inspector.show(`${store.keyOf(state.node)} ${this.overlays.version}`,
      async () => this.overlays.inspect(await store.inspect(state.node), state.node));
    choices.show(state);
    // The table has the colours that the choice names.
    this.element.classList.toggle("gv-by-family", state.colour === "family");
    this.showPanel();
    this.tables.show();
    this.write();
  }

  /** Timeline or memory; the memory view and its facts are made when they are first looked at. */
  showPanel() {
    const memory = this.state.panel === "memory";
    const box = document.getElementById("memory-box");
    if (!box) return;
    byId("timeline-box").hidden = memory;
    box.hidden = !memory;
    const eager = document.getElementById("eager-box");
    if (eager) eager.hidden = memory;
    if (!memory || this.views.frames.memory) return;
    this.open("memory");
    this.showMemoryFacts();
  }

  async showMemoryFacts() {
    const made = await this.store.memoryFacts().catch((error) => notShown(error.message));
    if (!this.listening.signal.aborted) byId("memory-facts").replaceChildren(made);
  }

  write() {
    const { text, left } = this.written();
    selectionNote.show(left, this.state.node.length, this.requests.isUnfiltered(this.state));
    this.host.write(text, this.steps);
  }

  // -- controls -----------------------------------------------------------------------

  listen() {
    const listening = new AbortController();
    const { signal } = listening;
    this.element.addEventListener("change", (event) => this.choose(/** @type {HTMLInputElement} */ (event.target)), { signal });
    this.search.listen(signal);
    this.menu.listen(this.element, signal);
    this.element.addEventListener("click", (event) => {
      const adding = closest(event, "button[data-lay]");
      if (adding) this.overlays.choose(/** @type {"A"} */ (adding.dataset.lay));
      const following = closest(event, "button[data-follow]");
      if (following) this.follow(following.dataset.follow ?? "");
      const opening = closest(event, "button[data-open]");
      if (opening) this.openBodies(opening.dataset.open?.split(",") ?? [], opening.dataset.level ?? "0");
    }, { signal });
    return listening;
  }

  /** All that the palette offers. */
  commands() {
    return [
      ...commands.ofKeys(), ...commands.ofHead(this.element), ...commands.ofVerdict(this.element), ...commands.ofChoices(this.element),
      ...this.overlays.commands(),
      ...commands.ofBlocks(this.breakdown?.forms.whole, (nodes) => this.group.select(nodes)),
    ];
  }

  /** Something was chosen. @param {HTMLInputElement} control */
  choose({ id, name, value, checked }) {
    if (id === "graph-choice") return this.host.openGraph(Number(value));
    if (choices.WAYS.includes(id)) return this.host.open(value);
    const choice = choices.CHOICES[id] ?? choices.CHOICES[name];
    if (!choice) return;
    this.steps += 1;
    announce.say(choices.wordsOf(id, name, value));
    this.state[choice] = id in choices.SWITCHES ? choices.SWITCHES[id][Number(checked)] : value;
    if (choice === "layout") this.asked = value;
    if (choices.TIMES.has(choice)) Object.assign(this.state, { time: null, brush: null });
    if (choice === "fold") this.state.open = this.openedWith(value);
    if (choice === "table") this.state.sort = "";
    if (choice === "only") this.tables.narrow();
    if (choice === "colour" && this.overlays.list.length) this.recolour();
    else this.update();
  }

  /** What is open once others are folded: bodies, and of what is folded at first the blocks that are open then. @param {string} fold */
  openedWith(fold) {
    return [...(fold === this.graph.fold ? this.graph.open : []), ...this.state.open.filter(address.isBody)];
  }

  /**
   * Draw a level with these bodies open; where that is drawn already, without them.
   * @param {string[]} ids of their nodes @param {string} level
   */
  openBodies(ids, level) {
    const { open, level: drawn } = this.state;
    const others = open.filter((id) => !ids.includes(id));
    const isThere = level === drawn && ids.length > 0 && open.length - others.length === ids.length;
    if (level !== drawn) this.steps += 1;
    Object.assign(this.state, { level, open: isThere ? others : [...others, ...ids] });
    this.update();
  }

  /**
   * Follow an address: the button of the inspector has it.
   * @param {string} buffer
   */
  follow(buffer) {
    this.steps += Number(this.state.edges !== "data");
    Object.assign(this.state, { edges: "data", buffer });
    this.update();
  }

  // -- a recording that grows -----------------------------------------------------------

  /**
   * Take in what is new, and keep what a reader did; false: with it this is another page.
   * @param {Store} store of the graph as it is by now
   */
  renew(store) {
    const fresh = make(store.graph.parts, store.graph.page);
    // Nobody chose it: with times come the colours of a graph that has them.
    if (this.state.colour === this.graph.colour) this.state.colour = store.graph.colour;
    if (!growth.isSame(fresh)) return false;
    if (JSON.stringify(store.graph.tables) !== JSON.stringify(this.graph.tables)) {
      this.tables.clear();
    }
    growth.takeIn(fresh);
    this.overlays.offer(choices.choiceOf("colour"));
    this.store = store;
    this.state.launch = choices.choiceOf("launch")?.value ?? this.state.launch;
    this.state.stream = choices.choiceOf("stream-launch")?.value ?? this.state.stream;
    this.breakdown?.destroy();
    this.breakdown = this.openBreakdown();
    this.breakdown?.open(this.state.pane);
    this.update();
    this.filled = this.fill(store);
    if (this.views.frames.memory) this.showMemoryFacts();
    return true;
  }

  // -- another place, and the end -------------------------------------------------------

  /** Stand in another box, as it is. @param {HTMLElement} box */
  moveTo(box) {
    const active = /** @type {HTMLElement|null} */ (document.activeElement);
    const scrolled = ["nodes", "kernels", "inspector"].map(byId).map((part) => /** @type {const} */ ([part, part.scrollTop]));
    box.replaceChildren(this.element);
    for (const [part, top] of scrolled) part.scrollTop = top;
    if (active && this.element.contains(active)) active.focus({ preventScroll: true });
  }

  close() {
    for (const end of this.ends) end();
    this.listening.abort();
    this.panes.close();
    this.palette.close();
    this.overlays.close();
    this.breakdown?.destroy();
    this.tables.close();
    this.views.close();
    this.element.remove();
  }
}
