/** The DAG along time: bars on the axis of a launch, one row a lane. In coordinates of the screen. */
import * as axis from "../../core/axis.js";
import * as canvas from "../../core/canvas.js";
import * as format from "../../core/format.js";
import * as dagBuffers from "./buffers.js";
import * as dagData from "./data_edges.js";
import * as dagEdges from "./edges.js";
import * as dagFrames from "./frames.js";
import { MOST_RINGS, drawNearFrames, kinOf } from "./kin.js";
import * as dagNodes from "./nodes.js";
import { viewOf } from "./plane.js";
/** @import { Pen, Size, Theme } from "../../core/canvas.js" */
/** @import { Change } from "../overlay/change.js" */
/** @import { Overlay } from "../overlay/overlay.js" */
/** @import { Box, Items } from "../scene/bodies.js" */
/** @import { TimeScene } from "../scene/scene.js" */
/** @import { Marks, Spot, Stroke, Style, Track, Transform } from "./plane.js" */

/** Dependencies are drawn up to so many on screen; those within a lane go without saying. */
const MOST_EDGES = 3000;
/** What took no time, or has none, is a mark of this width. */
const LEAST_W = 1;
const MARK_W = 5;
/** Wider ones have an outline: the palest fill is hardly seen on its ground. */
const OUTLINED = 6;
/** Lower or narrower bars have no text. */
const TEXT_HEIGHT = 11;
const TEXT_ROOM = 24;
export const AXIS = 22;

/**
 * The rectangle of a bar on screen.
 * @param {TimeScene} scene @param {number} bar @param {Transform} t
 */
function boxOf(scene, bar, t) {
  const { x: middles, y: rows, half } = scene.bars;
  const h = 2 * scene.halfH * t.k;
  const w = 2 * half[bar] * t.kx;
  const x = (middles[bar] - half[bar]) * t.kx + t.x;
  const y = rows[bar] * t.k + t.y - h / 2;
  return { x, y, w: Math.max(half[bar] ? LEAST_W : MARK_W, w), h };
}

/**
 * Where an edge runs on screen: from the end of a node's first iteration to the start of the next
 * iteration of the other. In a loop an item may stand for all iterations, such as a frame.
 * @param {TimeScene} scene @param {number} e @param {Transform} t
 */
function endsOf(scene, e, t) {
  const [a] = scene.boxesOf(scene.from[e]);
  const boxes = scene.boxesOf(scene.to[e]);
  const b = boxes.find((box) => box.left >= a.right) || boxes[boxes.length - 1];
  /** @param {Box} box */
  const middle = (box) => ((box.top + box.bottom) / 2) * t.k + t.y;
  return { x0: a.right * t.kx + t.x, y0: middle(a), x1: b.left * t.kx + t.x, y1: middle(b) };
}

/** @param {TimeScene} scene @param {Box} view */
function visibleBars(scene, view) {
  /** @type {number[]} */
  const found = [];
  scene.grid.visit(view.left, view.top - scene.halfH, view.right, view.bottom + scene.halfH, (bar) => {
    if (!scene.bodies.isOpen(scene.bars.item[bar])) found.push(bar);
  });
  return found;
}

/**
 * The bars of items.
 * @param {TimeScene} scene @param {Items} items
 */
export function barsOf(scene, items) {
  /** @type {number[]} */
  const found = [];
  for (const i of scene.bodies.closed(items)) {
    for (let bar = scene.bars.first[i]; bar < scene.bars.first[i + 1]; bar++) found.push(bar);
  }
  return found;
}

