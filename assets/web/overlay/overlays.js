/**
 * The overlays of a graph's page: tables that a reader laid on it, from files that are dropped or chosen, or that the
 * page came with.
 *
 * @typedef {""|"A"|"B"} Side  of two graphs that are compared the one before or after; "": there is one graph
 * @typedef {{name: string, side?: Side, recorded?: boolean, open: () => Promise<ReadableStream<Uint8Array>>}} Source  a
 *   file of an overlay; without a side it is laid on each; `recorded`: a recording has it, it is not a reader's own
 * @typedef {{sides: readonly Side[], about: (side: Side) => Promise<About|null>, laid: (column: AnyColumn|null, gone: AnyColumn[]) => Promise<void>}} Host
 *   the page: its sides, and what rows of a table about one can be about, null: it could not be had; it hears that other
 *   overlays lie on it, which column to colour by, null: the one it has, and which ones are gone
 * @typedef {{nodes: {columns: Record<string, any[]>, places: Map<number, number>}, groups: Group[]}} About  the nodes of
 *   a side, with their places by their numbers on the page, and its layers
 * @typedef {{columns: Record<string, any[]>, places: Map<number, number>, searched: object|null, ids: number[]}} NodesOfPage
 * @typedef {Column|ChangeColumn} AnyColumn
 */
import { element, facts, section } from "../core/parts.js";
import { changesOf } from "./change_column.js";
import { OverlayNotes } from "./notes.js";
import { Pace, turn } from "../core/pace.js";
import { Targets } from "./read/targets.js";
import { readOverlay } from "./reading.js";
/** @import { ChangeColumn } from "./change_column.js" */
/** @import { Column, Overlay } from "./overlay.js" */
/** @import { Group } from "./read/targets.js" */

