/**
 * Folds and bodies opened and closed in place: what was touched stays where it is on screen.
 *
 * @typedef {{node: number, x: number, y: number}} Anchor  a node, and where its upper edge is
 */
/** @import { Dag } from "./dag.js" */
/** @import { DagScene } from "./scene/scene.js" */

export class Opener {
  /** @param {Dag} view */
  constructor(view) {
    this.view = view;
    /** @type {Anchor|null} */ this.anchor = null;
    /** What is folded where folds are asked for: as it was last. */
    this.folding = "repeats";
  }

  get open() {
    return this.view.frame.props.open || [];
  }

  get isFolded() {
    return (this.view.frame.props.fold ?? "none") !== "none";
  }

  /** Fold as before, at first what repeats, or nothing. */
  toggleFolds() {
    const { isFolded } = this;
    if (isFolded) this.folding = this.view.frame.props.fold ?? this.folding;
    this.view.frame.notify({ fold: isFolded ? "none" : this.folding });
  }

  /**
   * Open the closed folds, and the nodes with bodies, among items; false without any.
   * @param {number[]} items
   */
  unfold(items) {
    const { scene } = this.view;
    const closed = items.filter((i) => scene.openId(i) && !scene.bodies.isOpen(i));
    this.notify([...this.open, ...closed.map((i) => scene.openId(i))], closed[0]);
    return closed.length > 0;
  }

  /**
   * Close the open nodes among items, and around each other one what is innermost.
   * @param {number[]} items
   */
  refold(items) {
    const { scene } = this.view;
    /** @param {number} i */
    const isOpen = (i) => scene.bodies.isOpen(i);
    const named = items.map((i) => (isOpen(i) ? scene.openId(i) : scene.openAround(i)));
    const ids = new Set(named.filter(Boolean));
    this.notify(this.open.filter((id) => !ids.has(id)), items[0]);
    return ids.size > 0;
  }

  /**
   * Open or close an item; false where there is nothing to open.
   * @param {number} i
   */
  toggle(i) {
    if (this.view.scene.bodies.isOpen(i)) return this.refold([i]);
    return this.unfold([i]);
  }

  /** @param {(string|null)[]} ids @param {number} item */
  notify(ids, item) {
    const open = Array.from(new Set(ids)).filter((id) => id !== null);
    if (open.length === this.open.length) return;
    this.anchor = this.anchorAt(item);
    this.view.frame.request({ open });
  }

  /** @param {number} item */
  anchorAt(item) {
    const { scene, transform: t } = this.view;
    return {
      node: scene.nodesOf(item)[0],
      x: scene.x[item] * t.kx + t.x,
      y: scene.boxOf(item).top * t.k + t.y,
    };
  }

  /**
   * The transform of a new scene in which the anchor is where it was, or null without one.
   * @param {DagScene} scene @param {{k: number, kx: number, x: number}} given
   */
  settle(scene, { k, kx, x }) {
    const { anchor } = this;
    this.anchor = null;
    const item = anchor ? scene.index.get(anchor.node) : undefined;
    if (!anchor || item === undefined) return null;
    const top = scene.boxOf(item).top;
    // Along time everything keeps its place on the axis.
    return { k, kx, x: scene.along ? x : anchor.x - scene.x[item] * kx, y: anchor.y - top * k };
  }
}
