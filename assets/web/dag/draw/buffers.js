/**
 * The way of a buffer: nodes that are given what the selection is given, tagged by letters and
 * joined by arcs along the dependencies, with or without an edge between them.
 *
 * @typedef {[number, number, number, number, number, number, number, number]} Arc  a start, and
 *   what bends it: two points and its end
 * @typedef {{drawn: Buffer[], all: Buffer[], followed: string|null}} SelectionBuffers
 */
import * as canvas from "../../core/canvas.js";
import * as colours from "../../core/colour.js";
import * as format from "../../core/format.js";
import * as dagNodes from "./nodes.js";
import { MARGIN, panel } from "./strip.js";
/** @import { Pen, Size, Theme } from "../../core/canvas.js" */
/** @import { DagScene } from "../scene/scene.js" */
/** @import { Buffer, DataUses } from "../scene/uses.js" */
/** @import { Spot, Style, Transform } from "./plane.js" */

/** Arcs of one buffer on screen; more would be a carpet. */
const MOST_ARCS = 800;
const TAG = 13;
const DOT = 4;
/** Places of colours that are none of those of dependencies and selection. */
const COLOURS = [3, 4, 5, 9, 7, 6, 8, 2];
export const STRIP = 26;

/** @param {Buffer} buffer @param {Theme} theme */
function inkOf(buffer, theme) {
  return colours.category(COLOURS[buffer.colour ?? 0], theme.name);
}

/**
 * The box of an item on screen.
 * @param {DagScene} scene @param {number} i @param {Transform} t
 */
function boxOf(scene, i, t) {
  const { left, right, top, bottom } = scene.boxesOf(i)[0];
  const w = Math.max(1, (right - left) * t.kx);
  return { x: left * t.kx + t.x, y: top * t.k + t.y, w, h: (bottom - top) * t.k };
}

/**
 * An arc between two boxes, and where its head points from: beside them where one stands under
 * the other, over them along time.
 * @param {Spot} a @param {Spot} b @param {boolean} along
 * @returns {Arc}
 */
function arcOf(a, b, along) {
  if (along) return arcInTime(a, b);
  const [ay, by] = [a.y + a.h / 2, b.y + b.h / 2];
  const apart = b.x - a.x;
  if (Math.abs(apart) < 1.5 * a.w) {
    const out = Math.min(90, 14 + Math.abs(by - ay) / 5);
    const far = Math.max(a.x + a.w, b.x + b.w) + out;
    return [a.x + a.w, ay, far, ay, far, by, b.x + b.w, by];
  }
  const [ax, bx] = apart > 0 ? [a.x + a.w, b.x] : [a.x, b.x + b.w];
  const bend = Math.min(120, Math.abs(bx - ax) / 2) * Math.sign(apart);
  return [ax, ay, ax + bend, ay, bx - bend, by, bx, by];
}

/** @param {Spot} a @param {Spot} b @returns {Arc} */
function arcInTime(a, b) {
  const [ax, bx] = [a.x + Math.min(a.w, 40) / 2, b.x + Math.min(b.w, 40) / 2];
  const rise = Math.min(70, 14 + Math.abs(bx - ax) / 5);
  const top = Math.min(a.y, b.y) - rise;
  return [ax, a.y, ax + (bx - ax) / 4, top, bx - (bx - ax) / 4, top, bx, b.y];
}

/** @param {Arc} arc @param {Size} size */
function onScreen(arc, size) {
  const xs = [arc[0], arc[2], arc[4], arc[6]];
  const ys = [arc[1], arc[3], arc[5], arc[7]];
  return (
    Math.max(...xs) > 0 && Math.min(...xs) < size.width &&
    Math.max(...ys) > 0 && Math.min(...ys) < size.height
  );
}

/**
 * Arcs of a buffer; those that touch what is selected, or all where nothing is, stand out.
 * @param {Pen} ctx @param {DagScene} scene @param {Buffer} buffer @param {Set<number>} selected
 * @param {Style} style @param {Size} size
 */
