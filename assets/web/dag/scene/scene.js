/**
 * The DAG as arrays: nodes, edges with bounds, adjacency, colours, picking.
 *
 * @typedef {{first: Uint32Array, item: Uint32Array, x: Float32Array, y: Float32Array,
 *   half: Float32Array}} Bars  when items ran: those of item i are first[i] to first[i + 1]
 * @typedef {DagScene & {bars: Bars, grid: Rows}} TimeScene  of the layout along time
 */
import { Pace } from "../../core/pace.js";
import { lay } from "../overlay/laid.js";
import * as overlays from "../overlay/overlay.js";
import { Bodies, pick } from "./bodies.js";
import { Grid } from "./grid.js";
import { Rows } from "./rows.js";
import { sectionsOf } from "./sections.js";
import { DataUses } from "./uses.js";
/** @import { Laid } from "../../core/frame.js" */
/** @import { Payload } from "../../core/payload.js" */
/** @import { Overlay } from "../overlay/overlay.js" */
/** @import { Box } from "./bodies.js" */

/** Overlays that a tooltip shows, beside the times it has anyway. */
const DESCRIBED = ["launch", "slack", "occupancy", "nvtx"];

export class DagScene {
  /** @param {Payload} payload */
  constructor(payload) {
    const h = payload.header;
    this.header = h;
    this.payload = payload;
    /** Along time: x in ns of a launch, nodes as wide as they took. */
    this.along = h.layout === "time";
    /** Of each item where they differ: along time, and with frames around open bodies. */
    /** @type {Float32Array|undefined} */ this.halfWidth = payload.half_width;
    /** @type {Float32Array|undefined} */ this.halfHeight = payload.half_height;
    /** @type {Float32Array} */ this.x = payload.x;
    /** @type {Float32Array} */ this.y = payload.y;
    /** @type {Uint32Array} */ this.nodeId = payload.node_id;
    /** @type {Uint8Array} */ this.type = payload.type;
    /** @type {Uint32Array} */ this.name = payload.name;
    /** @type {Float32Array} */ this.median = payload.median_ns;
    /** @type {Float32Array} */ this.p95 = payload.p95_ns;
    /** @type {Float32Array} */ this.body = payload.body_ns;
    /** @type {Float32Array} */ this.share = payload.share;
    /** @type {Int32Array} */ this.reason = payload.reason;
    /** @type {Uint32Array} */ this.from = payload.edge_from;
    /** @type {Uint32Array} */ this.to = payload.edge_to;
    /** @type {Uint8Array} */ this.edgeType = payload.edge_type;
    /** @type {Uint32Array} */ this.routeOffset = payload.route_offset;
    /** @type {Float32Array} */ this.routeX = payload.route_x;
    /** @type {Float32Array} */ this.routeY = payload.route_y;
    this.count = this.x.length;
    this.edgeCount = this.from.length;
    /** @type {number} */ this.halfW = h.node_width / 2;
    /** @type {number} */ this.halfH = h.node_height / 2;
    /** @type {number} */ this.width = h.width;
    /** @type {number} */ this.height = h.height;
    this.bodies = new Bodies(payload);
    /** Along time: when the items ran, a bar per iteration. @type {Bars|null} */
    this.bars = this.along ? this.listBars() : null;
    /** Folded: an item may be a fold, and stand for many nodes. */
    /** @type {Int32Array|undefined} */ this.fold = payload.fold;
    /** By name, or by what a reader has laid on the graph. @type {Map<string|Laid|undefined, Overlay>} */
    this.overlays = new Map();
    /** Where edges differ by what they carry: the memory that each node is given. */
    this.uses = payload.use_node ? new DataUses(payload, this) : null;
    /** The structural critical path: its nodes in order. */
    /** @type {Uint32Array} */ this.critical = payload.critical;
  }

  // Made on first use: the first picture of a large graph needs none of it.

  get grid() {
    return this.keep({ grid: this.cells() }).grid;
  }