/** Columns of overlays that the table shows at a time: of two graphs, before, after and change of two. */
const MOST_SHOWN = { one: 4, two: 6 };
/** Both graphs of a comparison. @type {readonly Side[]} */
export const SIDES = ["A", "B"];
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
    /** Where rows are looked for, by side. @type {Map<Side, Targets>} */ this.targets = new Map();
    /** What columns of both sides changed by, in order of those after. @type {ChangeColumn[]} */ this.changes = [];
    /** What the table of nodes shows. @type {{nodes: NodesOfPage|null, columns: AnyColumn[]}} */
    this.filled = { nodes: null, columns: [] };
  }

  /** The column that a colour names; null: none. @param {string} id */
  column(id) {
    return this.columns().find((column) => column.id === id) ?? null;
  }

  /** All columns; of what both sides have those of before, after and change stand together. @returns {AnyColumn[]} */
  columns() {
    const paired = this.changes.flatMap((change) => [change.before, change.after, change]);
    return [...paired, ...this.list.flatMap((overlay) => overlay.columns.filter((column) => !paired.includes(column)))];
  }

  /** The columns that blocks of a breakdown can be as wide as: parts of a sum. */
  measures() {
    return this.list.flatMap((overlay) => overlay.columns).filter((column) => column.isSummed && !column.isSigned);
  }

  /** The files of what lies on the graph: a file that lies on both sides once. @returns {Source[]} */
  sources() {
    return this.list.flatMap(({ source, side }) => {
      const sides = this.list.filter((other) => other.source.open === source.open).map((other) => other.side);
      if (sides.length < 2) return [{ ...source, side: side || undefined }];
      return side === sides[0] ? [{ ...source, side: undefined }] : [];
    });
  }

  // -- laying -------------------------------------------------------------------------

  /**
   * Lay files on the graph, one after the other.
   * @param {Source[]} sources @param {boolean} colours whether nodes are coloured by the first of a reader's own: what a
   *   recording has of each node is only offered
   */
  lay(sources, colours) {
    const first = sources.find(({ recorded }) => !recorded);
    for (const source of sources) {
      for (const side of source.side ? [source.side] : this.host.sides) {
        // Of two graphs what changed is the colour, once both have theirs.
        const isColour = colours && !source.recorded && (source === first || side !== "");
        this.queue = this.queue.then(() => this.layOne(source, side, isColour));
      }
    }
    return this.queue;
  }

  /** @param {Source} source @param {Side} side @param {boolean} colours */
  async layOne(source, side, colours) {
    const { signal } = this.ending;
    if (signal.aborted) return;
    const title = titleOf(source.name, side);
    // Nobody gave what a recording has: only a fault of it is news.
    const isNews = !source.recorded;
    if (isNews) this.notes.wait(title);
    try {
      const overlay = await readOverlay({ source, side, title }, await this.find(side), signal);
      if (overlay.columns.length) await this.put(overlay, colours);
      if (isNews && !signal.aborted) this.notes.show(overlay);
    } catch (error) {
      if (!signal.aborted) this.notes.fail(title, /** @type {Error} */ (error).message);
    }
  }

  /** Where rows are looked for: the nodes of a side. @param {Side} side */
  async find(side) {
    const about = await this.host.about(side);
    if (!about) throw new Error("the nodes of this graph are not there");
    const known = this.targets.get(side);
    if (known?.places === about.nodes.places) return known;
    const made = new Targets(about.nodes, about.groups);
    this.targets.set(side, made);
    return made;
  }

  /** @param {Overlay} overlay @param {boolean} colours */
  put(overlay, colours) {
    this.keep([...this.list.filter((other) => other.title !== overlay.title), overlay]);
    const change = this.changes.find(({ before, after }) => [before.overlay, after.overlay].includes(overlay));
    return this.host.laid(colours ? change ?? overlay.columns.find((column) => column.isNumber) ?? overlay.columns[0] : null, []);
  }

  /** @param {Overlay} overlay */
  remove(overlay) {
    const before = this.columns();
    this.keep(this.list.filter((other) => other !== overlay));
    const left = new Set(this.columns().map(({ id }) => id));
    this.host.laid(null, before.filter(({ id }) => !left.has(id)));
  }

  /** Have these lie on the graph, and no others. @param {Overlay[]} list */
  keep(list) {
    this.list = list;
    this.changes = changesOf(list);
    this.version += 1;
  }

  /** Lay those of some files that are tables; the others are given back. @param {File[]} files @param {Side} [side] "": each */
  async take(files, side) {
    const isTable = await Promise.all(files.map(async (file) =>
      TAKEN.test(file.name) && (!/\.json$/i.test(file.name) || !TRACE.test(await file.slice(0, SNIFFED).text()))));
    const tables = files.filter((_, n) => isTable[n]);
    this.lay(tables.map((file) => ({ name: file.name, side, open: async () => file.stream() })), true);
    return files.filter((_, n) => !isTable[n]);
  }

  /** Have a reader choose files. @param {Side} [side] that they are about; "": each */
  choose(side) {
    const input = element("input", { type: "file", multiple: true, accept: ".csv,.tsv,.json,.jsonl", id: "overlay-files" });
    input.hidden = true;
    input.addEventListener("change", async () => {
      const others = await this.take(Array.from(input.files ?? []), side);
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

  /** Do a part of much, and give the page its turn. @param {() => void} step */
  async inTurn(step) {
    step();
    await turn();
  }

  // -- showing ------------------------------------------------------------------------

  /** Offer the columns in a choice of colours. @param {HTMLElement|null} choice */
  offer(choice) {
    for (const group of choice?.querySelectorAll("optgroup") ?? []) group.remove();
    const changes = this.changes.length ? [{ title: "Change", columns: this.changes }] : [];
    choice?.append(...[...changes, ...this.list].map(({ title, columns }) => element("optgroup", { label: title },
      ...columns.map((column) => element("option", { value: column.id }, column.label)))));
  }

  /** The columns that the table shows: the first ones, and what nodes are coloured by. @param {string} colour */
  shown(colour) {
    const all = this.columns();
    const most = this.host.sides.length > 1 ? MOST_SHOWN.two : MOST_SHOWN.one;
    const [first, chosen] = [all.slice(0, most), this.column(colour)];
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
      field: column.id, headerName: column.label, headerTooltip: `${column.name}, of ${column.title}; ${wordOf(column)}`,
      width: 110, tooltipField: column.isNumber ? undefined : column.id, write: column.write,
      ...(column.isNumber ? { type: "numericColumn" } : {}),
    }));
  }

  /** Give the table of nodes the values that it shows; false: it has them. @param {NodesOfPage} nodes @param {string} colour */
  async fill(nodes, colour) {
    const shown = this.shown(colour);
    if (this.filled.nodes === nodes && isSame(this.filled.columns, shown)) return false;
    for (const name of Object.keys(nodes.columns)) {
      if (isOverlay(name) && !shown.some((column) => column.id === name)) delete nodes.columns[name];
    }
    const pace = new Pace();
    for (const column of shown) {
      if (this.filled.nodes === nodes && this.filled.columns.includes(column)) continue;
      nodes.columns[column.id] = nodes.ids.map((id) => column.of(id));
      await pace.turn();
    }
    this.filled = { nodes, columns: shown };
    // A search looks in them too.
    nodes.searched = null;
    return true;
  }

  /** Give rows about several nodes each the values that these have together. @param {{nodes: number[]}[]} rows @param {string} colour */
  async fillGroups(rows, colour) {
    const pace = new Pace();
    for (const column of this.shown(colour)) {
      for (const row of rows) {
        Object.assign(row, { [column.id]: column.over(row.nodes) });
        await pace.rest();
      }
    }
  }

  /**
   * Give listed rows the values that their nodes have together.
   * @param {{columns: Record<string, any[]>, nodesOf: (place: number) => number[]}} rows @param {string} colour
   */
  async fillListed(rows, colour) {
    const pace = new Pace();
    for (const name of Object.keys(rows.columns)) if (isOverlay(name)) delete rows.columns[name];
    const count = Object.values(rows.columns)[0]?.length ?? 0;
    for (const column of this.shown(colour)) {
      rows.columns[column.id] = Array.from({ length: count }, (_, place) => valueOf(column, rows.nodesOf(place)));
      await pace.rest();
    }
  }

  /** What the palette offers. @returns {{name: string, run: () => void}[]} */
  commands() {
    return this.list.flatMap((overlay) => [
      { name: `Overlay ${overlay.title}: rows without a node`, run: () => this.notes.show(overlay) },
      { name: `Overlay ${overlay.title}: remove`, run: () => this.remove(overlay) },
    ]);
  }

  /** What the overlays say of some nodes, behind what the inspector says. @param {HTMLElement} made @param {number[]} ids */
  inspect(made, ids) {
    const changes = this.changes.length ? [{ title: "Change of overlays", columns: this.changes }] : [];
    if (ids.length) made.append(...[...this.list, ...changes].flatMap((some) => sectionOf(some, ids)));
    return made;
  }

  close() {
    this.ending.abort();
    this.notes.close();
  }
}

