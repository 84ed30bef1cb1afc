/** The DAG view: transform and gestures. Keys are in dag/keys.js, drawing in dag/draw/draw.js, data in dag/scene/scene.js. */
import * as canvas from "../core/canvas.js";
import * as firstPaint from "../core/first_paint.js";
import * as format from "../core/format.js";
import { DagBuffers } from "./buffers.js";
import * as changes from "./changes.js";
import * as dagData from "./draw/data_edges.js";
import * as dagDraw from "./draw/draw.js";
import * as dagFilter from "./draw/filter.js";
import * as legends from "./draw/legend.js";
import { Minimap } from "./draw/minimap.js";
import { viewOf } from "./draw/plane.js";
import * as dagSections from "./draw/sections.js";
import * as dagUnion from "./draw/union.js";
import { FIT_MARGIN, FIT_ZOOM, fit, legendSpace } from "./fit.js";
import { DagKeys } from "./keys.js";
import { Opener } from "./open.js";
import { HEAD } from "./scene/bodies.js";
import { DagScene } from "./scene/scene.js";
import * as dagTips from "./tips.js";
import * as dagWalk from "./walk.js";
import * as dagWords from "./words.js";
/** @import { Pen, Size } from "../core/canvas.js" */
/** @import { Frame } from "../core/frame.js" */
/** @import { Payload } from "../core/payload.js" */
/** @import { Transform } from "./draw/plane.js" */

const MOST_ZOOM = 2.5;
/** Showing a node zooms in to at least this, so that its name can be read. */
const READ_ZOOM = 0.7;
/** A node of this height on screen (CSS pixels) is seen without zooming in. */
const SEEN = 5;

/** Along time: a node is wide enough to be read, and a nanosecond never wider than this. */
const READ_WIDTH = 120;
const MOST_TIME_ZOOM = 2;
const EDGES_UNKNOWN = "Dependencies unknown: nodes stand in the order of their ids.";

/**
 * Whether two scenes place one graph in the same layout.
 * @param {DagScene} a @param {DagScene} b
 */
function sameAxes(a, b) {
  return a.header.graph_id === b.header.graph_id && a.header.layout === b.header.layout;
}

/**
 * Whether two scenes place one graph in the same way.
 * @param {DagScene} a @param {DagScene} b
 */
function samePlace(a, b) {
  const sameTimes = !b.along || a.header.launch_ordinal === b.header.launch_ordinal;
  return sameAxes(a, b) && a.count === b.count && sameTimes;
}

export class Dag {
  /** @param {Frame} frame */
  constructor(frame) {
    this.frame = frame;
    // Along time the two axes have scales of their own: kx and k.
    this.transform = { k: 1, kx: 1, x: 0, y: 0 };
    this.stop = () => {};
    /** Whether everything is shown, whatever the size. */ this.fitted = false;
    /** @type {ReturnType<typeof dagDraw.draw>} */
    this.drawn = { level: "", visible: 0 };
    /** Of the payload: nothing is used before {@link load} but by gestures, which look. @type {DagScene} */
    this.scene = /** @type {any} */ (null);
    /** @type {Minimap} */ this.minimap = /** @type {any} */ (null);
    /** What legend and minimap cover of the graph. @type {{x: number, y: number, w: number, h: number}[]} */ this.covered = [];
    /** @type {{scene: DagScene, selected: number[], items: number[]}|null} */ this.marked = null;
    this.keys = new DagKeys(this);
    this.opener = new Opener(this);
    this.buffers = new DagBuffers(this);
    // Where folds can be chosen; without edges there are none.
    this.tools = document.getElementById("folding")
      ? [{ text: "Fold", title: "Fold repeats, or draw every node (h)", toggle: () => this.opener.toggleFolds() }] : [];
  }

  /** The tool that is on. */
  tool() {
    return this.opener.isFolded ? "Fold" : undefined;
  }

