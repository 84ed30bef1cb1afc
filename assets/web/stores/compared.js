/** A store of two graphs as one, whose server compares them. */
import * as payloads from "../core/payload.js";
import { Listed } from "../table/listed.js";
import { Nodes } from "../table/nodes.js";
import { changeSums } from "./change_sums.js";
import { aboutSide } from "./compared_side.js";
import { FetchedStore } from "./fetched.js";
/** @import { Side } from "../overlay/overlays.js" */
/** @import { Narrowed, Rows } from "../table/table.js" */
/** @import { Store } from "../page/store.js" */

/** @implements {Store} */
export class ComparedStore extends FetchedStore {
  /** Tables by name, as they were asked for. @type {Map<string, Promise<any>>} */
  tables = new Map();

  /** The columns of a table, fetched once. @param {string} name @returns {Promise<Record<string, any[]>>} */
  table(name) {
    const known = this.tables.get(name) ?? payloads.loadMembers(`${this.graph.sources.table}&rows=${name}`);
    this.tables.set(name, known);
    return known;
  }

  /** @override */
  async readNodes() {
    return new Nodes(await this.table("nodes"));
  }

  /** @override @param {string} name @param {Nodes} _nodes @param {Narrowed} how @returns {Promise<Rows>} */
  async rows(name, _nodes, how) {
    return new Listed(await this.table(name), how);
  }

  /** @param {Side} side */
  async about(side) {
    const { table, breakdown } = this.graph.sources.sides[side];
    const [both, own, parts] = await Promise.all(
      [this.nodes(), payloads.loadMembers(table), payloads.load(breakdown)]);
    return aboutSide(side, both, new Nodes(own), parts);
  }

  /** @override @param {number[]} ids */
  async inspect(ids) {
    const nodes = ids.length > 1 ? await this.nodes() : null;
    const known = nodes ? ids.filter((id) => nodes.has(id)) : ids;
    return nodes && known.length > 1 ? changeSums(nodes, known) : super.inspect(known);
  }
}
