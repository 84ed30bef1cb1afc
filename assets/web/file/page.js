/** The page of a saved file: its views joined as the application joins them, without a server. */
import { Breakdown } from "../breakdown/breakdown.js";
import * as bus from "../core/bus.js";
import { byId, closest } from "../core/dom.js";
import { make } from "../core/parts.js";
import { openView } from "../page/views.js";
import { Table } from "../table/table.js";
import * as address from "./address.js";
import * as folds from "./folds.js";
import { FileInspector } from "./inspector.js";
import * as store from "./store.js";
/** @import { Frame, Props } from "../core/frame.js" */
/** @import { Nodes } from "../table/nodes.js" */
/** @import { State } from "./address.js" */
/** @import { Graph } from "./store.js" */

/** The views by the ids of their boxes. @type {Record<string, string>} */
const VIEWS = { dag: "Dag", timeline: "Timeline", memory: "Memory" };

/** A choice that the page may have. @param {string} id */
const choiceOf = (id) => /** @type {HTMLSelectElement|null} */ (document.getElementById(id));

/** "dark" or "light", as the document says. */
export function theme() {
  return document.documentElement.getAttribute("data-mantine-color-scheme") ?? "light";
}

/**
 * A place among `names`, or else the first of them.
 * @param {string[]} names @param {string} [requested]
 */
const oneOf = (names, requested = "") => (names.includes(requested) ? requested : names[0]);

/**
 * The part of the state that a control, or a group of them, sets.
 * @type {Record<string, "launch"|"colour"|"fold"|"edges"|"layout"|"panel"|undefined>}
 */
const CHOICES = {
  launch: "launch", colour: "colour", folding: "fold", data: "edges", layout: "layout", panel: "panel",
};

export class Page {
  /**
   * @param {Graph} graph @param {Nodes} nodes @param {Partial<State>} requested
   * @param {() => string|null} touched
   */
  constructor(graph, nodes, requested, touched) {
    this.graph = graph;
    this.nodes = nodes;
    this.touched = touched;
    /** @type {Record<string, Frame>} */ this.frames = {};
    /** @type {number[]|null} */ this.filtered = null;
    this.listening = new AbortController();
    this.name = graph.name;
    byId("page").replaceChildren(make(graph.parts, graph.page));
    byId("file-note").textContent = graph.note;
    document.title = `${graph.name} – gviz`;
    this.group = bus.group(bus.PAGE);
    this.state = this.begin(requested);
    this.group.selected = this.state.node;
    this.end = bus.subscribe(bus.PAGE, () => this.hear());
    this.frame("dag");
    this.frame("timeline");
    this.table = new Table(byId("nodes"), graph.columns, nodes, {
      group: this.group, name: graph.name, select: (ids) => this.group.select(ids),
    });
    this.inspector = new FileInspector(byId("inspector-body"), graph, nodes, this.group);
    this.breakdown = this.openBreakdown();
    this.listen();
    this.settle();
    if (this.state.node.length) this.table.show(this.state.node[0]);
  }

  /**
   * The state to begin with: what is requested, where the file has it.
   * @param {Partial<State>} requested
   * @returns {State}
   */
  begin(requested) {
    const { graph } = this;
    const keys = Object.keys(graph.dag).map((key) => key.split("|"));
    const launches = Object.keys(graph.timeline);
    /** @param {string} id */
    const offered = (id) =>
      Array.from(choiceOf(id)?.options ?? []).filter((option) => !option.disabled).map((option) => option.value);
    const fold = oneOf(Object.keys(graph.folds), requested.fold);
    const sets = this.foldsOf(fold);
    return {
      graph: graph.id,
      node: (requested.node || []).filter((id) => this.nodes.has(id)),
      launch: oneOf([choiceOf("launch")?.value ?? launches[0] ?? "", ...launches], requested.launch),
      colour: oneOf([graph.colour, ...offered("colour")], requested.colour),
      layout: oneOf([graph.layout, ...keys.map(([layout]) => layout)], requested.layout),
      fold,
      open: sets.sets[folds.placeOf(sets, requested.open || [])],
      edges: oneOf(["all", "data"], requested.edges),
      buffer: requested.buffer || null,
      panel: oneOf(["timeline", "memory"], requested.panel),
    };
  }

  /** The verdict and the breakdown; null where the file has none of this graph. */
  openBreakdown() {
    const { id, breakdown, verdict } = this.graph;
    const box = document.getElementById("breakdown");
    if (!box || breakdown === null || verdict === null) return null;
    return new Breakdown(box, document.getElementById("findings"), this.group, {
      breakdown: () => store.payload(`${id}/${breakdown}`), verdict: async () => verdict,
    });
  }

  /** @param {string} fold */
  foldsOf(fold) {
    return this.graph.folds[fold];
  }

  // -- the canvases -------------------------------------------------------------------

  /** @param {string} name */
  frame(name) {
    const box = document.getElementById(name);
    if (!box) return;
    const { node } = this.state;
    this.frames[name] = openView(box, VIEWS[name], {
      ...this.props(name), id: name, selected: node, group: bus.PAGE,
      focus: node.length ? { node: node[0], token: 0 } : null,
      setProps: (change) => this.receive(change),
    });
  }

  /**
   * What a view is to show.
   * @param {string} name
   */
  props(name) {
    const { colour, open, buffer } = this.state;
    return { source: this.source(name), colour, open, buffer, theme: theme() };
  }