  /** @param {Payload} payload */
  caption(payload) {
    const { graph_name: name } = payload.header;
    const nodes = format.counted(payload.x.length, "node");
    const edges = format.counted(payload.edge_from.length, "edge");
    return `DAG of ${name}: ${nodes}, ${edges}.`;
  }

  /** @param {Payload} payload */
  label(payload) {
    const keys = "Arrow keys follow dependencies, n goes to the next node, question mark lists the keys.";
    return `${this.caption(payload)} ${keys}`;
  }

  /**
   * The selection, and the meaning of the colours, as sentences.
   * @param {number[]} ids
   */
  words(ids) {
    return dagWords.selection(this, ids);
  }

  /** Whether it shows two graphs as one. */
  isUnion() {
    return dagUnion.isUnion(this.scene);
  }

  /** Its folds, as addresses name them. @returns {{name: string, nodes: ArrayLike<number>}[]} */
  folds() {
    const { scene } = this;
    if (!scene?.fold) return [];
    const items = Array.from({ length: scene.count }, (_, i) => i).filter((i) => scene.isFold(i));
    return items.map((i) => ({ name: `fold:${scene.foldOf(i)}`, nodes: scene.nodesOf(i) }));
  }

  legend() {
    const lines = this.scene.uses ? dagData.legend() : "";
    const union = this.isUnion() ? dagUnion.sentence(this.scene.header.change) : "";
    return dagWords.legend(this.overlay()) + lines + union;
  }

  /** @param {Payload} payload */
  load(payload) {
    const before = this.scene;
    this.scene = new DagScene(payload);
    this.minimap = new Minimap(this.scene);
    this.buffers.load(this.scene);
    // Reset from what stood there before.
    this.frame.tooltip.show(null);
    // What was opened in place stays in place, unless everything is shown anyway.
    const settled = before && this.opener.settle(this.scene, this.transform);
    if (settled && !this.fitted && sameAxes(before, this.scene)) this.place(settled);
    // The same picture of another launch stays where it was.
    else if (!before || !samePlace(before, this.scene)) this.fit(false);
    const { layout_note: note, path_note: contradicted, edges_known: known } = payload.header;
    const remarks = [
      note ? `${note}.` : "",
      contradicted ? `No critical path and no slack: ${contradicted}.` : "",
      known ? "" : EDGES_UNKNOWN,
      this.buffers.remark,
    ];
    this.frame.remark(remarks.join(" ").trim());
    if (!this.scene.count) this.frame.say("This graph has no nodes.");
    const { scene } = this;
    firstPaint.painted().then(() => {
      if (scene === this.scene) scene.finish();
    });
  }

  /** @param {Pen} ctx @param {Size} size */
  style(ctx, size) {
    const { theme } = this.frame;
    const overlay = this.overlay();
    const pattern = canvas.hatch(ctx, theme, size.ratio);
    return { transform: this.transform, theme, overlay, pattern };
  }

  /** What a first picture needs, in parts. @param {Pen} ctx @param {Size} size */
  *stages(ctx, size) {
    if (this.fitted) this.place(this.fitTransform());
    yield () => this.overlay();
    yield* dagDraw.stages(ctx, this.scene, this.style(ctx, size), size);
  }

  /** What nodes are coloured by. */
  overlay() {
    const { colour, laid } = this.frame.props;
    return this.scene.overlay(colour, laid);
  }

  /** @param {Pen} ctx @param {Size} size */
  draw(ctx, size) {
    if (this.fitted) this.place(this.fitTransform());
    const { group } = this.frame;
    const style = this.style(ctx, size);
    const hovered = group.hovered === null ? -1 : (this.scene.index.get(group.hovered) ?? -1);
    const marks = { ...this.buffers.marks(this.selectedItems()), hovered };
    this.drawn = dagDraw.draw(ctx, this.scene, style, marks, size);
    dagFilter.veil(ctx, this.scene, group.kept, this.transform, size);
    const legend = legends.draw(ctx, style, size, this.scene.header.change);
    this.buffers.drawLegend(ctx, style, size);
    this.minimap.draw(ctx, style, viewOf(this.transform, size), size);
    this.covered = [legend, this.minimap.box].filter((box) => box !== null);
  }

