/** The timeline view: transform, gestures, keys. Zoom and pan move time only. */
import { AXIS, GUTTER, drawAxis } from "../core/axis.js";
import * as canvas from "../core/canvas.js";
import * as firstPaint from "../core/first_paint.js";
import * as sharedTimes from "../core/shared_times.js";
import { Detail } from "./detail.js";
import * as timelineDraw from "./draw.js";
import * as timelineHead from "./head.js";
import { hitAt, idOf } from "./hits.js";
import { Lanes, clipped } from "./lanes/lanes.js";
import { Look } from "./look.js";
import * as timelineMarks from "./marks.js";
import { Ranges } from "./ranges.js";
import * as timelineRows from "./rows.js";
import { TimelineScene } from "./scene.js";
import * as timelineTips from "./tips.js";
import { Tracks } from "./tracks.js";
import * as timelineWaits from "./waits.js";
import { Walk } from "./walk.js";
import * as timelineWords from "./words.js";
/** @import { TimeTransform } from "../core/axis.js" */
/** @import { Group } from "../core/bus.js" */
/** @import { Pen, Size } from "../core/canvas.js" */
/** @import { Frame } from "../core/frame.js" */
/** @import { Payload } from "../core/payload.js" */
/** @import { Times } from "./look.js" */
/** @import { TimeStyle } from "./draw.js" */
/** @import { LaneRows, Row } from "./rows.js" */
/** @import { Side } from "./side.js" */

/** The nearest zoom: this many pixels a nanosecond. */
const MOST_ZOOM = 0.5;
const END_ROOM = 76;
/** What spans can be coloured by; whatever else nodes are, spans have the colour of their duration. */
const SPAN_COLOURS = new Set(["family", "kind"]);

export class Timeline {
  /** @param {Frame} frame */
  constructor(frame) {
    this.frame = frame;
    this.transform = { k: 1, x: 0 };
    this.scroll = 0;
    this.stop = () => {};
    /** Of the payload: nothing is used before {@link load} but by gestures, which look. @type {TimelineScene} */
    this.scene = /** @type {any} */ (null);
    /** As they stand on screen. @type {Row[]} */ this.rows = [];
    /** @type {LaneRows} */ this.laneRows = {};
    /** Whether everything is shown, whatever the size. */ this.fitted = false;
    /** How far the rows can be scrolled. */ this.overflow = 0;
    /** The span under the pointer. @type {{side: Side, i: number}|null} */ this.pointed = null;
    /** Nodes that come with detail. @type {number[]} */ this.awaited = [];
    /** @type {Tracks|null} */ this.tracks = null;
    this.lanes = new Lanes(this);
    this.ranges = new Ranges(this);
    this.detail = new Detail(this);
    this.look = new Look(this);
    this.walk = new Walk(this);
    this.tools = [
      this.makeTool("↔", "measure", "Measure: drag from one point to another (also Shift + drag, or m at two nodes)"),
      this.makeTool("[ ]", "brush", "Brush: drag over an interval to see only its nodes in table and graph (also Alt + drag)"),
    ];
  }

  /** @param {string} text @param {string} name @param {string} title */
  makeTool(text, name, title) {
    const toggle = () => {
      this.ranges.tool = this.ranges.tool === name ? null : name;
    };
    return { text, title, name, toggle };
  }

  tool() {
    return this.tools.find((tool) => tool.name === this.ranges.tool)?.text;
  }

  /** @param {Payload} payload */
  caption(payload) {
    return timelineWords.caption(this.scene, payload);
  }

  /** @param {Payload} payload */
  label(payload) {
    return this.caption(payload);
  }

