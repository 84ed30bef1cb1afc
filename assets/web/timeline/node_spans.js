/** The intervals of each node of a side. */

const NO_NODE = 0xffffffff;
const NONE = -1;

/** Intervals by node, as lists that are linked by their places: of 100,000 nodes an array each would take much longer. */
export class NodeSpans {
  /**
   * @param {Uint32Array} nodeId  of each interval
   * @param {Uint32Array|undefined} nested  nodes in bodies @param {Uint32Array|undefined} parents  the nodes around these
   */
  constructor(nodeId, nested, parents) {
    /** @type {Map<number, number>} */ this.first = new Map();
    this.next = new Int32Array(nodeId.length).fill(NONE);
    /** What nodes have that hold bodies. @type {Map<number, number[]>} */ this.around = new Map();
    for (let i = nodeId.length - 1; i >= 0; i--) {
      if (nodeId[i] === NO_NODE) continue;
      this.next[i] = this.first.get(nodeId[i]) ?? NONE;
      this.first.set(nodeId[i], i);
    }
    if (nested?.length && parents) this.addAround(nodeId, new Map(Array.from(nested, (id, n) => [id, parents[n]])));
  }

  /** @param {Uint32Array} nodeId @param {Map<number, number>} parents */
  addAround(nodeId, parents) {
    nodeId.forEach((own, i) => {
      for (let id = parents.get(own); id !== undefined; id = parents.get(id)) {
        const items = this.around.get(id);
        if (items) items.push(i);
        else this.around.set(id, [i]);
      }
    });
  }

  /** @param {number} id */
  has(id) {
    return this.first.has(id) || this.around.has(id);
  }

  /** The intervals of a node, in order; undefined where it has none. @param {number} id */
  get(id) {
    if (!this.has(id)) return undefined;
    const found = /** @type {number[]} */ ([]);
    for (let i = this.first.get(id) ?? NONE; i !== NONE; i = this.next[i]) found.push(i);
    return this.around.has(id) ? [...found, .../** @type {number[]} */ (this.around.get(id))].sort((a, b) => a - b) : found;
  }

  /** The nodes that have intervals. */
  keys() {
    return this.around.size ? new Set([...this.first.keys(), ...this.around.keys()]).keys() : this.first.keys();
  }
}