  /** The items of the selection; the same array while neither it nor the scene changes. */
  selectedItems() {
    const { scene } = this;
    const { shown: selected } = this.frame.group;
    const { marked } = this;
    if (marked?.scene === scene && marked.selected === selected) return marked.items;
    const items = dagWords.itemsOf(scene, selected);
    this.marked = { scene, selected, items };
    return items;
  }

  // -- transform --------------------------------------------------------------------

  /** @param {Transform} transform */
  place(transform) {
    this.transform = transform;
  }

  /** @param {{k: number, kx: number, x: number, y: number}} to */
  glide(to) {
    this.stop();
    this.fitted = false;
    const from = this.transform;
    this.stop = canvas.animate(220, (t) => {
      // Scale and shift are eased together so that the motion follows one line.
      /** @param {number} a @param {number} b */
      const ease = (a, b) => {
        const scale = a * (b / a) ** t;
        return [scale, a === b ? t : (scale - a) / (b - a)];
      };
      const [k, f] = ease(from.k, to.k);
      const [kx, fx] = ease(from.kx, to.kx);
      this.place({ k, kx, x: from.x + fx * (to.x - from.x), y: from.y + f * (to.y - from.y) });
      this.frame.redraw();
    });
  }

  fitTransform() {
    return fit(this.scene, this.frame.size);
  }

  /** @param {boolean} smooth */
  fit(smooth) {
    if (smooth) this.glide(this.fitTransform());
    else {
      this.place(this.fitTransform());
      // Follows the box until the first gesture: it may still be growing.
      this.fitted = true;
    }
    this.frame.redraw();
  }

  least() {
    return Math.min(this.fitTransform().k * 0.5, 1);
  }

  /**
   * The scale across after zooming by a factor.
   * @param {number} factor
   */
  scaled(factor) {
    const { k, kx } = this.transform;
    if (this.scene.along) {
      return Math.max(this.fitTransform().kx * 0.5, Math.min(MOST_TIME_ZOOM, kx * factor));
    }
    return Math.max(this.least(), Math.min(MOST_ZOOM, k * factor));
  }

  /** @param {number} x @param {number} y @param {number} factor */
  zoom(x, y, factor) {
    if (!this.scene) return;
    this.stop();
    this.fitted = false;
    const t = this.transform;
    const kx = this.scaled(factor);
    const f = kx / t.kx;
    const flat = this.scene.along;
    this.place({
      k: flat ? t.k : kx,
      kx,
      x: x - (x - t.x) * f,
      y: flat ? t.y : y - (y - t.y) * f,
    });
    this.frame.redraw();
  }

  /** @param {number} factor */
  zoomBy(factor) {
    this.zoom(this.frame.size.width / 2, this.frame.size.height / 2, factor);
  }

  /** @param {number} dx @param {number} dy */
  pan(dx, dy) {
    if (!this.scene) return;
    this.stop();
    this.fitted = false;
    const { k, kx, x, y } = this.transform;
    this.place({ k, kx, x: x + dx, y: y + dy });
    this.frame.redraw();
  }

  /**
   * The transform that centres a point of the plane at a scale (along time: the one across).
   * @param {number} x @param {number} y @param {number} scale
   */
  centre(x, y, scale) {
    const { width, height } = this.frame.size;
    const k = this.scene.along ? this.transform.k : scale;
    return { k, kx: scale, x: width / 2 - x * scale, y: height / 2 - y * k };
  }

  /**
   * The scale at which a node can be read.
   * @param {number} i
   */
  readable(i) {
    if (!this.scene.along) return Math.max(READ_ZOOM, this.transform.k);
    const enough = READ_WIDTH / Math.max(1, 2 * this.scene.halfWidthOf(i));
    return Math.max(this.transform.kx, Math.min(MOST_TIME_ZOOM, enough));
  }

