/** The folds of a level, and what is visible while some are open. Python side: gviz.layout.folds.fold, gviz.layout.folds.folded_graph. */
import { bisectLeft } from "../place/order.js";
/** @import { Edges } from "../place/cover.js" */
/** @import { Ints } from "../place/order.js" */

/**
 * @typedef {{order: Uint32Array, start: Uint32Array, size: Uint32Array, children: number[][], roots: number[],
 *   rest: Map<number, number>, ids: string[], count: number}} FoldTree  nodes of the level in an order in which each fold is
 *   contiguous; of a fold its place in that and those inside; `rest`: what is left of a repeat without its first block, not among the `count` of them
 * @typedef {{node: Int32Array, fold: Int32Array, itemOf: Uint32Array, edges: Edges, group: Int32Array, open: OpenFold[]}} Visible
 *   one an item: the node or the fold that it is, -1: the other; of each node its item; the edges between items, and to which each edge of
 *   the level belongs (-1: inside an item); `open` folds with the id to close them by, outer before inner
 */

/** @typedef {{id: string, fold: number, whole: number}} OpenFold  the id to close it by, and the repeat of which it is the first block; -1: it is no such */

/** Beside ids of open folds: of each outermost repeat the first block is open, the others are one fold. */
export const FIRST_BLOCKS = "first";

/** The folds that are open, and the outermost that are not. @param {FoldTree} tree @param {Set<string>} open */
function walk({ order, size, roots, children, rest, ids }, open) {
  /** @type {OpenFold[]} */ const opened = [];
  /** @type {number[]} */ const closed = [];
  // One box alone would show nothing.
  const isAlone = roots.length === 1 && size[roots[0]] === order.length, firstBlocks = isAlone || open.has(FIRST_BLOCKS);
  const waiting = roots.map((fold) => ({ fold, isOutermost: true })).reverse();
  for (let one = waiting.pop(); one; one = waiting.pop()) {
    const { fold, isOutermost } = one, others = rest.get(fold);
    let inner = children[fold];
    if (open.has(ids[fold])) {
      opened.push({ id: ids[fold], fold, whole: -1 });
      // One block alone is no step of its own.
      if (inner.length === 1 && size[inner[0]] === size[fold]) inner = children[inner[0]];
    } else if (isOutermost && others !== undefined && firstBlocks) {
      opened.push({ id: FIRST_BLOCKS, fold: inner[0], whole: fold });
      inner = [...children[inner[0]], others];
    } else {
      closed.push(fold);
      continue;
    }
    for (let k = inner.length - 1; k >= 0; k--) waiting.push({ fold: inner[k], isOutermost: false });
  }
  return { opened, closed };
}

/** What is visible while the given folds are open and all others closed. @param {FoldTree} tree @param {Edges} graph @param {Set<string>} open @returns {Visible} */
export function visible(tree, graph, open) {
  const { order, start, size } = tree, { opened, closed } = walk(tree, open);
  const owner = new Int32Array(graph.count).fill(-1);
  closed.forEach((fold) => owner.fill(fold, start[fold], start[fold] + size[fold]));
  /** @type {number[]} */ const node = [];
  /** @type {number[]} */ const folds = [];
  const itemOf = new Uint32Array(graph.count);
  for (let k = 0; k < graph.count; k++) {
    if (!k || owner[k] < 0 || owner[k] !== owner[k - 1]) {
      node.push(owner[k] < 0 ? order[k] : -1);
      folds.push(owner[k]);
    }
    itemOf[order[k]] = node.length - 1;
  }
  return {
    node: Int32Array.from(node), fold: Int32Array.from(folds), itemOf, open: opened,
    ...joinEdges(graph, itemOf, node.length),
  };
}

/** One edge for all between the same two items, by their indices. @param {Edges} graph @param {Uint32Array} itemOf @param {number} count */
function joinEdges({ from, to }, itemOf, count) {
  const width = count + 1;
  const keys = Float64Array.from(from, (a, e) => itemOf[a] * width + itemOf[to[e]]);
  const isInside = (/** @type {number} */ key) => Math.floor(key / width) === key % width;
  const joined = keys.filter((key) => !isInside(key)).sort().filter((key, k, all) => !k || key !== all[k - 1]);
  return {
    edges: { count, from: Uint32Array.from(joined, (key) => Math.floor(key / width)), to: Uint32Array.from(joined, (key) => key % width) },
    group: Int32Array.from(keys, (key) => (isInside(key) ? -1 : bisectLeft(joined, key))),
  };
}

/** A level of which nothing is folded. @param {Edges} graph @returns {Visible} */
export function allNodes(graph) {
  return {
    node: Int32Array.from({ length: graph.count }, (_, n) => n), fold: new Int32Array(graph.count).fill(-1),
    itemOf: Uint32Array.from({ length: graph.count }, (_, n) => n), edges: graph, open: [],
    group: Int32Array.from(graph.from, (_, e) => e),
  };
}

/**
 * The tree of folds that stand one before the other as gviz.layout walks them, repeats without their first block last.
 * @param {Uint32Array} order @param {Uint32Array} start @param {Uint32Array} size @param {Int32Array} parent
 * @param {Int32Array} restOf @param {string[]} ids
 * @returns {FoldTree}
 */
export function readTree(order, start, size, parent, restOf, ids) {
  /** @type {number[][]} */ const children = ids.map(() => []);
  /** @type {number[]} */ const roots = [];
  /** @type {Map<number, number>} */ const rest = new Map();
  ids.forEach((_, fold) => {
    if (restOf[fold] >= 0) rest.set(restOf[fold], fold);
    else if (parent[fold] < 0) roots.push(fold);
    else children[parent[fold]].push(fold);
  });
  for (const [whole, others] of rest) children[others] = children[whole].slice(1);
  return { order, start, size, children, roots, rest, ids, count: ids.length - rest.size };
}

/** Each edge's type among joined ones: programmatic only where all of them are. @param {Ints|Uint8Array} types @param {Visible} seen */
export function joinTypes(types, { edges, group }) {
  const found = new Uint8Array(edges.from.length).fill(255);
  group.forEach((at, e) => { if (at >= 0) found[at] = Math.min(found[at], types[e]); });
  return found;
}
