/**
 * The overlays of a graph's page: tables that a reader laid on it, from files that are dropped or chosen, or that the
 * page came with.
 *
 * @typedef {{name: string, open: () => Promise<ReadableStream<Uint8Array>>}} Source  a file of an overlay
 * @typedef {{nodes: () => Promise<NodesOfPage|null>, groups: () => Promise<Group[]>,
 *   laid: (column: Column|null) => void}} Host  the page: its nodes, null: they could not be had; its layers; it hears
 *   that other overlays lie on it, and which column to colour by, null: the one it has
 * @typedef {{columns: Record<string, any[]>, places: Map<number, number>, words: string[]|null, ids: number[]}} NodesOfPage
 */
import { element } from "../core/parts.js";
import { OverlayNotes } from "./notes.js";
import { Targets } from "./read/targets.js";
import { readOverlay, turn } from "./reading.js";
/** @import { Column, Overlay } from "./overlay.js" */
/** @import { Group } from "./read/targets.js" */

/** Columns of overlays that the table shows at a time. */
const MOST_SHOWN = 4;
/** Columns of times, as tables call them. */
const TIMES = ["median_ns", "p95_ns", "share", "total_ns"];
/** Values that the inspector lists of an overlay. */
const MOST_LISTED = 40;
/** What a column of an overlay is called in addresses begins so. */
const PREFIX = "overlay:";
const TAKEN = /\.(csv|tsv|json|jsonl|parquet)$/i;
/** Traces of other programs are JSON too: these are opened, not laid on a graph. */
const TRACE = /"(?:traceEvents|schemaVersion|deviceProperties)"/;
const SNIFFED = 1 << 16;

/** Whether a colour is called as one of an overlay is. @param {string} [colour] */
export const isOverlay = (colour = "") => colour.startsWith(PREFIX);

export class Overlays {
  /** @param {Host} host */
  constructor(host) {
    this.host = host;
    /** @type {Overlay[]} */ this.list = [];
    /** Changes with what lies on the graph. */ this.version = 0;
    this.notes = new OverlayNotes((overlay) => this.remove(overlay));
    this.ending = new AbortController();
    /** One file after the other. @type {Promise<unknown>} */ this.queue = Promise.resolve();
    /** @type {Targets|null} */ this.targets = null;
    /** What the table of nodes shows. @type {{nodes: NodesOfPage|null, columns: Column[]}} */
    this.filled = { nodes: null, columns: [] };
  }

  /** The column that a colour names; null: none. @param {string} id */
  column(id) {
    return this.columns().find((column) => column.id === id) ?? null;
  }

  /** @returns {Column[]} */
  columns() {
    return this.list.flatMap((overlay) => overlay.columns);
  }

  /** The columns that blocks of a breakdown can be as wide as: parts of a sum. */
  measures() {
    return this.columns().filter((column) => column.isSummed && !column.isSigned);
  }

  // -- laying -------------------------------------------------------------------------

  /**
   * Lay files on the graph, one after the other.
   * @param {Source[]} sources @param {boolean} colours whether nodes are coloured by the first
   */
  lay(sources, colours) {
    sources.forEach((source, n) => {
      this.queue = this.queue.then(() => this.layOne(source, colours && n === 0));
    });
    return this.queue;
  }

  /** @param {Source} source @param {boolean} colours */
  async layOne({ name, open }, colours) {
    const { signal } = this.ending;
    if (signal.aborted) return;
    this.notes.wait(name);
    try {
      const overlay = await readOverlay(name, await open(), await this.find(), signal);
      await turn();
      if (signal.aborted) return;
      if (overlay.columns.length) this.put(overlay, colours);
      this.notes.show(overlay);
    } catch (error) {
      if (!signal.aborted) this.notes.fail(name, /** @type {Error} */ (error).message);
    }
  }

  /** Where rows are looked for: the nodes of the page. */
  async find() {
    const nodes = await this.host.nodes();
    if (!nodes) throw new Error("the nodes of this graph are not there");
    if (this.targets?.places !== nodes.places) this.targets = new Targets(nodes, await this.host.groups());
    return this.targets;
  }

  /** @param {Overlay} overlay @param {boolean} colours */
  put(overlay, colours) {
    this.list = [...this.list.filter((other) => other.name !== overlay.name), overlay];
    this.version += 1;
    this.host.laid(colours ? overlay.columns.find((column) => column.isNumber) ?? overlay.columns[0] : null);
  }

  /** @param {Overlay} overlay */
  remove(overlay) {
    this.list = this.list.filter((other) => other !== overlay);
    this.version += 1;
    this.host.laid(null);
  }

  /** Lay those of some files that are tables; the others are given back. @param {File[]} files */
  async take(files) {
    const isTable = await Promise.all(files.map(async (file) =>
      TAKEN.test(file.name) && (!/\.json$/i.test(file.name) || !TRACE.test(await file.slice(0, SNIFFED).text()))));
    const tables = files.filter((_, n) => isTable[n]);
    this.lay(tables.map((file) => ({ name: file.name, open: async () => file.stream() })), true);
    return files.filter((_, n) => !isTable[n]);
  }