  /** @param {Payload} payload */
  load(payload) {
    const before = this.scene;
    this.scene = new TimelineScene(payload);
    this.scene.showEager(this.frame.props.eager !== "closed");
    this.detail.reset(payload);
    const { scene } = this;
    firstPaint.painted().then(() => {
      if (scene === this.scene) scene.finish();
    });
    // The same launches of a recording that has grown stay where they were.
    if (before && this.scene.shows(before)) return;
    this.scroll = 0;
    this.ranges.begin(this.frame.props.brush ?? null);
    this.walk.clear();
    this.look.at(this.frame.props.times);
  }

  /** More detail has come. */
  refined() {
    this.frame.redraw();
    const nodes = this.awaited;
    this.awaited = [];
    if (nodes.length) this.show(nodes);
    if (this.look.awaited) this.look.at(this.look.awaited);
  }

  style() {
    const { frame } = this;
    const { colour: chosen = "" } = frame.props;
    const laid = this.scene.coloursOf(frame.props.laid);
    const known = SPAN_COLOURS.has(chosen) || this.scene.changes?.has(chosen);
    const colour = laid ? "laid" : known ? chosen : "duration";
    return { transform: this.transform, theme: frame.theme, colour, laid };
  }

  /** What a side is drawn with. @param {string} name */
  styleOf(name) {
    return { ...this.style(), transform: this.scene.transformOf(name, this.transform) };
  }

  /** Place rows and times. @param {Size} size */
  arrange(size) {
    const { scene } = this;
    scene.showEager(this.frame.props.eager !== "closed");
    if (this.fitted) this.transform = this.fitTransform();
    const { rows, height } = timelineRows.arrange(scene, size.height, this.tracks?.labels);
    this.overflow = Math.max(0, height - size.height);
    this.scroll = Math.max(0, Math.min(this.overflow, this.scroll));
    this.rows = rows.map((row) => ({ ...row, y: row.y - this.scroll }));
    this.laneRows = timelineRows.byLane(this.rows);
  }

  /** What a first picture needs, in parts. @param {Pen} _ctx @param {Size} size */
  *stages(_ctx, size) {
    for (const side of this.scene.sides) yield () => side.prepare();
    this.arrange(size);
    this.lanes.begin();
    for (const side of this.scene.sides) yield* this.lanes.stages(side, this.styleOf(side.name), size);
  }