  /** @param {string} name */
  source(name) {
    const { graph, state } = this;
    if (name === "timeline") return `${graph.id}/${graph.timeline[state.launch]}`;
    // The median launch and the stack of all have no single one to place nodes by.
    const launch = state.launch in graph.memory ? state.launch : Object.keys(graph.memory)[0];
    if (name === "memory") return `${graph.id}/${graph.memory[launch]}`;
    const all = this.foldsOf(state.fold);
    const place = graph.dag[`${state.layout}|${launch}|${state.fold}|${folds.placeOf(all, state.open)}`];
    return `${graph.id}/${place}${state.edges === "data" ? "" : "/plain"}`;
  }

  /** Have the views show the state. */
  update() {
    for (const [name, frame] of Object.entries(this.frames)) {
      frame.update({ ...frame.props, ...this.props(name) });
    }
    this.settle();
  }

  /** A view changed a property of its own. @param {Partial<Props>} change */
  receive({ open, layout, buffer }) {
    if (buffer !== undefined) {
      this.state.buffer = buffer;
      address.write(this.state);
    }
    // What it drew where it could not draw what was requested.
    if (layout && layout !== this.state.layout) {
      this.state.layout = layout;
      this.settle();
    }
    if (!open) return;
    const all = this.foldsOf(this.state.fold);
    this.state.open = all.sets[folds.next(all, this.state.open, open)];
    this.update();
  }

  // -- selection ----------------------------------------------------------------------

  /** Selection, hover or filter changed: the canvases know, the rest is updated. */
  hear() {
    const { selected, filtered } = this.group;
    if (!bus.same(selected, this.state.node)) {
      this.state.node = selected.slice();
      for (const [name, frame] of Object.entries(this.frames)) {
        if (selected.length && name !== this.touched()) frame.show(selected[0]);
      }
      if (selected.length && this.touched() !== "nodes") this.table.show(selected[0]);
      this.settle();
    }
    if (filtered !== this.filtered) {
      this.filtered = filtered;
      this.table.change({ only: filtered && new Set(filtered) });
      this.count();
    }
    this.table.mark();
    this.inspector.mark(this.group.hovered);
  }

  /** What follows from the state without the canvases: inspector, controls, address. */
  settle() {
    const { state } = this;
    this.inspector.showNodes(state.node);
    const values = { launch: state.launch, colour: state.colour, folding: state.fold };
    for (const [id, value] of Object.entries(values)) {
      const choice = choiceOf(id);
      if (choice) choice.value = value;
    }
    const data = /** @type {HTMLInputElement|null} */ (document.getElementById("data"));
    if (data) data.checked = state.edges === "data";
    for (const name of /** @type {const} */ (["layout", "panel"])) {
      /** @type {HTMLInputElement|null} */
      const choice = document.querySelector(`#${name} input[value="${state[name]}"]`);
      if (choice) choice.checked = true;
    }
    this.showPanel();
    this.count();
    address.write(state);
  }

  /** Timeline or memory; the memory view is made when it is first looked at. */
  showPanel() {
    const memory = this.state.panel === "memory";
    byId("timeline-box").hidden = memory;
    byId("memory-box").hidden = !memory;
    const eager = document.getElementById("eager-box");
    if (eager) eager.hidden = memory;
    if (memory && !this.frames.memory) this.frame("memory");
  }

  count() {
    const [shown, all] = [this.table.rows.length, this.nodes.ids.length];
    byId("row-count").textContent = shown === all ? "" : `${shown} of ${all}`;
    const clear = byId("filter-clear");
    clear.hidden = !this.filtered;
    clear.textContent = this.filtered ? `${this.filtered.length} of ${all} nodes ✕` : "";
  }

  // -- controls -----------------------------------------------------------------------

  listen() {
    const page = byId("page");
    this.listening = new AbortController();
    const { signal } = this.listening;
    page.addEventListener("change", (event) => this.choose(/** @type {HTMLInputElement} */ (event.target)), { signal });
    page.addEventListener("input", (event) => {
      const { id, value } = /** @type {HTMLInputElement} */ (event.target);
      if (id !== "search") return;
      this.table.change({ search: value });
      this.count();
    }, { signal });
    page.addEventListener("click", (event) => {
      const { id } = /** @type {Element} */ (event.target);
      if (id === "filter-clear") this.group.filter(null);
      if (id === "save-rows") this.table.saveCsv();
      const following = closest(event, "button[data-follow]");
      if (following) this.follow(following.dataset.follow ?? "");
    }, { signal });
  }

  /** Something was chosen. @param {HTMLInputElement} control */
  choose({ id, name, value, checked }) {
    if (id === "graph-choice") window.location.hash = `graph=${value}`;
    const choice = CHOICES[id] ?? CHOICES[name];
    if (!choice) return;
    this.state[choice] = id === "data" ? (checked ? "data" : "all") : value;
    if (choice === "fold") this.state.open = [];
    this.update();
  }

  /**
   * Follow an address: the button of the inspector has it.
   * @param {string} buffer
   */
  follow(buffer) {
    Object.assign(this.state, { edges: "data", buffer });
    this.update();
  }

  close() {
    this.end();
    this.listening.abort();
    this.table.destroy();
    this.breakdown?.destroy();
    for (const frame of Object.values(this.frames)) frame.destroy();
  }
}