  /** The item of each node. */
  get index() {
    return this.keep({ index: this.listItems() }).index;
  }

  get sections() {
    return this.keep({ sections: sectionsOf(this) }).sections;
  }

  get edgeLeft() {
    return this.keep(this.boundEdges()).edgeLeft;
  }

  get edgeRight() {
    return this.keep(this.boundEdges()).edgeRight;
  }

  get edgeTop() {
    return this.keep(this.boundEdges()).edgeTop;
  }

  get edgeBottom() {
    return this.keep(this.boundEdges()).edgeBottom;
  }

  get outStart() {
    return this.keep(this.joinEdges()).outStart;
  }

  get edgesOut() {
    return this.keep(this.joinEdges()).edgesOut;
  }

  get inStart() {
    return this.keep(this.joinEdges()).inStart;
  }

  get edgesIn() {
    return this.keep(this.joinEdges()).edgesIn;
  }

  /** The edges between the nodes of the critical path. */
  get criticalEdges() {
    return this.keep({ criticalEdges: Array.from(this.payload.critical_edge) }).criticalEdges;
  }

  /**
   * Have values in place of the getters of their names.
   * @template {object} T
   * @param {T} made
   * @returns {T}
   */
  keep(made) {
    for (const [name, value] of Object.entries(made)) Object.defineProperty(this, name, { value });
    return made;
  }

  /** Make what the first picture did without, before somebody zooms or clicks: of many nodes each part takes its turn. */
  async finish() {
    const pace = new Pace();
    const described = this.described.map((name) => () => this.overlay(name));
    for (const make of [() => this.grid, () => this.index, () => this.edgeLeft, () => this.outStart, () => this.criticalEdges, ...described]) {
      make();
      await pace.rest();
    }
  }

  /** The item of each node; of what is inside a closed node, that node. */
  listItems() {
    /** @type {Map<number, number>} */
    const index = new Map();
    if (this.payload.item_offset) {
      for (let i = 0; i < this.count; i++) for (const id of this.nodesOf(i)) index.set(id, i);
    } else this.nodeId.forEach((id, i) => index.set(id, i));
    const { hidden_node: hidden, hidden_item: parent } = this.payload;
    for (let n = 0; hidden && n < hidden.length; n++) index.set(hidden[n], parent[n]);
    return index;
  }

  /** Where which node is. */
  cells() {
    const { bars } = this;
    if (bars) return new Rows(bars.x, bars.half, bars.y, 2 * this.halfH);
    return new Grid(this.x, this.y, this.width, this.height);
  }

  /** Bars by item: those of item i are first[i] to first[i + 1]; most items have one. */
  listBars() {
    const { bar_offset: offset, bar_x: x, bar_y: y, bar_half_width: half } = this.payload;
    const own = Uint32Array.from({ length: this.count + 1 }, (_, i) => i);
    if (!offset) return { first: own, item: own, x: this.x, y: this.y, half: this.halfWidth };
    const item = new Uint32Array(x.length);
    for (let i = 0; i < this.count; i++) item.fill(i, offset[i], offset[i + 1]);
    return { first: offset, item, x, y, half };
  }

  /**
   * Whether the whole plane is in view.
   * @param {Box} view
   */
  isAllIn(view) {
    return view.left <= 0 && view.top <= 0 && view.right >= this.width && view.bottom >= this.height;
  }

  /**
   * What nodes are coloured by; made once a name, or once it is laid on them.
   * @param {string|undefined} name @param {Laid|null} [laid] @returns {Overlay}
   */
  overlay(name, laid = null) {
    const key = laid ?? name;
    const made = this.overlays.get(key) ?? (laid ? lay(laid, this.count, this.index, (i) => this.blocksOf(i)) : overlays.make(this.payload, name));
    this.overlays.set(key, made);
    return made;
  }

