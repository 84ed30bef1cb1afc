/** A store of two graphs as one in a saved file: what is there of both was written with it. */
import { make } from "../core/parts.js";
import { Listed } from "../table/listed.js";
import { Nodes } from "../table/nodes.js";
import * as blobs from "./blobs.js";
import { changeSums } from "./change_sums.js";
import { aboutSide } from "./compared_side.js";
import { EmbeddedStore, sourceOf } from "./embedded.js";
/** @import { Side } from "../overlay/overlays.js" */
/** @import { Narrowed, Rows } from "../table/table.js" */
/** @import { Store } from "../page/store.js" */
/** @import { SavedGraph } from "./embedded.js" */

/** @typedef {SavedGraph & {sides: Record<string, number>}} ComparedGraph  with where the breakdowns of both sides are: gviz.app.html_file.comparison_data */

/** @implements {Store} */
export class SavedComparison extends EmbeddedStore {
  get compared() {
    return /** @type {ComparedGraph} */ (this.graph);
  }

  /** The places of nodes in order of their numbers, as facts are written. @type {Map<number, number>|null} */
  order = null;

  /** @override @param {string} name @param {Nodes} _nodes @param {Narrowed} how @returns {Promise<Rows>} */
  async rows(name, _nodes, how) {
    return new Listed(await blobs.members(`table-${this.graph.id}-${name}`), how);
  }

  /** @override */
  overlays() {
    return this.tables.map(sourceOf);
  }

  /** @param {Side} side */
  async about(side) {
    const { id, sides: { [side]: breakdown } } = this.compared;
    const [both, own, parts] = await Promise.all(
      [this.nodes(), blobs.members(`side-${id}-${side}`), blobs.payload(`${id}/${breakdown}`)]);
    return aboutSide(side, both, new Nodes(own), parts);
  }

  /** @override @returns {string[]} */
  launches() {
    return [];
  }

  /** @override @param {Nodes} nodes @param {number} id */
  async one(nodes, id) {
    this.order ??= new Map(nodes.ids.toSorted((one, other) => one - other).map((node, at) => [node, at]));
    const place = this.order.get(id) ?? 0, { id: graph, nodes_a_blob: each } = this.graph;
    const written = await blobs.json(`facts-${graph}-${Math.floor(place / each)}`);
    return make(written.parts, written.nodes[place % each]);
  }

  /** @override @param {Nodes} nodes @param {number[]} ids */
  several(nodes, ids) {
    return changeSums(nodes, ids);
  }
}
