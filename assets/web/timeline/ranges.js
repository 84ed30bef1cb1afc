/**
 * The two ranges a reader sets on the timeline: one that is measured, and one whose nodes become
 * the filter of table and graph (the brush). Times are ns on the timeline's axis.
 *
 * @typedef {{from: number, to: number|null, side: string}} Measure  in times of a side; `to` null: the second mark is not set yet
 * @typedef {{from: number, to: number, side: string, nodes: number|null}} Brush
 *   `nodes` null: not counted yet
 * @typedef {{from: number, to: number, side: string}} Asked  a brush, as an address has it
 */
import { AXIS, GUTTER, toX } from "../core/axis.js";
import * as canvas from "../core/canvas.js";
import * as format from "../core/format.js";
import { hitAt } from "./hits.js";
import { TimelineScene } from "./scene.js";
/** @import { Pen, Size } from "../core/canvas.js" */
/** @import { TimeStyle } from "./draw.js" */
/** @import { Timeline } from "./timeline.js" */

/** Parts of a ns that a brush keeps: as many as an address has. */
const PARTS = 1000;
/** A mark nearer than this (CSS pixels) to an end of a span goes there. */
const SNAP = 5;

/** @param {number} ns */
const rounded = (ns) => Math.round(ns * PARTS) / PARTS;

/**
 * Nodes with a span of the brushed side that overlaps the brush.
 * @param {Brush} brush @param {TimelineScene} scene
 */
function nodesOf({ from, to, side: name }, scene) {
  const side = scene.side(name);
  const found = new Set();
  for (let i = 0; side && i < side.count; i++) {
    if (side.start[i] < to && side.start[i] + side.duration[i] > from) found.add(side.nodeId[i]);
  }
  found.delete(0xffffffff);
  return Array.from(found);
}

export class Ranges {
  /** @param {Timeline} view */
  constructor(view) {
    this.view = view;
    /** What a plain drag sets: "measure", "brush" or null. @type {string|null} */
    this.tool = null;
    /** @type {Measure|null} */ this.measure = null;
    /** @type {Brush|null} */ this.brush = null;
    /** @type {{kind: string, from: number, side: string}|null} */ this.dragged = null;
    /** The filter that the brush set; null: none yet. @type {number[]|null} */ this.set = null;
    this.isSetting = false;
  }

  /** Begin anew with other spans. @param {Asked|null} brush that is requested; null: none */
  begin(brush) {
    this.measure = null;
    this.dragged = null;
    this.at(brush);
  }

  /** Brush a part of the time that is requested; null: none. @param {Asked|null} asked */
  at(asked) {
    const { brush } = this;
    if (asked && brush && asked.from === brush.from && asked.to === brush.to && asked.side === brush.side) return;
    this.brush = asked && this.view.scene.side(asked.side) ? { ...asked, nodes: null } : null;
    if (this.brush) this.publish();
    else if (brush) this.view.frame.group.filter(null);
  }

  // -- drags ------------------------------------------------------------------------

  /**
   * "drag" when this press may become a range; a click stays a click.
   * @param {number} x @param {number} y @param {MouseEvent} event
   * @returns {boolean|"drag"}
   */
  grab(x, y, event) {
    const kind = event.altKey ? "brush" : event.shiftKey ? "measure" : this.tool;
    if (!kind || x < GUTTER) return false;
    const side = this.sideAt(y);
    if (side === undefined) return false;
    const from = this.snapped(x, y, side);
    this.dragged = { kind, from, side };
    return "drag";
  }

  /** @param {number} x @param {number} y */
  drag(x, y) {
    if (!this.dragged) return;
    const { kind, from, side } = this.dragged;
    const to = this.snapped(x, y, side);
    if (kind === "measure") this.measure = { from, to, side };
    else {
      const brush = { from: rounded(Math.min(from, to)), to: rounded(Math.max(from, to)), side, nodes: null };
      // Of a part of the spans only the server knows.
      const isWhole = !this.view.detail.base;
      this.brush = { ...brush, nodes: isWhole ? nodesOf(brush, this.view.scene).length : null };
    }
    this.view.frame.redraw();
  }