  /** What else a tooltip tells of an item: names of overlays. */
  get described() {
    const { overlays: there, launch_requested: requested } = this.header;
    // Times of a launch that nobody chose are of some launch, not of the one over the timeline.
    return DESCRIBED.filter((name) => there[name] && (name !== "launch" || requested));
  }

  /** Make what nodes are coloured by, once it is laid on them. @param {Laid} laid */
  prepare(laid) {
    this.overlay(undefined, laid);
  }

  /**
   * The ids of the nodes that an item stands for.
   * @param {number} i
   */
  nodesOf(i) {
    const { item_offset: offset, item_nodes: nodes } = this.payload;
    return offset ? nodes.subarray(offset[i], offset[i + 1]) : [this.nodeId[i]];
  }

  /** @param {number} i */
  isFold(i) {
    return !!this.fold && this.fold[i] >= 0;
  }

  /**
   * The id of the fold that an item is, and of the open fold around it; null: none.
   * @param {number} i
   */
  foldOf(i) {
    return this.fold && this.isFold(i) ? this.header.strings[this.fold[i]] : null;
  }

  /** @param {number} i */
  openAround(i) {
    const at = this.payload.inside ? this.payload.inside[i] : -1;
    return at < 0 ? null : this.header.strings[at];
  }

  /**
   * The id by which an item is opened: a fold's, or that of a node with bodies; null: none.
   * @param {number} i
   */
  openId(i) {
    if (this.isFold(i)) return this.foldOf(i);
    return this.bodies.parents.has(i) ? `n${this.nodeId[i]}` : null;
  }

  /**
   * The times of the blocks of a repeat, ns; empty for anything else.
   * @param {number} i
   */
  stripOf(i) {
    const { strip_offset: offset, strip_ns: times } = this.payload;
    return offset ? times.subarray(offset[i], offset[i + 1]) : [];
  }

  /** The nodes of each block of a repeat, which are as many; none of anything else. @param {number} i @returns {number[][]} */
  blocksOf(i) {
    const count = this.stripOf(i).length;
    const nodes = Array.from(this.nodesOf(i));
    const each = nodes.length / count;
    return Array.from({ length: count }, (_, n) => nodes.slice(n * each, (n + 1) * each));
  }

  /**
   * The families in a fold: [string, part of its time], the largest first; empty for anything else.
   * @param {number} i
   * @returns {[number, number][]}
   */
  mixOf(i) {
    const { mix_offset: offset, mix_family: families, mix_part: parts } = this.payload;
    if (!offset) return [];
    return Array.from({ length: offset[i + 1] - offset[i] }, (_, n) => [families[offset[i] + n], parts[offset[i] + n]]);
  }

  /**
   * Half the width of a node, in the plane.
   * @param {number} i
   */
  halfWidthOf(i) {
    return this.halfWidth ? this.halfWidth[i] : this.halfW;
  }

  /** @param {number} i */
  halfHeightOf(i) {
    return this.halfHeight ? this.halfHeight[i] : this.halfH;
  }

  /**
   * The rectangle of an item, in the plane.
   * @param {number} i
   */
  boxOf(i) {
    const [w, h] = [this.halfWidthOf(i), this.halfHeightOf(i)];
    return { left: this.x[i] - w, right: this.x[i] + w, top: this.y[i] - h, bottom: this.y[i] + h };
  }

  /**
   * Where an item is drawn, in the plane: along time a rectangle per iteration.
   * @param {number} i
   */
  boxesOf(i) {
    if (!this.bars || this.bodies.isOpen(i)) return [this.boxOf(i)];
    const { first, x, y, half } = this.bars;
    const found = [];
    for (let at = first[i]; at < first[i + 1]; at++) {
      const [top, bottom] = [y[at] - this.halfH, y[at] + this.halfH];
      found.push({ left: x[at] - half[at], right: x[at] + half[at], top, bottom });
    }
    return found;
  }

