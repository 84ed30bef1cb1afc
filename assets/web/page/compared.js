/** A store of two graphs as one, whose server compares them. */
import * as payloads from "../core/payload.js";
import { Listed } from "../table/listed.js";
import { Nodes } from "../table/nodes.js";
import { FetchedStore } from "./fetched.js";
/** @import { How, Rows } from "../table/table.js" */
/** @import { State } from "./address.js" */
/** @import { Store } from "./store.js" */

/** @implements {Store} */
export class ComparedStore extends FetchedStore {
  /** Tables by name, as they were asked for. @type {Map<string, Promise<any>>} */
  tables = new Map();

  /** The columns of a table, fetched once. @param {string} name @returns {Promise<Record<string, any[]>>} */
  table(name) {
    const known = this.tables.get(name) ?? payloads.loadJson(`${this.graph.sources.table}&rows=${name}`);
    this.tables.set(name, known);
    return known;
  }

  /** @override */
  async nodes() {
    return new Nodes(await this.table("nodes"));
  }

  /** @override @param {string} name @param {Nodes} _nodes @param {How} how @returns {Promise<Rows>} */
  async rows(name, _nodes, how) {
    return new Listed(await this.table(name), how);
  }

  /** @override @param {"dag"|"timeline"|"memory"} view @param {State} state @param {string} asked */
  source(view, { level, open }, asked) {
    const { sources } = this.graph;
    if (view !== "dag") return sources[view];
    const query = new URLSearchParams();
    if (asked) query.set("layout", asked);
    if (level !== "0") query.set("level", level);
    if (open.length) query.set("open", open.join(","));
    return query.size ? `${sources.dag}&${query.toString().replaceAll("%2C", ",")}` : sources.dag;
  }
}