/** @param {Pen} ctx @param {TimeScene} scene @param {number[]} bars @param {Style} style */
export function drawBars(ctx, scene, bars, style) {
  const { transform: t, theme, overlay } = style;
  /** @type {string|CanvasPattern|null} */ let last = null;
  const marks = [];
  /** @type {[number, Spot][]} */
  const changed = [];
  ctx.strokeStyle = theme.outline;
  ctx.lineWidth = 1;
  for (const bar of bars) {
    if (!scene.bars.half[bar]) marks.push(bar);
    else {
      const { fill } = dagNodes.paintOf(scene, scene.bars.item[bar], style);
      const css = fill || style.pattern || theme.hatch;
      if (css !== last) ctx.fillStyle = last = css;
      const box = boxOf(scene, bar, t);
      dagNodes.name(ctx, scene, scene.bars.item[bar], style);
      // A hair between neighbours, where there is room for one.
      const width = box.w > 4 ? box.w - 1 : box.w;
      const isCalm = overlay.isChange && overlay.isCalm(scene.bars.item[bar]);
      const calm = isCalm ? box.h * (1 - dagNodes.CALM) : 0;
      const top = box.y + calm / 2;
      ctx.fillRect(box.x, top, width, box.h - calm);
      if (box.w > OUTLINED) ctx.strokeRect(box.x + 0.5, top + 0.5, box.w - 2, box.h - calm - 1);
      if (overlay.isChange) changed.push([bar, box]);
    }
  }
  if (overlay.isChange) {
    for (const [bar, box] of changed) drawChange(ctx, overlay, scene.bars.item[bar], box, theme);
  }
  for (const bar of marks) {
    dagNodes.name(ctx, scene, scene.bars.item[bar], style);
    drawMark(ctx, scene, bar, style);
  }
}

/**
 * The mark of a change on a bar; the text of one that has some has the arrow.
 * @param {Pen} ctx @param {Change} overlay @param {number} i
 * @param {{x: number, y: number, w: number, h: number}} given @param {Theme} theme
 */
function drawChange(ctx, overlay, i, { x, y, w, h }, theme) {
  const isAdded = overlay.isAdded(i);
  if (!isAdded && h >= TEXT_HEIGHT && roomIn(x, w).room >= TEXT_ROOM) return;
  const at = { x: x + w / 2, y: y + h / 2, w: w - 1, h: isAdded ? h : Math.min(h, 16) };
  dagNodes.drawChange(ctx, overlay, i, at, theme);
}

/**
 * Where the text of a bar begins, and its room: the name of a long node stays in sight.
 * @param {number} x @param {number} w
 */
function roomIn(x, w) {
  const left = Math.max(0, x) + 5;
  return { left, room: x + w - 5 - left };
}

/**
 * The time of a bar; among changes its change too, or that alone, or its arrow, as there is room.
 * @param {Pen} ctx @param {TimeScene} scene @param {number} bar @param {Overlay} overlay
 * @param {number} size @param {number} room
 */
function lineOf(ctx, scene, bar, overlay, size, room) {
  const time = format.duration(2 * scene.bars.half[bar]);
  if (!overlay.isChange) return time;
  const change = overlay.line(scene.bars.item[bar]);
  /** @param {string} text */
  const fits = (text) => canvas.textWidth(ctx, text, size, 400) <= room;
  // A number is never cut.
  return [`${time} · ${change}`, change].find(fits) || overlay.arrow(scene.bars.item[bar]);
}

/**
 * A node without a length: a diamond on its lane.
 * @param {Pen} ctx @param {TimeScene} scene @param {number} bar @param {Style} style
 */
function drawMark(ctx, scene, bar, style) {
  const { x, y, h } = boxOf(scene, bar, style.transform);
  const r = Math.min(MARK_W, h / 2);
  const middle = y + h / 2;
  ctx.beginPath();
  ctx.moveTo(x, middle - r);
  ctx.lineTo(x + r, middle);
  ctx.lineTo(x, middle + r);
  ctx.lineTo(x - r, middle);
  ctx.closePath();
  ctx.fillStyle = style.theme.panel;
  ctx.fill();
  ctx.strokeStyle = style.theme.muted;
  ctx.lineWidth = 1;
  ctx.stroke();
}