  /**
   * Bring nodes into view: one near enough to read it, several as they are or from farther away.
   * @param {number[]} ids
   */
  show(ids) {
    if (ids.length > 1) return this.showAll(dagWords.itemsOf(this.scene, ids));
    const i = this.scene.index.get(ids[0]);
    if (i === undefined) return;
    // What can be seen already stays where it is: a view that jumps loses its reader.
    if (this.onScreen(i) && this.sizeOf(i) >= SEEN) return this.frame.redraw();
    this.glide(this.centre(this.scene.x[i], this.scene.y[i], this.readable(i)));
  }

  /** @param {number[]} items */
  showAll(items) {
    if (!items.length) return;
    const { k, kx, x, y } = this.transform;
    const { width, height } = this.frame.size;
    const { left, right, top, bottom } = dagWalk.boundsOf(this.scene, items);
    const isSeen = left * kx + x >= 0 && right * kx + x <= width && top * k + y >= 0 && bottom * k + y <= height;
    if (isSeen) return this.frame.redraw();
    const across = (width - 2 * FIT_MARGIN) / Math.max(1, right - left);
    const down = (height - legendSpace(this.scene) - 2 * FIT_MARGIN) / Math.max(1, bottom - top);
    const scale = Math.min(kx, across, this.scene.along ? Infinity : down);
    this.glide(this.centre((left + right) / 2, (top + bottom) / 2, Math.max(this.fitTransform().kx, scale)));
  }

  /**
   * The smaller side of a node on screen.
   * @param {number} i
   */
  sizeOf(i) {
    const { k, kx } = this.transform;
    return Math.min(2 * this.scene.halfHeightOf(i) * k, 2 * this.scene.halfWidthOf(i) * kx);
  }

  /**
   * Where the middle of a node is on the canvas: of its first bar, of an open one of its name.
   * @param {number} i
   */
  spotOf(i) {
    const { k, kx, x, y } = this.transform;
    const { left, right, top, bottom } = this.scene.boxesOf(i)[0];
    const middle = this.scene.bodies.isOpen(i) ? top + HEAD / 2 : (top + bottom) / 2;
    return { x: ((left + right) / 2) * kx + x, y: middle * k + y };
  }

  /** @param {number} i */
  onScreen(i) {
    const { width, height } = this.frame.size;
    const { x: sx, y: sy } = this.spotOf(i);
    return sx > 8 && sy > 8 && sx < width - 8 && sy < height - 8;
  }

  // -- gestures ---------------------------------------------------------------------

  /** @param {number} x @param {number} y */
  nodeAt(x, y) {
    const { k, kx, x: tx, y: ty } = this.transform;
    return this.scene.pick((x - tx) / kx, (y - ty) / k, 4 / kx, 4 / k);
  }

  /** @param {number} x @param {number} y */
  grab(x, y) {
    const spot = this.scene && this.minimap.toPlane(x, y);
    if (spot) this.drag(x, y);
    return !!spot;
  }

  /** @param {number} x @param {number} y */
  drag(x, y) {
    const spot = this.minimap.toPlane(x, y);
    if (!spot) return;
    this.stop();
    this.fitted = false;
    this.place(this.centre(spot.x, spot.y, this.transform.kx));
    this.frame.redraw();
  }

  /** The nodes of what is at a place: an item, or the head of a section; null: nothing. @param {number} x @param {number} y */
  nodesAt(x, y) {
    const { scene } = this;
    const i = this.nodeAt(x, y);
    const items = i < 0 ? dagSections.headAt(scene.sections, this.transform, x, y)?.items : [i];
    return items ? items.flatMap((item) => Array.from(scene.nodesOf(item))) : null;
  }

  /** @param {number} x @param {number} y @param {MouseEvent} event */
  click(x, y, event) {
    if (!this.scene) return;
    this.frame.pick(this.nodesAt(x, y), event);
  }

