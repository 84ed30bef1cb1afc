/** The visible part of a tree: the level shown, and the bodies that are open in it. Python side: gviz.app.views.dag.visible_levels. */
import { coverGraph } from "../place/cover.js";
import { allNodes, readTree, visible } from "./tree.js";
/** @import { Payload } from "../../core/payload.js" */
/** @import { Cover, Edges } from "../place/cover.js" */
/** @import { Parent } from "../place/nested.js" */
/** @import { Memory, Range } from "./carried.js" */
/** @import { FoldTree, Visible } from "./tree.js" */

/**
 * @typedef {{first: number, end: number, parent: number, iterations: number|null, edges: Range, critical: Range,
 *   folds: Record<string, Range>, memory: Memory, shown?: Record<string, any>, edges_known?: boolean}} Level  nodes of the tree, the node that holds it (-1), iterations a run of the level around (null: not known),
 *   and the parts of arrays that are its; of two graphs what a header has of it and whether its edges are recorded
 * @typedef {{at: number, level: Level, graph: Edges, seen: Visible, cover: Cover, first: number, parent: Parent, prefix: string}} OpenLevel
 *   which level, its own edges, what is visible of it, the number of its first item among those of all, (visible level, item) that it is in
 */

/** The id of a node whose bodies are open. @param {number} key its number on the page */
export const openId = (key) => `n${key}`;

/** A DAG with all that is in it: gviz.app.views.dag_source, or two as one: gviz.app.pages.compare.whole_union. */
export class WholeDag {
  /** @param {Payload} arrays */
  constructor(arrays) {
    this.arrays = arrays;
    this.header = arrays.header;
    /** @type {Level[]} */ this.levels = arrays.header.levels;
    /** @type {Map<string, FoldTree>} */ this.trees = new Map();
    /** Nodes with bodies, and their places among those. @type {Map<number, number>} */
    this.parents = new Map(Array.from(arrays.parent_node, (node, place) => [node, place]));
  }

  /**
   * A launch whose times there are, and how its arrays are named; null: there is none.
   * @param {number|null} id null: the first
   * @returns {{prefix: string, ordinal: number}|null}
   */
  launch(id) {
    const at = id === null ? 0 : this.header.launches.findIndex((/** @type {[number, number]} */ [own]) => own === id);
    const found = this.header.launches[at];
    return found ? { prefix: `ran${at}_`, ordinal: found[1] } : null;
  }

  /** The edges of a level. @param {number} at @returns {Edges} */
  graph(at) {
    const { first, end, edges: [from, to] } = this.levels[at];
    return { count: end - first, from: this.arrays.edge_from.subarray(from, to), to: this.arrays.edge_to.subarray(from, to) };
  }

  /** The folds of a level. @param {number} at @param {string} folding */
  tree(at, folding) {
    const key = `${folding} ${at}`;
    const known = this.trees.get(key);
    if (known) return known;
    const { first, end, folds: { [folding]: [from, to] } } = this.levels[at];
    /** @param {string} name */
    const part = (name) => this.arrays[`${folding}_${name}`].subarray(from, to);
    const ids = Array.from(part("id"), (/** @type {number} */ place) => this.header.strings[place]);
    const order = this.arrays[`${folding}_order`].subarray(first, end);
    const tree = readTree(order, part("start"), part("size"), part("parent"), part("rest_of"), ids);
    this.trees.set(key, tree);
    return tree;
  }

  /**
   * The visible levels; a body comes after the level it is in.
   * @param {string|null} folding @param {string[]} open ids of open folds and nodes @param {number} outermost the level that is shown
   * @returns {OpenLevel[]}
   */
  open(folding, open, outermost) {
    const wanted = new Set(open), found = [this.see(outermost, folding, wanted, 0, null)];
    for (let number = 0; number < found.length; number++) { // it grows meanwhile
      const { level, seen } = found[number];
      for (let node = level.first; node < level.end; node++) {
        const place = this.parents.get(node);
        if (place === undefined || !wanted.has(openId(this.arrays.node_id[node]))) continue;
        const item = seen.itemOf[node - level.first];
        if (seen.node[item] !== node - level.first) continue; // a closed fold holds it
        for (const at of this.bodies(place)) {
          const last = found[found.length - 1];
          found.push(this.see(at, folding, wanted, last.first + last.seen.node.length, [number, item]));
        }
      }
    }
    return found;
  }

  /** The levels in a node. @param {number} place of it among those with bodies */
  bodies(place) {
    const { body_parent: parent, body_level: level } = this.arrays;
    return Array.from(level).filter((_, k) => parent[k] === place);
  }

  /** @param {number} at @param {string|null} folding @param {Set<string>} wanted @param {number} first @param {Parent} parent @returns {OpenLevel} */
  see(at, folding, wanted, first, parent) {
    const level = this.levels[at], graph = this.graph(at), prefix = at ? `${at}.` : "";
    if (folding === null) {
      const { row, chain } = this.arrays;
      const cover = { row: row.subarray(level.first, level.end), chain: chain.subarray(level.first, level.end) };
      return { at, level, graph, seen: allNodes(graph), cover, first, parent, prefix };
    }
    const own = Array.from(wanted).filter((id) => id.startsWith(prefix)).map((id) => id.slice(prefix.length));
    const seen = visible(this.tree(at, folding), graph, new Set(own));
    return { at, level, graph, seen, cover: coverGraph(seen.edges), first, parent, prefix };
  }
}