/** @param {Pen} ctx @param {TimeScene} scene @param {number[]} bars @param {Style} style */
function drawTexts(ctx, scene, bars, style) {
  const { transform: t, overlay } = style;
  const tall = 2 * scene.halfH * t.k;
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  for (const bar of bars) {
    const i = scene.bars.item[bar];
    const isCalm = overlay.isChange && overlay.isCalm(i);
    const h = isCalm ? tall * dagNodes.CALM : tall;
    const box = boxOf(scene, bar, t);
    const { left, room } = roomIn(box.x, box.w);
    if (h < TEXT_HEIGHT || room < TEXT_ROOM) continue;
    const { ink, fill } = dagNodes.paintOf(scene, i, style);
    if (!fill) continue;
    const two = h >= 31;
    const px = two ? Math.min(15, Math.max(11, h * 0.3)) : Math.min(12, h * 0.6);
    const middle = box.y + box.h / 2;
    ctx.fillStyle = style.faded ? style.theme.ink : ink;
    const weight = two ? 600 : 500;
    ctx.font = canvas.font(px, weight);
    const more = scene.bodies.parents.has(i) ? " ▸" : "";
    const arrow = !two && overlay.isChange && overlay.arrow(i) ? `${overlay.arrow(i)} ` : "";
    const isWhole = arrow || more;
    const name = isWhole ? canvas.fitText(ctx, arrow + dagNodes.shortName(scene, i) + more, px, room, weight)
      : dagNodes.fitName(ctx, scene, i, px, room, weight);
    ctx.fillText(name, left, two ? middle - h * 0.17 : middle);
    if (!two) continue;
    const small = px * 0.92;
    ctx.font = canvas.font(small);
    const line = lineOf(ctx, scene, bar, overlay, small, room);
    ctx.fillText(canvas.fitText(ctx, line, small, room), left, middle + h * 0.21);
  }
}

/**
 * Edges between lanes, from the end of one node to the start of the next.
 * @param {Pen} ctx @param {TimeScene} scene @param {number[]} edges @param {Style} style
 * @param {string} colour @param {number} width @param {number[]|null} [dash]
 */
function drawEdges(ctx, scene, edges, style, colour, width, dash = null) {
  const { transform: t } = style;
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  ctx.setLineDash(dash || []);
  ctx.beginPath();
  for (const e of edges) trace(ctx, scene, e, t);
  ctx.stroke();
  ctx.setLineDash([]);
}

/** @param {TimeScene} scene @param {number} e */
function across(scene, e) {
  return scene.y[scene.from[e]] !== scene.y[scene.to[e]];
}

/**
 * Whether an edge is drawn: between lanes; within one it goes without saying, unless it differs
 * what edges carry, and then from a node to the next.
 * @param {TimeScene} scene @param {number} e
 */
export function shows(scene, e) {
  if (across(scene, e)) return true;
  if (!scene.uses) return false;
  const next = kept.get(scene) ?? nextInLane(scene);
  kept.set(scene, next);
  return next[scene.from[e]] === scene.to[e];
}

/** Of each scene the item that is next in its lane. @type {WeakMap<TimeScene, Int32Array>} */
const kept = new WeakMap();

/** @param {TimeScene} scene */
function nextInLane(scene) {
  const next = new Int32Array(scene.count).fill(-1);
  const { item } = scene.bars;
  for (const { items: bars } of scene.grid.lanes) {
    for (let n = 0; n + 1 < bars.length; n++) {
      if (next[item[bars[n]]] < 0) next[item[bars[n]]] = item[bars[n + 1]];
    }
  }
  return next;
}

/**
 * Add an edge to a path.
 * @param {Track} path @param {TimeScene} scene @param {number} e @param {Transform} t
 */
export function trace(path, scene, e, t) {
  const { x0, y0, x1, y1 } = endsOf(scene, e, t);
  const bend = Math.max(8, Math.min(60, Math.abs(x1 - x0) / 2));
  path.moveTo(x0, y0);
  path.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
}

/** @param {Pen} ctx @param {TimeScene} scene @param {Style} style @param {Size} size */
function drawAxis(ctx, scene, style, size) {
  const { transform: t, theme } = style;
  const top = size.height - AXIS;
  const from = Math.max(0, -t.x / t.kx);
  const to = Math.min(scene.width, (size.width - t.x) / t.kx);
  ctx.fillStyle = theme.panel;
  ctx.fillRect(0, top, size.width, AXIS);
  ctx.font = canvas.font(10.5);
  ctx.textBaseline = "middle";
  ctx.textAlign = "center";
  for (const tick of axis.ticks(from, to, (to - from) * t.kx)) {
    const x = Math.round(tick.ns * t.kx + t.x) + 0.5;
    ctx.strokeStyle = theme.line;
    ctx.lineWidth = 1;
    ctx.beginPath();
    ctx.moveTo(x, 0);
    ctx.lineTo(x, top + 4);
    ctx.stroke();
    ctx.fillStyle = theme.muted;
    ctx.textAlign = tick.ns ? "center" : "left";
    ctx.fillText(tick.ns ? tick.text : "0 = first start", tick.ns ? x : x + 4, top + AXIS / 2 + 2);
  }
}