  drop() {
    const { dragged } = this;
    this.dragged = null;
    if (!dragged) return;
    if (dragged.kind === "brush") this.publish();
    else this.notify();
  }

  /**
   * The time of a side at a point, or the end of a span near it.
   * @param {number} x @param {number} y @param {string} name of the side
   */
  snapped(x, y, name) {
    const { view } = this;
    const ns = Math.max(0, view.nsAt(x, name));
    const hit = hitAt(view, x, y);
    if (!hit || hit.i === undefined || hit.side.name !== name) return ns;
    const { side, i } = hit;
    const ends = [side.start[i], side.start[i] + side.duration[i]];
    const near = ends.filter((end) => Math.abs(end - ns) * view.transform.k * view.scene.scaleOf(name) <= SNAP);
    return near.sort((a, b) => Math.abs(a - ns) - Math.abs(b - ns))[0] ?? ns;
  }

  /**
   * The side drawn at a height, or else the first.
   * @param {number} y
   */
  sideAt(y) {
    const row = this.view.rows.findLast((r) => r.y <= y && this.view.scene.side(r.side));
    return row ? row.side : this.view.scene.sides[0]?.name;
  }

  /** The start of the span under the pointer, else of the hovered or selected node, and of which side; else null. */
  pointedStart() {
    const stood = this.view.walk.thing();
    if (stood) return { ns: stood.start, side: stood.hit.side.name };
    const { pointed } = this.view;
    if (pointed) return { ns: pointed.side.start[pointed.i], side: pointed.side.name };
    const { hovered, selected } = this.view.frame.group;
    for (const id of hovered === null ? selected : [hovered, ...selected]) {
      const side = this.view.find(id);
      if (side) return { ns: side.start[side.itemsOf(id)[0]], side: side.name };
    }
    return null;
  }

  // -- the brush --------------------------------------------------------------------

  /**
   * All spans of the interval, in the launches in view; null after a failure, which is shown.
   * @param {{from: number, to: number}} given
   */
  async fetchScene({ from, to }) {
    const [first, last] = this.view.detail.rows();
    const query = new URLSearchParams({ from: `${from}`, to: `${to}`, width: "20000", rows: `${first}-${last}` });
    try {
      return new TimelineScene(await this.view.detail.fetch(query));
    } catch (error) {
      this.view.frame.remark(`The nodes could not be loaded: ${/** @type {Error} */ (error).message}. Drag again to try again.`);
      return null;
    }
  }

  /** Have the brush be the filter. */
  async publish() {
    const { brush } = this;
    if (!brush) return;
    const scene = this.view.detail.base ? await this.fetchScene(brush) : this.view.scene;
    if (!scene || this.brush !== brush) return;
    const ids = nodesOf(brush, scene);
    brush.nodes = ids.length;
    this.view.frame.redraw();
    const { from, to, side } = brush;
    this.isSetting = true;
    this.view.frame.group.filter(ids);
    this.isSetting = false;
    this.set = this.view.frame.group.filtered;
    this.view.frame.notify({ brush: { from, to, side } });
    const { duration, counted } = format;
    const what = ids.length === 1 ? "runs" : "run";
    this.view.frame.remark(
      `${counted(ids.length, "node")} ${what} between ${duration(from)} and ${duration(to)}. Escape shows all.`
    );
  }

  /**
   * The filter was taken away somewhere else on the page, or became another one.
   * @param {number[]|null} filtered
   */
  hear(filtered) {
    if (this.isSetting || filtered === this.set) return;
    const { frame } = this.view;
    this.set = null;
    // One that is on its way comes over it.
    if (this.dragged || this.brush?.nodes === null) return;
    if (this.brush) frame.remark("");
    this.brush = null;
    if (frame.props.brush) frame.notify({ brush: null });
  }

  // -- keys -------------------------------------------------------------------------

  /**
   * m sets a mark at a node's start, b brushes what is measured.
   * @param {KeyboardEvent} event
   */
  key(event) {
    if (event.key === "m") return this.mark();
    const { measure } = this;
    if (event.key !== "b" || !measure || measure.to === null) return false;
    const [from, to] = [measure.from, measure.to].sort((a, b) => a - b);
    this.brush = { from: rounded(from), to: rounded(to), side: measure.side, nodes: null };
    this.publish();
    return true;
  }