function drawArcs(ctx, scene, buffer, selected, style, size) {
  /** @param {[number, number]} link */
  const near = (link) => !selected.size || link.some((i) => selected.has(i));
  const { halo } = style.theme;
  const ink = inkOf(buffer, style.theme);
  const far = buffer.links.filter((link) => !near(link));
  ctx.globalAlpha = 0.5;
  strokeArcs(ctx, scene, far, style, size, ink, [[ink, 1]]);
  ctx.globalAlpha = 1;
  // A rim, so that crossing arcs stay apart.
  strokeArcs(ctx, scene, buffer.links.filter(near), style, size, ink, [[halo, 4], [ink, 2]]);
}

/**
 * @param {Pen} ctx @param {DagScene} scene @param {[number, number][]} links @param {Style} style
 * @param {Size} size @param {string} ink @param {[string, number][]} strokes colours and widths
 */
function strokeArcs(ctx, scene, links, style, size, ink, strokes) {
  /** @type {Arc[]} */
  const heads = [];
  ctx.beginPath();
  for (const link of links) {
    const [a, b] = link.map((i) => boxOf(scene, i, style.transform));
    const arc = arcOf(a, b, scene.along);
    if (!onScreen(arc, size) || heads.length === MOST_ARCS) continue;
    ctx.moveTo(arc[0], arc[1]);
    const [, , ...curve] = arc;
    ctx.bezierCurveTo(...curve);
    heads.push(arc);
  }
  for (const [colour, width] of strokes) {
    ctx.strokeStyle = colour;
    ctx.lineWidth = width;
    ctx.stroke();
  }
  ctx.fillStyle = ink;
  ctx.beginPath();
  for (const arc of heads) addHead(ctx, arc);
  ctx.fill();
}

/** @param {Pen} ctx @param {Arc} arc */
function addHead(ctx, [, , , , cx, cy, x, y]) {
  const far = Math.hypot(x - cx, y - cy) || 1;
  const [dx, dy] = [(x - cx) / far, (y - cy) / far];
  ctx.moveTo(x, y);
  ctx.lineTo(x - 7 * dx - 3.5 * dy, y - 7 * dy + 3.5 * dx);
  ctx.lineTo(x - 7 * dx + 3.5 * dy, y - 7 * dy - 3.5 * dx);
}

/**
 * A letter on a ground of the buffer's colour.
 * @param {Pen} ctx @param {string} letter @param {number} x @param {number} y @param {string} ink
 * @param {Theme} theme
 */
function drawTag(ctx, letter, x, y, ink, theme) {
  ctx.beginPath();
  canvas.roundRect(ctx, x, y, TAG, TAG, 4);
  ctx.fillStyle = ink;
  ctx.fill();
  ctx.strokeStyle = theme.halo;
  ctx.lineWidth = 1.5;
  ctx.stroke();
  ctx.font = canvas.font(9.5, 700);
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillStyle = theme.inkDark;
  ctx.fillText(letter, x + TAG / 2, y + TAG / 2 + 0.5);
}

/**
 * Letters at the corners of nodes: which buffers each of them is given. Far out dots.
 * @param {Pen} ctx @param {DagScene} scene @param {Buffer[]} buffers @param {Style} style
 * @param {Size} size
 */
function drawTags(ctx, scene, buffers, style, size) {
  const shift = new Map();
  if (2 * scene.halfH * style.transform.k < dagNodes.BLOCK) {
    drawDots(ctx, scene, buffers, style);
    return;
  }
  for (const buffer of buffers) {
    for (const i of buffer.items) {
      const box = boxOf(scene, i, style.transform);
      const at = shift.get(i) || 0;
      shift.set(i, at + 1);
      const [x, y] = [box.x - 5 + at * (TAG + 1), box.y - 7];
      if (x < -TAG || y < -TAG || x > size.width || y > size.height) continue;
      drawTag(ctx, buffer.letter, x, y, inkOf(buffer, style.theme), style.theme);
    }
  }
}

