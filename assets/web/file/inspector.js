/** The inspector of a saved file: what was written of a node, and sums over several. */
import * as format from "../core/format.js";
import { element, make } from "../core/parts.js";
import { Inspector, nodeOf } from "../page/inspector.js";
import * as store from "./store.js";
/** @import { Group } from "../core/bus.js" */
/** @import { NodeRow, Nodes } from "../table/nodes.js" */
/** @import { Graph } from "./store.js" */

/** Nodes listed of a selection of many; as gviz.app.inspector.inspector. */
const SLOWEST = 8;

/** @param {[string, string, string?][]} pairs label, value, how it was derived */
function facts(pairs) {
  return element("dl", { class: "gv-facts" }, ...pairs.map(([label, value, title]) =>
    element("div", title ? { title } : {}, element("dt", {}, label), element("dd", {}, value))
  ));
}

/** @param {string} title @param {Element} body */
function section(title, body) {
  return element("section", { class: "gv-inspector-section" }, element("h3", {}, title), body);
}

export class FileInspector extends Inspector {
  /**
   * @param {HTMLElement} box @param {Graph} graph
   * @param {Nodes} nodes @param {Group} group of the bus
   */
  constructor(box, graph, nodes, group) {
    super(box, (ids) => group.select(ids));
    this.graph = graph;
    this.nodes = nodes;
    for (const name of ["mouseover", "focusin"]) box.addEventListener(name, (event) => group.hover(nodeOf(event)));
    for (const name of ["mouseleave", "focusout"]) box.addEventListener(name, () => group.hover(null));
  }

  /** Show a selection. @param {number[]} ids */
  async showNodes(ids) {
    const known = ids.filter((id) => this.nodes.has(id));
    const made = await this.show(known.join(), async () => {
      const found = known.length > 1 ? this.several(known) : await this.written(known[0]);
      /** @type {NodeListOf<HTMLElement>} */
      const lists = found.querySelectorAll("ul[data-nodes]");
      for (const list of lists) this.list(list);
      return found;
    });
    if (made && known.length === 1) this.offerCopy(made, known[0]);
  }

  /**
   * What the file has of a node, or of no selection.
   * @param {number} id
   */
  async written(id) {
    const { parts, nothing } = this.graph;
    if (id === undefined) return make(parts, nothing);
    const [blob, at] = this.blobOf(id);
    const written = await store.json(`facts-${this.graph.id}-${blob}`);
    return make(written.parts, written.nodes[at]);
  }

  /**
   * Which blobs a node is in, and its place in them.
   * @param {number} id
   */
  blobOf(id) {
    const place = this.nodes.place(id);
    const each = this.graph.nodes_a_blob;
    return [Math.floor(place / each), place % each];
  }

  /**
   * Fill a list of nodes to choose from.
   * @param {HTMLElement} list
   */
  list(list) {
    /** @type {number[]} */
    const ids = JSON.parse(list.dataset.nodes ?? "[]");
    const lines = ids.filter((id) => this.nodes.has(id)).map((id) => {
      const { name, kind, median_ns: median } = this.nodes.row(id);
      const value = median === null ? kind : format.duration(median);
      return element("li", {}, element("button", { type: "button", class: "gv-pick", "data-node": String(id) },
        element("span", { class: "gv-ellipsis" }, name),
        element("span", { class: "gv-pick-value" }, value)));
    });
    list.append(...lines);
    const more = Number(list.dataset.more);
    if (more > 0) list.append(element("li", { class: "gv-muted" }, `and ${more} more`));
  }

  /**
   * Give the button its text: page/keys.js copies what it carries.
   * @param {Element} made @param {number} id
   */
  async offerCopy(made, id) {
    /** @type {HTMLButtonElement|null} */
    const button = made.querySelector("button[data-copy]");
    if (!button) return;
    button.disabled = true;
    const [blob, at] = this.blobOf(id);
    const texts = await store.json(`copy-${this.graph.id}-${blob}`);
    button.dataset.copy = texts[at];
    button.disabled = false;
  }

  /**
   * What became of several nodes together, those in bodies left out; as gviz.app.inspector.baseline_inspector.
   * @param {NodeRow[]} rows
   * @returns {[string, string, string][]}
   */
  against(rows) {
    const known = rows.filter((row) => row.body === null && Number.isFinite(row.change_ns));
    if (!known.length) return [];
    const [before, change] = ["baseline_ns", "change_ns"].map((name) =>
      known.reduce((total, row) => total + row[name], 0));
    const relative = before ? `, ${format.signedPercent(change / before)}` : "";
    const nodes = format.counted(known.length, "node");
    return [[`Against ${this.graph.baseline}`, format.signedDuration(change) + relative,
      `Derived: medians of ${nodes} of this level, timed in both`]];
  }

  /**
   * Sums over a selection; as gviz.app.inspector.inspector has them from the server.
   * @param {number[]} ids
   */
  several(ids) {
    const rows = ids.map((id) => this.nodes.row(id));
    // What is nested in a selected node counts with that node.
    const outer = this.nodes.outermost(ids).map((id) => this.nodes.row(id));
    const timed = outer.filter((row) => row.launch_ns !== null);
    /** @param {string} name */
    const sum = (name) => timed.reduce((total, row) => total + (row[name] ?? 0), 0);
    /** @type {Map<string, number>} */
    const kinds = new Map();
    for (const { kind } of rows) kinds.set(kind, (kinds.get(kind) || 0) + 1);
    const counts = Array.from(kinds).sort((a, b) => b[1] - a[1]);
    const slowest = rows.filter((row) => row.median_ns !== null)
      .toSorted((a, b) => (b.median_ns ?? 0) - (a.median_ns ?? 0)).slice(0, SLOWEST);
    const none = "no times";
    const list = element("ul", { class: "gv-picks", "data-nodes": JSON.stringify(slowest.map((row) => row.key)) });
    return element("div", {},
      element("div", { class: "gv-inspector-head" },
        element("h2", {}, `${format.counted(rows.length, "node")} selected`)),
      section("Sums", facts([
        ["Time", timed.length ? format.duration(sum("launch_ns")) : none,
          "Derived: sum of medians; in loops of what a launch takes on average"],
        ["Share of launch", timed.length ? format.percent(sum("share")) : none,
          "Derived: node time over the launch's GPU time"],
        ["Timed", `${timed.length} of ${outer.length}`, "Nodes with spans"],
        ...this.against(rows),
        ...counts.map(([kind, count]) => /** @type {[string, string]} */ ([kind, String(count)])),
      ])),
      ...(slowest.length ? [section("Slowest of them", list)] : []));
  }
}