/**
 * @param {Pen} ctx @param {TimeScene} scene @param {Items} items @param {Style} style
 * @param {string} colour @param {number} width
 */
function drawRings(ctx, scene, items, style, colour, width) {
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  for (const bar of barsOf(scene, items)) {
    const { x, y, w, h } = boxOf(scene, bar, style.transform);
    const mark = scene.bars.half[bar] ? 0 : MARK_W;
    ctx.strokeRect(x - mark - 1, y - 1, w + mark + 2, h + 2);
  }
  const open = Array.from(items).filter((i) => scene.bodies.isOpen(i));
  dagFrames.drawRings(ctx, scene, open, style, colour, width);
}

/**
 * @param {Pen} ctx @param {TimeScene} scene @param {Style} style @param {Marks} marks
 * @param {{bars: number[], edges: number[]}} given @param {Size} size
 */
function drawSelection(ctx, scene, style, marks, { bars, edges }, size) {
  const kin = kinOf(scene, marks.selected);
  const users = new Set(marks.users);
  /** @param {number} i */
  const near = (i) => kin.shown[i] || users.has(i);
  /** @param {number} bar */
  const nearBar = (bar) => near(scene.bars.item[bar]);
  canvas.fade(ctx, size);
  drawTexts(ctx, scene, bars.filter((bar) => !nearBar(bar)), { ...style, faded: true });
  drawNearFrames(ctx, scene, near, style, size);
  const within = edges.filter((e) => kin.within[e] && across(scene, e));
  if (within.length <= MOST_EDGES) drawEdges(ctx, scene, within, style, style.theme.edge, 1);
  const { upstream, downstream } = style.theme;
  for (const { flags, colour } of [{ flags: kin.up, colour: upstream }, { flags: kin.down, colour: downstream }]) {
    const chosen = edges.filter((e) => flags[e]);
    if (chosen.length <= MOST_EDGES) drawEdges(ctx, scene, chosen, style, colour, 2);
  }
  const shown = bars.filter(nearBar);
  drawBars(ctx, scene, shown, style);
  drawTexts(ctx, scene, shown, style);
  const drawn = new Set([...bars.map((bar) => scene.bars.item[bar]),
    ...scene.bodies.frames.map((frame) => frame.item)]);
  const ringed = Array.from(drawn).filter((i) => kin.selected[i]);
  if (ringed.length <= MOST_RINGS) {
    drawRings(ctx, scene, ringed, style, style.theme.accent, 2.5);
  }
  dagBuffers.draw(ctx, scene, marks, style, size);
}

/**
 * Draw one frame; as dagDraw.draw.
 * @param {Pen} ctx @param {TimeScene} scene @param {Style} style @param {Marks} marks
 * @param {Size} size
 */
export function draw(ctx, scene, style, marks, size) {
  const view = viewOf(style.transform, size);
  const bars = visibleBars(scene, view);
  drawAxis(ctx, scene, style, size);
  const seen = dagEdges.visible(scene, view);
  const edges = seen.filter((e) => shows(scene, e));
  /** @type {Stroke} */
  const stroke = (list, ...look) => drawEdges(ctx, scene, list, style, ...look);
  if (edges.length > MOST_EDGES) edges.length = 0;
  for (const { frames, edges: inner } of scene.bodies.layers(scene, edges)) {
    dagFrames.draw(ctx, scene, frames, style, size);
    if (scene.uses) dagData.draw(scene, inner, style, stroke);
    else stroke(inner, style.theme.edge, 1);
  }
  if (marks.edge >= 0) stroke([marks.edge], style.theme.accent, 3);
  drawBars(ctx, scene, bars, style);
  const veiled = marks.selected.length > 0 || marks.buffers.length > 0;
  if (!veiled) drawTexts(ctx, scene, bars, style);
  if (style.overlay.name === "slack") {
    const critical = scene.criticalEdges.filter((e) => across(scene, e));
    drawEdges(ctx, scene, critical, style, style.theme.accent, 2);
  }
  if (veiled) drawSelection(ctx, scene, style, marks, { bars, edges: seen }, size);
  if (marks.hovered >= 0 && !marks.selected.includes(marks.hovered)) {
    drawRings(ctx, scene, [marks.hovered], style, style.theme.ink, 1.5);
  }
  return { level: "time", visible: new Set(bars.map((bar) => scene.bars.item[bar])).size };
}