  /** The rectangle around each edge, in the plane. */
  boundEdges() {
    const n = this.edgeCount;
    const [edgeLeft, edgeRight, edgeTop, edgeBottom] = [0, 0, 0, 0].map(() => new Float32Array(n));
    for (let e = 0; e < n; e++) {
      const a = this.from[e];
      const b = this.to[e];
      let left = Math.min(this.x[a], this.x[b]);
      let right = Math.max(this.x[a], this.x[b]);
      let top = Math.min(this.y[a], this.y[b]);
      let bottom = Math.max(this.y[a], this.y[b]);
      for (let p = this.routeOffset[e]; p < this.routeOffset[e + 1]; p++) {
        left = Math.min(left, this.routeX[p]);
        right = Math.max(right, this.routeX[p]);
        top = Math.min(top, this.routeY[p]);
        bottom = Math.max(bottom, this.routeY[p]);
      }
      edgeLeft[e] = left;
      edgeRight[e] = right;
      edgeTop[e] = top;
      edgeBottom[e] = bottom;
    }
    return { edgeLeft, edgeRight, edgeTop, edgeBottom };
  }

  /** Edges by their ends: edgesOut[outStart[i]..outStart[i + 1]], edgesIn alike. */
  joinEdges() {
    /** @param {Uint32Array} ends */
    const list = (ends) => {
      const start = new Int32Array(this.count + 1);
      for (const node of ends) start[node + 1] += 1;
      for (let i = 0; i < this.count; i++) start[i + 1] += start[i];
      const next = start.slice();
      const edges = new Int32Array(this.edgeCount);
      for (let e = 0; e < this.edgeCount; e++) edges[next[ends[e]]++] = e;
      return [start, edges];
    };
    const [outStart, edgesOut] = list(this.from);
    const [inStart, edgesIn] = list(this.to);
    return { outStart, edgesOut, inStart, edgesIn };
  }

  /** @param {number} i */
  edgesFrom(i) {
    return this.edgesOut.subarray(this.outStart[i], this.outStart[i + 1]);
  }

  /** @param {number} i */
  edgesTo(i) {
    return this.edgesIn.subarray(this.inStart[i], this.inStart[i + 1]);
  }

  /** The label of a node's kernel, or its name. @param {number} i */
  nameOf(i) {
    return this.header.labels[this.name[i]] ?? this.wholeNameOf(i);
  }

  /** @param {number} i */
  wholeNameOf(i) {
    return this.header.strings[this.name[i]];
  }

  /** @param {number} i */
  kindOf(i) {
    return this.header.kinds[this.type[i]] || `type ${this.type[i]}`;
  }

  /** @param {number} i */
  timed(i) {
    return this.median[i] === this.median[i];
  }

  /**
   * The node under a point of the plane, or the open one whose name is; -1 for none. The slacks
   * widen small nodes.
   * @param {number} x @param {number} y @param {number} slackX @param {number} slackY
   */
  pick(x, y, slackX, slackY) {
    const reach = this.along ? slackX : Math.max(this.halfW, slackX);
    const h = Math.max(this.halfH, slackY);
    const { bars } = this;
    let best = -1;
    let near = Infinity;
    this.grid.visit(x - reach, y - h, x + reach, y + h, (at) => {
      const i = bars ? bars.item[at] : at;
      if (this.bodies.isOpen(i)) return;
      const w = Math.max(bars ? bars.half[at] : this.halfWidthOf(i), slackX);
      const dx = Math.abs((bars ? bars.x[at] : this.x[i]) - x);
      const dy = Math.abs((bars ? bars.y[at] : this.y[i]) - y);
      if (dx <= w && dy <= h && dx + dy < near) {
        near = dx + dy;
        best = i;
      }
    });
    return best < 0 ? pick(this, x, y, slackX) : best;
  }
}

/** Whether a scene has its nodes along time. @param {DagScene} scene @returns {scene is TimeScene} */
export function isAlong(scene) {
  return scene.along;
}