  /** Have a reader choose files. */
  choose() {
    const input = element("input", { type: "file", multiple: true, accept: ".csv,.tsv,.json,.jsonl", id: "overlay-files" });
    input.hidden = true;
    input.addEventListener("change", async () => {
      const others = await this.take(Array.from(input.files ?? []));
      for (const { name } of others) this.refuse(name);
      input.remove();
    });
    input.addEventListener("cancel", () => input.remove());
    // In the page, so that it can be found.
    document.body.append(input);
    input.click();
  }

  /** Say that a file is no table. @param {string} name */
  refuse(name) {
    this.notes.fail(name, "it is no table; wanted CSV, or JSON that is a list of objects");
  }

  // -- showing ------------------------------------------------------------------------

  /** Offer the columns in a choice of colours. @param {HTMLElement|null} choice */
  offer(choice) {
    for (const group of choice?.querySelectorAll("optgroup") ?? []) group.remove();
    choice?.append(...this.list.map((overlay) => element("optgroup", { label: overlay.name }, ...overlay.columns.map((column) =>
      element("option", { value: column.id }, column.name)))));
  }

  /** The columns that the table shows: the first ones, and what nodes are coloured by. @param {string} colour */
  shown(colour) {
    const all = this.columns();
    const [first, chosen] = [all.slice(0, MOST_SHOWN), this.column(colour)];
    return !chosen || first.includes(chosen) ? first : [...first.slice(0, -1), chosen];
  }

  /**
   * The columns of a table, those of overlays behind its times.
   * @template {{field: string}} T
   * @param {T[]} columns @param {string} colour what nodes are coloured by
   */
  among(columns, colour) {
    const at = columns.findLastIndex(({ field }) => TIMES.includes(field)) + 1;
    return columns.toSpliced(at || columns.length, 0, .../** @type {any[]} */ (this.tableColumns(colour)));
  }

  /** Columns as a table has them. @param {string} colour what nodes are coloured by */
  tableColumns(colour) {
    return this.shown(colour).map((column) => ({
      field: column.id, headerName: column.label, headerTooltip: `${column.name}, of ${column.overlay.name}; ${wordOf(column)}`,
      width: 110, tooltipField: column.isNumber ? undefined : column.id, write: column.write,
      ...(column.isNumber ? { type: "numericColumn" } : {}),
    }));
  }

  /** Give the table of nodes the values that it shows; false: it has them. @param {NodesOfPage} nodes @param {string} colour */
  fill(nodes, colour) {
    const shown = this.shown(colour);
    if (this.filled.nodes === nodes && isSame(this.filled.columns, shown)) return false;
    for (const name of Object.keys(nodes.columns)) {
      if (isOverlay(name) && !shown.some((column) => column.id === name)) delete nodes.columns[name];
    }
    for (const column of shown) {
      if (this.filled.nodes === nodes && this.filled.columns.includes(column)) continue;
      nodes.columns[column.id] = column.overlay.places === nodes.places ? column.list() : nodes.ids.map((id) => column.of(id));
    }
    this.filled = { nodes, columns: shown };
    // A search looks in them too.
    nodes.words = null;
    return true;
  }

  /** Give rows about several nodes each the values that these have together. @param {{nodes: number[]}[]} rows @param {string} colour */
  fillGroups(rows, colour) {
    const columns = this.shown(colour);
    for (const row of rows) for (const column of columns) Object.assign(row, { [column.id]: column.over(row.nodes) });
  }

  /** What the palette offers. @returns {{name: string, run: () => void}[]} */
  commands() {
    return this.list.flatMap((overlay) => [
      { name: `Overlay ${overlay.name}: rows without a node`, run: () => this.notes.show(overlay) },
      { name: `Overlay ${overlay.name}: remove`, run: () => this.remove(overlay) },
    ]);
  }

  /** What the overlays say of some nodes, behind what the inspector says. @param {HTMLElement} made @param {number[]} ids */
  inspect(made, ids) {
    if (ids.length) made.append(...this.list.flatMap((overlay) => sectionOf(overlay, ids)));
    return made;
  }

  close() {
    this.ending.abort();
    this.notes.close();
  }
}

/** @param {Column[]} some @param {Column[]} others */
const isSame = (some, others) => some.length === others.length && some.every((column, n) => column === others[n]);

/** How values of several nodes become one. @param {Column} column */
const wordOf = (column) => `of several nodes ${column.together}`;

/** @param {Overlay} overlay @param {number[]} ids */
function sectionOf(overlay, ids) {
  const known = overlay.columns.map((column) => ({ column, value: ids.length > 1 ? column.over(ids) : column.of(ids[0]) }))
    .filter(({ value }) => value !== null);
  if (!known.length) return [];
  const facts = known.slice(0, MOST_LISTED).map(({ column, value }) =>
    element("div", { title: `${column.name}: from ${overlay.name}${ids.length > 1 ? `, ${wordOf(column)}` : ""}` },
      element("dt", {}, column.label), element("dd", {}, column.write(value))));
  const more = known.length - MOST_LISTED;
  return [element("section", { class: "gv-inspector-section gv-overlay-values" }, element("h3", {}, overlay.name),
    element("dl", { class: "gv-facts" }, ...facts), ...(more > 0 ? [element("p", { class: "gv-muted" }, `and ${more} more`)] : []))];
}
