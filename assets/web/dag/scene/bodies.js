/**
 * Bodies of nodes in a scene: those of closed nodes in words, those of open ones as frames.
 * Python side: gviz.app.views.dag.body_facts, gviz.app.views.dag.visible_levels.
 *
 * @typedef {{label: string, words: string, open: number}} Body  open: -1 while it is closed
 * @typedef {{item: number, words: string, launches: number, p5: number, p95: number,
 * bodies: Body[]}} Parent
 * @typedef {{left: number, top: number, right: number, bottom: number}} Box  in the plane
 * @typedef {{item: number, parent: Parent, boxes: Box[]}} NodeFrame  a box for each body
 * @typedef {number[]|Int32Array} Items
 */
/** @import { Payload } from "../../core/payload.js" */
/** @import { DagScene } from "./scene.js" */

/** Height of the strip of an open node, in the plane; gviz.layout.nested leaves room for it. */
export const HEAD = 30;

/** @param {Payload} payload @returns {Map<number, Parent>} by item */
function listParents(payload) {
  const { strings } = payload.header;
  const found = Array.from(payload.parent_item || [], (/** @type {number} */ item, n) => ({
    item,
    words: strings[payload.parent_words[n]],
    launches: payload.parent_launches[n],
    p5: payload.parent_p5_ns[n],
    p95: payload.parent_p95_ns[n],
    bodies: /** @type {Body[]} */ ([]),
  }));
  (payload.body_parent || []).forEach((/** @type {number} */ n, /** @type {number} */ at) => {
    found[n].bodies.push({
      label: strings[payload.body_label[at]],
      words: strings[payload.body_words[at]],
      open: payload.body_open[at],
    });
  });
  return new Map(found.map((parent) => [parent.item, parent]));
}

export class Bodies {
  /** @param {Payload} payload of a DAG */
  constructor(payload) {
    this.parents = listParents(payload);
    /**
     * The open node around each item, -1: none; null where nothing is open.
     * @type {Int32Array|null}
     */
    this.within = payload.within || null;
    /** @type {NodeFrame[]} the outer ones first: items of a body come after their parent node */
    this.frames = [];
    for (const parent of this.parents.values()) {
      const open = parent.bodies.filter((body) => body.open >= 0);
      if (!open.length) continue;
      const boxes = open.map(({ open: n }) => ({
        left: payload.body_left[n], top: payload.body_top[n],
        right: payload.body_right[n], bottom: payload.body_bottom[n],
      }));
      this.frames.push({ item: parent.item, parent, boxes });
    }
    this.frames.sort((a, b) => a.item - b.item);
    this.depths = Int32Array.from(this.within || []);
    // An item's parent comes before it.
    this.depths.forEach((around, i) => (this.depths[i] = around < 0 ? 0 : this.depths[around] + 1));
    this.byItem = new Map(this.frames.map((frame) => [frame.item, frame]));
  }

  /** @param {number} i */
  isOpen(i) {
    return this.byItem.has(i);
  }

  /**
   * The open node around an item, -1: none.
   * @param {number} i
   */
  around(i) {
    return this.within ? this.within[i] : -1;
  }

  /**
   * How many open nodes are around an item.
   * @param {number} i
   */
  depthOf(i) {
    return this.within ? this.depths[i] : 0;
  }

  /**
   * Frames and edges in the order in which they are drawn: what leads past a frame runs behind it.
   * @param {DagScene} scene @param {number[]} edges of a scene
   * @returns {{frames: NodeFrame[], edges: number[]}[]}
   */
  layers(scene, edges) {
    if (!this.frames.length) return [{ frames: [], edges }];
    /** @type {{frames: NodeFrame[], edges: number[]}[]} */
    const found = [];
    /** @param {number} depth */
    const at = (depth) => (found[depth] = found[depth] || { frames: [], edges: [] });
    for (const frame of this.frames) at(this.depthOf(frame.item) + 1).frames.push(frame);
    for (const e of edges) at(this.depthOf(scene.from[e])).edges.push(e);
    return found.filter(Boolean);
  }

  /**
   * The items in the bodies of an open node, at any depth.
   * @param {number} item
   */
  inside(item) {
    /** @type {number[]} */
    const found = [];
    const open = new Set([item]);
    // A body's items come after their parent node.
    for (let i = item + 1; open.size && this.within && i < this.within.length; i++) {
      if (!open.has(this.within[i])) continue;
      found.push(i);
      if (this.isOpen(i)) open.add(i);
    }
    return found;
  }

  /**
   * The open ones among items.
   * @param {number[]} items
   */
  opened(items) {
    return this.frames.length ? Array.from(items).filter((i) => this.isOpen(i)) : [];
  }

  /**
   * Items without the open ones, which are frames and not drawn as nodes.
   * @param {Items} items
   * @returns {Items}
   */
  closed(items) {
    return this.frames.length ? Array.from(items).filter((i) => !this.isOpen(i)) : items;
  }
}

/**
 * The open node whose strip is under a point of the plane, -1: none.
 * @param {DagScene} scene @param {number} x @param {number} y @param {number} slackX
 */
export function pick(scene, x, y, slackX) {
  const { frames } = scene.bodies;
  for (let n = frames.length - 1; n >= 0; n--) {
    const { left, right, top } = scene.boxOf(frames[n].item);
    if (x >= left - slackX && x <= right + slackX && y >= top && y <= top + HEAD) {
      return frames[n].item;
    }
  }
  return -1;
}
