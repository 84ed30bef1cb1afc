/** The buffers of a selection: which are drawn, which is followed, which edge is pointed at. */
import * as dagBuffers from "./draw/buffers.js";
import * as dagData from "./draw/data_edges.js";
import { edgeAt } from "./draw/edge_at.js";
import * as legends from "./draw/legend.js";
import * as dagTime from "./draw/time.js";
/** @import { Pen, Size } from "../core/canvas.js" */
/** @import { Dag } from "./dag.js" */
/** @import { Style } from "./draw/plane.js" */
/** @import { DagScene } from "./scene/scene.js" */
/** @import { Buffer } from "./scene/uses.js" */

/** Buffers of a selection that are drawn; the strip says how many more there are. */
const MOST = 8;

export class DagBuffers {
  /** @param {Dag} view */
  constructor(view) {
    this.view = view;
    /** @type {Buffer[]} */ this.drawn = [];
    /** @type {Buffer[]} */ this.all = [];
    this.key = "";
    /** The edge pointed at, -1: none. */ this.hovered = -1;
    /** Of the view: nothing is used before {@link load}. @type {DagScene} */
    this.scene = /** @type {any} */ (null);
  }

  /** @param {DagScene} scene */
  load(scene) {
    this.key = "";
    this.hovered = -1;
    this.scene = scene;
  }

  /** The text where there is nothing to follow. */
  get remark() {
    const { uses } = this.scene;
    return uses && !uses.node.length ? "No address of any node's memory is recorded." : "";
  }

  /** The address that is followed, as the page's address names it; null: the selection's. */
  get followed() {
    return this.view.frame.props.buffer || null;
  }

  /** The buffers of what is selected now, also before it is painted: keys do not wait for it. */
  current() {
    return this.of(this.view.selectedItems());
  }

  /**
   * The buffers to draw for a selection of items.
   * @param {number[]} selected
   */
  of(selected) {
    const { scene } = this;
    if (!scene.uses) return (this.drawn = []);
    const key = `${this.followed} ${selected.join(",")}`;
    if (key !== this.key) {
      this.key = key;
      this.all = scene.uses.buffersOf(selected);
      this.drawn = this.all.slice(0, MOST);
      const followed = scene.uses.find(this.followed);
      if (followed) {
        const own = this.all.find((buffer) => buffer.text === followed.text);
        this.drawn = [own ? { ...followed, letter: own.letter } : followed];
      }
      this.drawn.forEach((buffer, at) => (buffer.colour = at));
    }
    return this.drawn;
  }

  /**
   * What is marked for a selection: the edge pointed at, buffers, and the items that are given them.
   * @param {number[]} selected items
   */
  marks(selected) {
    const buffers = this.of(selected);
    const users = Array.from(new Set(buffers.flatMap((buffer) => buffer.items)));
    return { selected, edge: this.hovered, buffers, users };
  }

  /**
   * What lines and letters mean.
   * @param {Pen} ctx @param {Style} style @param {Size} size
   */
  drawLegend(ctx, style, size) {
    if (!this.scene.uses) return;
    legends.drawEdges(ctx, style, size);
    const bottom = size.height - (this.scene.along ? dagTime.AXIS : 0);
    dagBuffers.drawStrip(ctx, this.scene, this, style, size, bottom);
  }

  /**
   * Follow the next or the previous buffer of the selection; after the last all of them.
   * @param {boolean} forward
   */
  step(forward) {
    if (!this.scene.uses) return false;
    this.current();
    if (!this.all.length) return false;
    const texts = [null, ...this.all.map((buffer) => buffer.text)];
    const at = Math.max(0, texts.indexOf(this.followed));
    const next = (at + (forward ? 1 : texts.length - 1)) % texts.length;
    this.follow(texts[next]);
    return true;
  }

  /** @param {string|null} text */
  follow(text) {
    this.view.frame.notify({ buffer: text });
    this.view.frame.redraw();
  }

  /** Point at an edge, if nothing else is there; whether one is. @param {number} x @param {number} y */
  hover(x, y) {
    const { view, scene } = this;
    if (!scene.uses) return false;
    const { ctx, size } = view.frame;
    const far = view.drawn.level === "far";
    this.point(far ? -1 : edgeAt(ctx, scene, view.style(ctx, size), size, x, y));
    if (this.hovered < 0) return false;
    view.frame.tooltip.show(dagData.describe(scene, this.hovered), x, y);
    return true;
  }

  /** Point at no edge. */
  leave() {
    if (this.scene.uses) this.point(-1);
  }

  /** @param {number} e */
  point(e) {
    if (e !== this.hovered) this.view.frame.redraw();
    this.hovered = e;
  }

  state() {
    const { scene } = this;
    if (!scene.uses) return null;
    /** @param {number[]} items */
    const ids = (items) => items.map((i) => scene.nodeId[i]);
    return {
      edges: dagData.countsOf(scene),
      hovered: this.hovered,
      followed: this.followed,
      labels: this.view.drawn.labels || 0,
      buffers: this.current().map(({ letter, text, items, links }) => ({
        letter, text, nodes: ids(items), links: links.map(ids),
      })),
    };
  }
}
