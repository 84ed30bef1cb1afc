/**
 * The tables of a graph's page: nodes one by one, and others, of which one is shown; the search and the filters
 * that narrow them; and the sums of what is selected, in their foot.
 *
 * @typedef {{state: () => State, touched: () => string|null, overlays: Overlays, view: (table: string) => void,
 *   changed: (change: Partial<State>) => void}} Owner  of the state, of which the table shown changes a part; what
 *   was last touched, and what lies on the graph; another table is to be shown
 */
import { byId } from "../core/dom.js";
import { counted, integer } from "../core/format.js";
import { Pace, turn } from "../core/pace.js";
import { element } from "../core/parts.js";
import { Families } from "../table/families.js";
import { Listed } from "../table/listed.js";
import * as sums from "../table/sums.js";
import { Table } from "../table/table.js";
/** @import { Group } from "../core/bus.js" */
/** @import { Overlays } from "../overlay/overlays.js" */
/** @import { Search } from "../search/field.js" */
/** @import { Nodes } from "../table/nodes.js" */
/** @import { How, Rows } from "../table/table.js" */
/** @import { State } from "./address.js" */
/** @import { Store } from "./store.js" */

/** The table of nodes one by one; it is in a box of its own, the others share one. */
const NODES = "nodes";
const OTHERS = "kernels";

/** @param {string} name of a table */
const boxOf = (name) => (name === NODES ? NODES : OTHERS);

export class Tables {
  /** @param {Store} store @param {Group} group @param {Search} search @param {Owner} owner */
  constructor(store, group, search, owner) {
    this.store = store;
    this.group = group;
    this.owner = owner;
    this.search = search;
    /** @type {Nodes|null} */ this.nodes = null;
    /** Tables that were looked at, by the box they are in. @type {Map<string, {name: string, table: Table}>} */
    this.made = new Map();
    /** The nodes that search and filters leave. @type {number[]} */ this.left = [];
    /** What narrows the tables now. @type {{search: string, only: Set<number>|null}} */ this.how = { search: "", only: null };
    /** The last narrowing, under way or done. @type {Promise<void>|null} */ this.narrowing = null;
    this.closed = false;
  }

  /** Those of some nodes that the graph has. @param {number[]} ids */
  known(ids) {
    return this.nodes ? ids.filter((id) => this.nodes?.has(id)) : ids;
  }

  /** The table shown, once its rows are there. */
  get shown() {
    const { table: name } = this.owner.state();
    const made = this.made.get(boxOf(name));
    return made?.name === name ? made.table : null;
  }

  // -- what is shown --------------------------------------------------------------------

  /** Fetch the nodes and show them, or say why that failed. @param {Store} store where they are by now */
  async fill(store) {
    this.store = store;
    try {
      const nodes = await store.nodes();
      // Of a large graph they were read in this turn.
      if (nodes.ids.length > MANY) await turn();
      if (this.closed) return;
      const isFirst = this.nodes === null;
      this.nodes = nodes;
      this.clear(this.shown);
      await this.lay();
      if (this.closed) return;
      const { selected } = this.group;
      if (this.known(selected).length < selected.length) this.group.select(this.known(selected));
      await this.narrow();
      if (isFirst && selected.length) this.shown?.show(selected[0]);
    } catch (error) {
      this.refuse(boxOf(this.owner.state().table), /** @type {Error} */ (error));
    }
  }

  /** Give the nodes the values of what lies on the graph; false: they have them. */
  async lay() {
    return this.nodes !== null && this.owner.overlays.fill(this.nodes, this.owner.state().colour);
  }

  /** Show what lies on the graph by now. */
  async relay() {
    if (!await this.lay() || this.closed) return;
    this.clear(this.shown);
    this.shown?.showColumns(this.columnsOf(this.owner.state().table));
    await this.show(true);
  }

  /** @param {string} name of a table */
  columnsOf(name) {
    return this.owner.overlays.among(this.store.graph.tables[name].columns, this.owner.state().colour);
  }

  /** Show the rows that the state's search, the filter and the selection leave. */
  narrow() {
    this.narrowing = this.leave();
    return this.narrowing;
  }

  /** Wait until the rows are those that the state leaves: until then the table has those before. */
  async narrowed() {
    for (let last = null; last !== this.narrowing;) {
      last = this.narrowing;
      await last;
    }
  }

  async leave() {
    if (!this.nodes) return;
    const { search, only } = this.owner.state();
    this.search.run(search);
    const { filtered, selected } = this.group;
    const chosen = only === "selected" ? new Set(selected) : null;
    const wanted = filtered && (chosen ? filtered.filter((id) => chosen.has(id)) : filtered);
    this.how = { search, only: wanted ? new Set(wanted) : chosen };
    const { only: chosenOnly } = this.how;
    const hits = this.group.found ?? this.nodes.ids;
    this.left = chosenOnly ? hits.filter((id) => chosenOnly.has(id)) : hits;
    const pace = new Pace();
    await this.show(true);
    await pace.rest();
    if (!this.closed) this.count();
  }