  mark() {
    const start = this.pointedStart();
    if (start === null) {
      this.view.frame.remark("Select or point at a node: m measures from its start.");
      return true;
    }
    const { measure } = this;
    if (measure && measure.to === null && measure.side === start.side) this.measure = { ...measure, to: start.ns };
    else this.measure = { from: start.ns, to: null, side: start.side };
    this.notify();
    this.view.frame.redraw();
    return true;
  }

  notify() {
    if (!this.measure) return;
    const { from, to } = this.measure;
    const { duration } = format;
    this.view.frame.remark(
      to === null
        ? `First mark at ${duration(from)}. Press m at another node.`
        : `${duration(Math.abs(to - from))} between ${duration(from)} and ${duration(to)}. b: only the nodes between.`
    );
  }

  /** Take away the measure, or else the brush; false when there is neither. */
  escape() {
    if (!this.measure && !this.brush) return false;
    if (this.measure) this.measure = null;
    else this.view.frame.group.filter(null);
    this.view.frame.remark("");
    this.view.frame.redraw();
    return true;
  }

  // -- drawing ----------------------------------------------------------------------

  /** @param {Pen} ctx @param {TimeStyle} style @param {Size} size */
  drawBrush(ctx, style, size) {
    if (!this.brush) return;
    const { from, to, side, nodes } = this.brush;
    const rows = this.view.rows.filter((row) => row.side === side && row.kind !== "head");
    if (!rows.length) return;
    const top = rows[0].y - 2;
    const last = rows[rows.length - 1];
    const height = last.y + last.h + 2 - top;
    const t = this.view.scene.transformOf(side, style.transform);
    const x0 = Math.max(GUTTER, toX(t, from));
    const x1 = Math.min(size.width, toX(t, to));
    ctx.fillStyle = style.theme.veil;
    ctx.fillRect(GUTTER, top, Math.max(0, x0 - GUTTER), height);
    ctx.fillRect(x1, top, Math.max(0, size.width - x1), height);
    ctx.strokeStyle = style.theme.accent;
    ctx.lineWidth = 1.5;
    const { duration, counted } = format;
    const text = nodes === null ? duration(to - from) : counted(nodes, "node");
    ctx.strokeRect(x0, top, Math.max(1, x1 - x0), height);
    label(ctx, style, size, (x0 + x1) / 2, top + 9, text);
  }

  /** @param {Pen} ctx @param {TimeStyle} style @param {Size} size */
  drawMeasure(ctx, style, size) {
    if (!this.measure) return;
    const { from, to, side } = this.measure;
    const t = this.view.scene.transformOf(side, style.transform);
    const x0 = toX(t, from);
    const x1 = toX(t, to ?? from);
    const y = AXIS - 1;
    ctx.strokeStyle = style.theme.ink;
    ctx.lineWidth = 1.25;
    ctx.beginPath();
    for (const x of [x0, x1]) {
      ctx.moveTo(x, y - 5);
      ctx.lineTo(x, size.height);
    }
    ctx.moveTo(x0, y);
    ctx.lineTo(x1, y);
    ctx.stroke();
    const text = to === null ? "m: second mark" : format.duration(Math.abs(to - from));
    label(ctx, style, size, (x0 + x1) / 2, y - 13, text);
  }
}

/**
 * A text in a box, centred at x but inside the view.
 * @param {Pen} ctx @param {TimeStyle} style @param {Size} size @param {number} x @param {number} y
 * @param {string} text
 */
function label(ctx, style, size, x, y, text) {
  const w = canvas.textWidth(ctx, text, 11, 600) + 12;
  const left = Math.max(GUTTER, Math.min(size.width - w - 2, x - w / 2));
  ctx.beginPath();
  canvas.roundRect(ctx, left, y - 9, w, 18, 5);
  ctx.fillStyle = style.theme.panel;
  ctx.fill();
  ctx.strokeStyle = style.theme.line;
  ctx.lineWidth = 1;
  ctx.stroke();
  ctx.font = canvas.font(11, 600);
  ctx.fillStyle = style.theme.ink;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.fillText(text, left + 6, y + 0.5);
}
