/** Rows and chains of a graph: the start of every layout. Python side: gviz.dag.ranks, gviz.dag.lanes. */
import { neighbours, sortedBy } from "./order.js";
/** @import { Ints } from "./order.js" */

/**
 * @typedef {{count: number, from: Ints, to: Ints}} Edges  nodes and the indices of each edge's ends
 * @typedef {{row: Ints, chain: Ints, breaks?: number[]}} Cover  one a node: edges of the longest path to it; a chain of nodes;
 *   and the rows at which a column of its own begins
 */

/**
 * The rows and chains of a graph without a cycle.
 * @param {Edges} graph
 * @returns {Cover}
 */
export function coverGraph(graph) {
  const row = rankRows(graph);
  return { row, chain: coverChains(row, graph) };
}

/** @param {Edges} graph */
function rankRows({ count, from, to }) {
  const waiting = new Int32Array(count), row = new Int32Array(count), ready = new Uint32Array(count);
  for (let e = 0; e < to.length; e++) waiting[to[e]] += 1;
  const { first, list } = neighbours(count, from, to);
  let length = 0;
  for (let n = 0; n < count; n++) if (!waiting[n]) ready[length++] = n;
  for (let k = 0; k < length; k++) {
    const node = ready[k], below = row[node] + 1;
    for (let at = first[node]; at < first[node + 1]; at++) {
      const next = list[at];
      if (row[next] < below) row[next] = below;
      if (!--waiting[next]) ready[length++] = next;
    }
  }
  if (length !== count) throw new Error("nodes depend on each other in a cycle");
  return row;
}

/** A node continues the longest chain that ends in one of its dependencies, else it starts one. @param {Int32Array} row @param {Edges} graph */
function coverChains(row, { count, from, to }) {
  const { first, list } = neighbours(count, to, from);
  const chain = new Int32Array(count).fill(-1);
  /** @type {number[]} */ const last = [];
  /** @type {number[]} */ const length = [];
  for (const node of sortedBy(row)) {
    let best = -1;
    for (let at = first[node]; at < first[node + 1]; at++) {
      const c = chain[list[at]];
      if (last[c] === list[at] && (best < 0 || length[c] > length[best])) best = c;
    }
    if (best < 0) {
      best = last.length;
      last.push(node);
      length.push(0);
    }
    chain[node] = best;
    last[best] = node;
    length[best] += 1;
  }
  return chain;
}