  /** Show the table that the state names. @param {boolean} [anew] also where it is shown */
  async show(anew = false) {
    const { table: name } = this.owner.state();
    byId(NODES).hidden = name !== NODES;
    byId(OTHERS).hidden = name === NODES;
    // What was narrowed while it was not looked at is narrowed now.
    const { shown } = this;
    const isThere = shown && !anew && shown.how.search === this.how.search && shown.how.only === this.how.only;
    if (!this.nodes || isThere) return this.order();
    try {
      const pace = new Pace(), { how } = this;
      const rows = name === NODES ? this.nodes : await this.store.rows(name, this.nodes, this.asked());
      // Of many nodes rows take a turn of their own, before they are drawn.
      await pace.rest();
      await this.fillRows(rows);
      if (!this.closed && how === this.how && name === this.owner.state().table) this.put(name, rows);
    } catch (error) {
      this.refuse(boxOf(name), /** @type {Error} */ (error));
    }
  }

  /** Give rows about several nodes the values of what lies on the graph. @param {Rows} rows */
  async fillRows(rows) {
    const { overlays } = this.owner, { colour } = this.owner.state();
    if (rows instanceof Families) await overlays.fillGroups(Array.from(rows.families.values()), colour);
    else if (rows instanceof Listed) await overlays.fillListed(rows, colour);
  }

  /** @param {string} name of a table @param {Rows} rows */
  put(name, rows) {
    const { shown } = this;
    if (shown) {
      Object.assign(shown.how, this.asked());
      shown.replace(rows);
      return this.order();
    }
    const [box, { label, opens }] = [boxOf(name), this.store.graph.tables[name]];
    this.made.get(box)?.table.destroy();
    byId(box).replaceChildren();
    const { name: graph } = this.store.graph;
    const table = new Table(byId(box), this.columnsOf(name), rows, {
      group: this.group, name: name === NODES ? graph : `${graph}-${name}`, label,
      open: opens ? (nodes) => this.showOnly(nodes) : undefined,
      changed: (how) => this.owner.changed({ sort: table.sorting, families: sorted(how.open) }),
      chooses: () => this.owner.state().only !== "selected",
    }, this.asked());
    this.made.set(box, { name, table });
    this.order();
  }

  /** Have the table shown be in the order that the state says, with these families open. */
  order() {
    const { sort, families } = this.owner.state();
    const { shown } = this;
    if (!shown || (shown.sorting === sort && sorted(shown.how.open).join() === families.join())) return;
    shown.change({ ...shown.orderOf(sort), open: new Set(families) });
  }

  /** How rows are narrowed, and which families are open. @returns {Pick<How, "search"|"only"|"open">} */
  asked() {
    return { ...this.how, open: new Set(this.owner.state().families) };
  }

  /** Show these nodes one by one, and no others. @param {number[]} nodes */
  showOnly(nodes) {
    this.group.filter(nodes);
    this.owner.view(NODES);
  }

  /** Say in a table's place why it is not there. @param {string} box @param {Error} error */
  refuse(box, { message }) {
    byId(box).replaceChildren(element("p", { class: "gv-empty gv-table-message", role: "alert" },
      `The table could not be loaded: ${message}`));
  }

  // -- what is said of it ---------------------------------------------------------------

  /** The nodes left, in the order in which the table has them. */
  ordered() {
    const { shown } = this;
    if (shown?.content.order) return shown.content.order(shown.how);
    return shown && this.owner.state().table === NODES ? shown.rows : this.left;
  }

  /** How many nodes are left, and what those selected take together. */
  count() {
    this.search.count();
    const { selected } = this.group;
    const foot = document.getElementById("table-sums");
    if (foot && this.nodes) foot.textContent = footOf(this.nodes, this.known(selected), this.left);
  }

  /** Selection, hover or filter changed. @param {{selected: boolean, filtered: boolean}} what */
  hear({ selected: isSelected, filtered }) {
    const { selected } = this.group;
    if (filtered || (isSelected && this.owner.state().only === "selected")) this.narrow();
    const isOwn = this.owner.touched() === boxOf(this.owner.state().table);
    if (isSelected && selected.length && !isOwn) this.shown?.show(selected[0]);
    if (isSelected) this.count();
    this.shown?.mark();
  }

  /** Forget the tables but one: others have other columns, or other nodes. @param {Table|null} [kept] */
  clear(kept = null) {
    for (const [box, { table }] of this.made) {
      if (table === kept) continue;
      table.destroy();
      this.made.delete(box);
    }
  }

  close() {
    this.closed = true;
    this.clear();
  }
}

/** So many nodes take some ten ms to read, and to narrow down. */
const MANY = 10_000;

/** @param {Set<number>} open */
const sorted = (open) => Array.from(open).sort((a, b) => a - b);

/** What the foot says: of the nodes selected, or of all that are left. @param {Nodes} nodes @param {number[]} selected @param {number[]} left */
function footOf(nodes, selected, left) {
  if (!selected.length) return sums.wordsOf(counted(left.length, "node"), sums.sumsOf(nodes, left));
  const of = `${integer(selected.length)} of ${counted(nodes.ids.length, "node")} selected`;
  return sums.wordsOf(of, sums.sumsOf(nodes, selected));
}