  /** @param {number} x @param {number} y */
  double(x, y) {
    if (!this.scene || this.minimap.toPlane(x, y)) return;
    const i = this.nodeAt(x, y);
    if (i >= 0 && this.opener.toggle(i)) return;
    if (i < 0 || this.transform.kx >= this.readable(i)) this.fit(true);
    else this.glide(this.centre(this.scene.x[i], this.scene.y[i], this.readable(i)));
  }

  /** @param {number|null} x @param {number|null} y */
  hover(x, y) {
    if (!this.scene) return;
    const outside = x === null || y === null || !!this.minimap.toPlane(x, y);
    const i = outside ? -1 : this.nodeAt(x, y);
    this.frame.group.hover(i < 0 ? null : this.scene.nodeId[i]);
    if (i < 0 && !outside) {
      if (this.buffers.hover(x, y)) return;
    } else this.buffers.leave();
    this.frame.tooltip.show(i < 0 ? null : dagTips.describe(this.scene, i, this.frame.props.laid && this.overlay()), x ?? 0, y ?? 0);
  }

  escape() {
    const followed = this.buffers.followed !== null;
    if (followed) this.buffers.follow(null);
    return followed;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    return this.keys.key(event);
  }

  /** Zoom so that the selection fills the view; without one show everything. */
  fitSelection() {
    const { scene, frame } = this;
    const nodes = frame.group.selected.map((id) => scene.index.get(id) ?? -1);
    const known = nodes.filter((i) => i >= 0);
    if (!known.length) return this.fit(true);
    const box = dagWalk.boundsOf(scene, known);
    const { width, height } = frame.size;
    const across = (width - 2 * FIT_MARGIN) / Math.max(1, box.right - box.left);
    const down = (height - legendSpace(scene) - 2 * FIT_MARGIN) / (box.bottom - box.top);
    const least = this.fitTransform().kx;
    const scale = scene.along
      ? Math.min(MOST_TIME_ZOOM, across)
      : Math.min(FIT_ZOOM, across, down);
    const { left, right, top, bottom } = box;
    this.glide(this.centre((left + right) / 2, (top + bottom) / 2, Math.max(least, scale)));
  }

  /**
   * Pan just enough that a node is on screen.
   * @param {number} i
   */
  reveal(i) {
    const { k, kx, x, y } = this.transform;
    const { width, height } = this.frame.size;
    const margin = 60;
    const { x: sx, y: sy } = this.spotOf(i);
    const dx = Math.max(0, margin - sx) + Math.min(0, width - margin - sx);
    const dy = Math.max(0, margin - sy) + Math.min(0, height - margin - sy);
    if (dx || dy) this.glide({ k, kx, x: x + dx, y: y + dy });
  }

  // -- for tests --------------------------------------------------------------------

  /** @param {number} id */
  locate(id) {
    const i = this.scene.index.get(id);
    if (i === undefined) return null;
    return this.spotOf(i);
  }

  state() {
    return {
      layout: this.scene.header.layout,
      overlay: this.overlay().name,
      changes: changes.state(this.scene, this.overlay()),
      union: dagUnion.state(this.scene, this.overlay()),
      criticalCount: this.scene.critical.length,
      frames: this.scene.bodies.frames.map(({ item, boxes }) => ({
        node: this.scene.nodeId[item], bodies: boxes.length, nodes: this.scene.bodies.inside(item)
          .map((i) => this.scene.nodeId[i]),
      })),
      foldCount: Array.from(this.scene.fold || []).filter((fold) => fold >= 0).length,
      open: (this.frame.props.open || []).slice(),
      sections: this.scene.sections.map(({ name, repeat }) => ({ name, repeat: repeat?.name, block: repeat?.block, blocks: repeat?.times.length ?? 0 })),
      nodeCount: this.scene.count,
      edgeCount: this.scene.edgeCount,
      transform: { ...this.transform },
      ...this.drawn,
      minimap: this.minimap.at,
      covered: this.covered,
      data: this.buffers.state(),
    };
  }
}