  /** @param {Pen} ctx @param {Size} size */
  draw(ctx, size) {
    const facts = this.scene.side("graph")?.facts;
    sharedTimes.share(this, facts?.mode === "median" ? sharedTimes.MEDIAN : facts?.launch_id);
    this.arrange(size);
    const style = this.style();
    const { scene } = this;
    this.detail.check();
    const top = AXIS;
    // Down to what has an axis of its own.
    const apart = this.rows.find((row) => row.kind === "head" && scene.isApart(row.side));
    if (scene.sides.length) drawAxis(ctx, style, size, apart ? Math.max(0, apart.y - AXIS) : size.height);
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, top, size.width, size.height - top);
    ctx.clip();
    this.lanes.begin();
    for (const side of scene.sides) this.lanes.drawSide(ctx, side, this.styleOf(side.name), size);
    clipped(ctx, size, () => {
      this.lanes.drawMarks(ctx, style);
      timelineWaits.drawLanes(ctx, scene, this.laneRows, style, size);
    });
    for (const row of this.rows) {
      if (row.kind === "head") timelineHead.drawHead(ctx, scene, row, style, size);
      if (row.kind === "eager") timelineHead.drawEager(ctx, scene, row, style, size);
      if (row.kind === "note") timelineDraw.drawNote(ctx, row, style, size);
    }
    clipped(ctx, size, () => this.ranges.brush && this.ranges.drawBrush(ctx, style, size));
    timelineDraw.drawGutter(ctx, this.rows, style);
    ctx.restore();
    clipped(ctx, size, () => this.ranges.measure && this.ranges.drawMeasure(ctx, style, size));
    if (this.frame.tooltip.pinned) this.walk.draw(ctx, style);
    this.look.tell();
  }

  // -- transform --------------------------------------------------------------------

  room() {
    return Math.max(50, this.frame.size.width - GUTTER);
  }

  /** All of the time, or, of stacked launches, theirs: their jitter is what is looked for. */
  fitTransform() {
    const graph = this.scene.side("graph");
    return this.fitting(graph && graph.stacked ? graph.facts.total_ns : this.scene.total);
  }

  /** @param {number} ns */
  fitting(ns) {
    return { k: Math.max(1e-9, (this.room() - END_ROOM) / Math.max(1, ns)), x: 0 };
  }

  /**
   * Keep zero at the left edge or beyond it, and the end from leaving the view.
   * @param {TimeTransform} given
   */
  bounded({ k, x }) {
    const least = Math.min(0, this.room() * 0.25 - this.scene.total * k);
    return { k, x: Math.min(0, Math.max(least, x)) };
  }

  /** @param {TimeTransform} to */
  glide(to) {
    this.stop();
    this.fitted = false;
    const from = this.transform;
    this.stop = canvas.animate(220, (t) => {
      const k = from.k * (to.k / from.k) ** t;
      const f = Math.abs(to.k - from.k) < 1e-12 ? t : (k - from.k) / (to.k - from.k);
      this.transform = { k, x: from.x + f * (to.x - from.x) };
      this.frame.redraw();
    });
  }

  /** @param {boolean} smooth */
  fit(smooth) {
    if (!this.scene) return;
    this.look.forget();
    if (smooth) this.glide(this.fitTransform());
    else {
      this.transform = this.fitTransform();
      this.fitted = true;
    }
    this.frame.redraw();
  }

  /** @param {number} x @param {number} y @param {number} factor */
  zoom(x, y, factor) {
    if (!this.scene) return;
    this.stop();
    this.look.forget();
    this.fitted = false;
    const t = this.transform;
    const least = this.fitting(this.scene.total).k;
    const k = Math.max(least, Math.min(Math.max(least, MOST_ZOOM), t.k * factor));
    const at = Math.max(0, x - GUTTER);
    this.transform = this.bounded({ k, x: at - (at - t.x) * (k / t.k) });
    this.frame.redraw();
  }

  /**
   * Around what the keyboard stands on, else around the middle.
   * @param {number} factor
   */
  zoomBy(factor) {
    const box = this.walk.box();
    const middle = GUTTER + this.room() / 2;
    this.zoom(box ? Math.min(box.x + box.w / 2, this.frame.size.width) : middle, 0, factor);
  }

  /** Zoom so that the spans of the selection fill the view; without one show everything. */
  fitSelection() {
    const range = this.look.rangeOf(this.frame.group.selected);
    if (!range) return this.fit(true);
    const { from, to } = range;
    const k = Math.max(this.fitting(this.scene.total).k, Math.min(MOST_ZOOM, this.fitting(1.2 * (to - from)).k));
    this.look.forget();
    this.glide(this.look.around(from, to, k));
  }

  /** @param {number} dx @param {number} dy */
  pan(dx, dy) {
    if (!this.scene) return;
    this.stop();
    this.look.forget();
    this.fitted = false;
    this.transform = this.bounded({ k: this.transform.k, x: this.transform.x + dx });
    this.scroll = Math.max(0, Math.min(this.overflow || 0, this.scroll - dy));
    this.frame.redraw();
  }

  /**
   * The first side that shows a node, with the detail there is.
   * @param {number} id
   */
  find(id) {
    const sides = this.scene.sides.map((side) => this.detail.sideWith(side, id));
    return sides.find(Boolean);
  }

  /** Bring nodes into view: of one its first interval. @param {number[]} ids */
  show(ids) {
    const there = ids.filter((id) => this.find(id));
    // Selected nodes arrive with the detail that is requested for them.
    this.awaited = !there.length && this.detail.base ? ids : [];
    if (there.length > 1) this.look.toNodes(there);
    else if (there.length) this.look.toNode(there[0]);
  }

  /**
   * The longest time between nodes in which nothing ran; null: there is none. Before the first node
   * the launch waits for its call: that is no idle time of its own.
   * @param {Side} side
   */
  widestGap(side) {
    const first = side.start.reduce((least, ns) => Math.min(least, ns), Infinity);
    const gaps = this.detail.best(side).idle.filter(([start]) => start >= first);
    return gaps.length ? gaps.reduce((a, b) => (b[1] - b[0] > a[1] - a[0] ? b : a)) : null;
  }

  /** Look at the longest gap of the launch, and measure it. */
  showIdle() {
    const graph = this.scene?.side("graph");
    if (!graph) return;
    const widest = this.widestGap(graph);
    if (!widest) return;
    const [from, to] = widest;
    this.ranges.measure = { from, to, side: graph.name };
    this.look.toGap(from, to);
    this.ranges.notify();
  }

  /** Show the lanes of eager work, or have a line say what it is. */
  toggleEager() {
    this.fitted = this.fitted || this.look.isWhole();
    this.frame.notify({ eager: this.scene.eager ? "open" : "closed" });
    this.frame.redraw();
  }

  /** Show above the lanes which blocks of the breakdown nodes are in. @param {import("./tracks.js").Blocks} blocks */
  track(blocks) {
    this.tracks = new Tracks(blocks);
    this.frame.redraw();
  }

  /** The block that a track has at a place; undefined: none. @param {Row} row @param {number} x */
  blockOfTrack(row, x) {
    const side = this.scene.side(row.side);
    if (!side || x < GUTTER) return undefined;
    return this.tracks?.at(this.detail.best(side), row.lane, this.nsAt(x, side.name))?.block;
  }

  /** Its nodes; null: there is none. @param {Row} row @param {number} x */
  nodesOfTrack(row, x) {
    const block = this.blockOfTrack(row, x);
    return block === undefined ? null : (this.tracks?.blocks.nodesOf(block) ?? null);
  }

  /** Look at an interval of time that is requested. @param {Times|null} times */
  lookAt(times) {
    if (this.scene) this.look.at(times);
  }

  /** Have only the nodes of a part of the time wanted; null: all. @param {Frame["props"]["brush"]} brush */
  brushAt(brush) {
    if (this.scene) this.ranges.at(brush ?? null);
  }

  /** The nearest zoom (pixels a nanosecond). */
  nearest() {
    return MOST_ZOOM;
  }

  // -- gestures ---------------------------------------------------------------------

  /** @param {number} x @param {string} [name] of a side; else on the axis above */
  nsAt(x, name = "") {
    return (x - GUTTER - this.transform.x) / (this.transform.k * this.scene.scaleOf(name));
  }

  /** @param {number} x @param {number} y @param {MouseEvent} event */
  click(x, y, event) {
    const row = this.rows.find((one) => y >= one.y && y <= one.y + one.h);
    if (row?.kind === "eager" || (row && x < GUTTER + 60 && timelineHead.isOpenEager(this.scene, row))) return this.toggleEager();
    if (row?.kind === "track") return this.frame.pick(this.nodesOfTrack(row, x), event);
    this.frame.pick(idOf(hitAt(this, x, y)), event);
  }

  /** @param {number} x @param {number} y */
  double(x, y) {
    const id = idOf(hitAt(this, x, y));
    if (id === null) this.fit(true);
    else this.show([id]);
  }

  /** @param {number|null} x @param {number|null} y */
  hover(x, y) {
    const hit = x === null || y === null ? null : hitAt(this, x, y);
    this.pointed = hit && hit.i !== undefined ? { side: hit.side, i: hit.i } : null;
    this.frame.group.hover(idOf(hit));
    const row = x === null || y === null || hit ? undefined : this.rows.find((one) => y >= one.y && y <= one.y + one.h);
    const block = row?.kind === "track" && x !== null ? this.blockOfTrack(row, x) : undefined;
    if (block !== undefined) return this.frame.tooltip.show(this.tracks?.describe(block) ?? null, x ?? 0, y ?? 0);
    this.frame.tooltip.show(hit ? timelineTips.describe(this.scene, hit, this.frame.props.laid) : null, x ?? 0, y ?? 0);
  }

  /** @param {number} x @param {number} y @param {MouseEvent} event */
  grab(x, y, event) {
    return this.scene ? this.ranges.grab(x, y, event) : false;
  }

  /** @param {number} x @param {number} y */
  drag(x, y) {
    this.ranges.drag(x, y);
  }

  drop() {
    this.ranges.drop();
  }

  escape() {
    return this.ranges.escape();
  }

  /** @param {Group} group */
  hear(group) {
    this.ranges.hear(group.filtered);
    this.walk.hear(group);
    if (!group.selected.length) this.look.back();
    else if (this.look.awaited) this.look.at(this.look.awaited);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (this.ranges.key(event) || this.walk.key(event)) return true;
    if (event.key === "e" && this.scene.canCloseEager) {
      this.toggleEager();
      return true;
    }
    /** @type {Record<string, [number, number]|undefined>} */
    const steps = { ArrowLeft: [80, 0], ArrowRight: [-80, 0], ArrowUp: [0, 80], ArrowDown: [0, -80] };
    const step = steps[event.key];
    if (!event.shiftKey || !step) return false;
    this.pan(...step);
    return true;
  }

  /**
   * What is selected, as a sentence.
   * @param {number[]} ids
   */
  words(ids) {
    return timelineWords.selection(this, ids);
  }

  // -- for tests --------------------------------------------------------------------

  /** Intervals of selected nodes on the first side. */
  countSelected() {
    const side = this.scene.side(this.scene.names[0]);
    const items = this.frame.group.selected.flatMap((id) => side?.itemsOf(id) ?? []);
    return new Set(items).size;
  }

  /** @param {number} id */
  locate(id) {
    for (const coarse of this.scene.sides) {
      const side = this.detail.sideWith(coarse, id) || coarse;
      const [box] = timelineMarks.boxes(this.scene, side, id, this.laneRows, this.style());
      if (box) return { x: box.x + box.w / 2, y: box.y + box.h / 2 };
    }
    return null;
  }

  state() {
    /** @type {Record<string, object>} */
    const sides = {};
    for (const side of this.scene.sides) {
      sides[side.name] = {
        count: side.facts.count, lanes: side.lanes.length, calls: side.calls.length,
        call_names: side.calls.filter((call) => call.item < 0).map((call) => this.scene.titleOf(side, call)),
        total_ns: side.facts.total_ns, idle_ns: side.facts.idle_ns, scale: this.scene.scaleOf(side.name),
        idle_fraction: side.facts.idle_fraction, gaps: side.idle.length, mode: side.facts.mode,
        waits: timelineWaits.state(this.scene, side),
        launches: (side.facts.launches || []).map((launch) => launch.ordinal),
        widest_gap: this.widestGap(side),
        top: this.laneRows[side.name].length ? this.laneRows[side.name][0].y : null,
      };
    }
    const nodes = new Set();
    for (const side of this.scene.sides) for (const id of side.byNode.keys()) nodes.add(id);
    return {
      eager: this.scene.eager && timelineHead.eagerWords(this.scene),
      tracks: this.tracks?.labels ?? null,
      nodeCount: nodes.size, spansOfSelected: this.countSelected(), isMany: this.lanes.isMany(), transform: { ...this.transform }, scroll: this.scroll, sides,
      detail: this.detail.base && { ...this.detail.window, requested: this.detail.requested, enough: this.detail.enough() },
      walk: this.walk.state(), gutter: GUTTER, measure: this.ranges.measure, brush: this.ranges.brush,
    };
  }
}

