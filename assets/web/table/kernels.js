/**
 * The table by kernel name: groups of the rows of nodes. Python side: gviz.app.views.table.kernel_table.
 */
import { compare } from "./nodes.js";
/**
 * @typedef {{key: number, name: string, label: string, kernel: string, slot: number, median_ns: number|null,
 *   launch_ns: number|null, share: number|null}} Named  a node, as far as its name's row needs it
 * @typedef {ReturnType<typeof group>[number] & Record<string, any>} KernelRow
 */

/** @param {number[]} sorted */
function median(sorted) {
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * One row a name. Times are null where no node of the name was timed.
 * @param {Named[]} rows of the table of nodes
 */
export function group(rows) {
  /** @type {Map<string, Named[]>} */
  const names = new Map();
  for (const row of rows) {
    const members = names.get(row.name);
    if (members) members.push(row);
    else names.set(row.name, [row]);
  }
  return Array.from(names, ([name, members]) => {
    // Work inside a node counts for the nested nodes.
    const timed = members.filter((row) => row.median_ns !== null);
    const times = members.map((row) => row.median_ns).filter((ns) => ns !== null).sort((a, b) => a - b);
    const shares = members.map((row) => row.share).filter((share) => share !== null);
    /** @param {number[]} values */
    const add = (values) => values.reduce((a, b) => a + b, 0);
    return {
      // Never the name of something that every object has, such as "constructor".
      id: `name ${name}`,
      name,
      label: members[0].label,
      slot: members[0].slot,
      kernel: wordsOf(new Set(members.map((row) => row.kernel))),
      nodes: members.map((row) => row.key),
      count: members.length,
      total_ns: times.length ? add(timed.map((row) => row.launch_ns ?? 0)) : null,
      share: shares.length ? add(shares) : null,
      median_ns: times.length ? median(times) : null,
      min_ns: times.length ? times[0] : null,
      max_ns: times.length ? times[times.length - 1] : null,
    };
  });
}

/**
 * The whole name, or how many kernels share the short one.
 * @param {Set<string>} kernels
 */
function wordsOf(kernels) {
  const [first] = kernels;
  return kernels.size === 1 ? first : `${kernels.size} kernels of this short name, such as ${first}`;
}

/** Rows by kernel name, as the table shows them. */
export class Kernels {
  /** @param {Named[]} nodes those that the table of nodes shows */
  constructor(nodes) {
    this.rows = group(nodes);
  }

  /** @param {number} place @returns {KernelRow} */
  row(place) {
    return this.rows[place];
  }

  /** The nodes that a row is about. @param {number} place */
  nodesOf(place) {
    return this.rows[place].nodes;
  }

  /** The places of the rows, in order. @param {{by: string, falling: boolean}} how */
  arrange({ by, falling }) {
    /** @type {KernelRow[]} */
    const rows = this.rows;
    return rows.map((_, place) => place).sort((a, b) => compare(rows[a][by], rows[b][by], falling));
  }
}