/** What a file is called where it lies on a side. @param {string} name @param {Side} side */
const titleOf = (name, side) => (side ? `${name} on ${side}` : name);

/** @param {AnyColumn[]} some @param {AnyColumn[]} others */
const isSame = (some, others) => some.length === others.length && some.every((column, n) => column === others[n]);

/** How values of several nodes become one. @param {AnyColumn} column */
const wordOf = (column) => `of several nodes ${column.together}`;

/** The value of one node, or of several together. @param {AnyColumn} column @param {number[]} ids */
const valueOf = (column, ids) => (ids.length > 1 ? column.over(ids) : column.of(ids[0]));

/** @param {{title: string, columns: AnyColumn[]}} given @param {number[]} ids */
function sectionOf({ title, columns }, ids) {
  const known = columns.map((column) => ({ column, value: valueOf(column, ids) })).filter(({ value }) => value !== null);
  if (!known.length) return [];
  const listed = facts(known.slice(0, MOST_LISTED).map(({ column, value }) =>
    [column.label, column.write(value), `${column.name}: from ${column.title}${ids.length > 1 ? `, ${wordOf(column)}` : ""}`]));
  const more = known.length - MOST_LISTED;
  const made = section(title, listed, ...(more > 0 ? [element("p", { class: "gv-muted" }, `and ${more} more`)] : []));
  made.classList.add("gv-overlay-values");
  return [made];
}