/** @param {Pen} ctx @param {DagScene} scene @param {Buffer[]} buffers @param {Style} style */
function drawDots(ctx, scene, buffers, style) {
  buffers.forEach((buffer, at) => {
    ctx.fillStyle = inkOf(buffer, style.theme);
    for (const i of buffer.items) {
      const box = boxOf(scene, i, style.transform);
      ctx.fillRect(box.x - 2 + at * (DOT + 1), box.y - 2, DOT, DOT);
    }
  });
}

/**
 * Draw arcs and tags; in coordinates of the screen.
 * @param {Pen} ctx @param {DagScene} scene @param {{buffers: Buffer[], selected: number[]}} given
 * @param {Style} style @param {Size} size
 */
export function draw(ctx, scene, { buffers, selected }, style, size) {
  const near = new Set(selected);
  for (const buffer of buffers) drawArcs(ctx, scene, buffer, near, style, size);
  drawTags(ctx, scene, buffers, style, size);
}

/**
 * What a buffer is, for the strip; short where there is little room.
 * @param {DagScene} scene @param {Buffer} buffer @param {boolean} short
 */
function wordsOf(scene, buffer, short) {
  const uses = /** @type {DataUses} */ (scene.uses);
  const nodes = format.counted(buffer.items.length, "node");
  if (short) return nodes;
  const around = uses.aroundOf(buffer.place);
  const where = Number.isFinite(buffer.bytes)
    ? `${format.byteSize(buffer.bytes)} at ${uses.whereOf(buffer.place)}`
    : uses.whereOf(buffer.place);
  const size = around && !Number.isFinite(buffer.bytes) ? ` in ${around.split(" at ")[0]}` : "";
  return `${where}${size}, ${nodes}`;
}

/**
 * Lay the strip out from left to right; returns where it ends.
 * @param {Pen} ctx @param {DagScene} scene @param {SelectionBuffers} buffers @param {Style} style
 * @param {number} top @param {boolean} short
 */
function fillStrip(ctx, scene, { drawn, all, followed }, style, top, short) {
  let x = 2 * MARGIN;
  ctx.font = canvas.font(11);
  /** @param {string} words @param {string} ink */
  const text = (words, ink) => {
    ctx.font = canvas.font(11);
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    ctx.fillStyle = ink;
    ctx.fillText(words, x, top + 13.5);
    x += canvas.textWidth(ctx, words, 11) + 12;
  };
  for (const buffer of drawn) {
    drawTag(ctx, buffer.letter, x, top + 6.5, inkOf(buffer, style.theme), style.theme);
    x += TAG + 6;
    text(wordsOf(scene, buffer, short), style.theme.ink);
  }
  if (followed) text("followed; Esc ends it", style.theme.muted);
  else if (all.length > drawn.length) text(`+ ${all.length - drawn.length}`, style.theme.muted);
  return x;
}

/**
 * The strip at the bottom that says what the letters are.
 * @param {Pen} ctx @param {DagScene} scene @param {SelectionBuffers} buffers @param {Style} style
 * @param {Size} size @param {number} bottom
 */
export function drawStrip(ctx, scene, buffers, style, size, bottom) {
  if (!buffers.drawn.length || size.width < 440) return;
  const y = bottom - STRIP - MARGIN;
  // The minimap stands at the right.
  const room = size.width - 215;
  const widths = [false, true].map((terse) => fillStrip(ctx, scene, buffers, style, -1000, terse));
  const short = widths[0] > room;
  panel(ctx, style.theme, MARGIN, y, widths[Number(short)] - MARGIN, STRIP);
  fillStrip(ctx, scene, buffers, style, y, short);
}
