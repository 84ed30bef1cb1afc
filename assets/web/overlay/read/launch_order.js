/**
 * Rows of ncu, which are in the order of launches: the n-th launch of a kernel is its n-th node, where each process
 * launched it as often as the graph has nodes of it, or so many times as often. Else rows are about all these nodes.
 */
/** @import { Target } from "./targets.js" */

/** What rows about one node were found by. */
const HOW = "launch order";

/** @typedef {{nodes: Target[], launches: Map<string, {id: string, count: number}>}} Kernel  its nodes one by one; by
 *   process the number of the last launch, and how many there were */

export class LaunchOrder {
  /** @param {{id: number, process: number}} at the places of columns: the number of a launch, and its process */
  constructor(at) {
    this.at = at;
    /** By the nodes of a name together. @type {Map<Target, Kernel>} */ this.kernels = new Map();
  }

  /** The node that a row is about, if its kernel's launches turn out to be those of its nodes. @param {Target} target @param {string[]} cells */
  nodeOf(target, cells) {
    const kernel = this.kernels.get(target) ?? { nodes: target.places.map(nodeAt), launches: new Map() };
    this.kernels.set(target, kernel);
    const [id, process] = [cells[this.at.id], cells[this.at.process]];
    const last = kernel.launches.get(process) ?? { id: "", count: 0 };
    kernel.launches.set(process, last);
    // In tables with a row a value a launch has several, one after the other.
    if (last.id !== id || !last.count) Object.assign(last, { id, count: last.count + 1 });
    return kernel.nodes[(last.count - 1) % kernel.nodes.length];
  }

  /** The nodes that rows are about together after all, each with those of its kernel. @returns {Iterable<[Target, Target]>} */
  * others() {
    for (const [target, { nodes, launches }] of this.kernels) {
      const isEach = Array.from(launches.values()).every(({ count }) => count % nodes.length === 0);
      if (!isEach) for (const node of nodes) yield [node, target];
    }
  }
}

/** @param {number} place @returns {Target} */
const nodeAt = (place) => ({ places: [place], how: HOW, isShared: false });
