/**
 * Drawing open nodes: a frame with a strip for its name, and a box for each of its bodies.
 *
 * @typedef {Style & {width: number}} WideStyle  with the width of the screen
 * @typedef {{width: number, height: number}} Extent  of the screen
 */
import * as canvas from "../../core/canvas.js";
import { HEAD } from "../scene/bodies.js";
import * as dagNodes from "./nodes.js";
/** @import { Pen } from "../../core/canvas.js" */
/** @import { Box, NodeFrame } from "../scene/bodies.js" */
/** @import { DagScene } from "../scene/scene.js" */
/** @import { Spot, Style, Transform } from "./plane.js" */

/** Height of the strip of a body, in the plane; gviz.layout.nested leaves room for it. */
const BODY_HEAD = 22;
/** Strips lower than this on screen have no text. */
const READABLE = 9;
/** The name is cut no further than this for the words beside it. */
const NAME = 90;
const RADIUS = 10;
/** The words beside the name are left out where less than this share of them has room. */
const KEPT = 0.55;

/**
 * A rectangle on screen.
 * @param {Box} box @param {Transform} t
 */
function onScreen(box, t) {
  return {
    x: box.left * t.kx + t.x,
    y: box.top * t.k + t.y,
    w: Math.max(4, (box.right - box.left) * t.kx),
    h: (box.bottom - box.top) * t.k,
  };
}

/**
 * The rectangle of an item on screen.
 * @param {DagScene} scene @param {number} i @param {Transform} t
 */
function boxOf(scene, i, t) {
  return onScreen(scene.boxOf(i), t);
}

/** @param {number} w @param {Transform} t */
function radius(w, t) {
  return Math.min(RADIUS * t.k, 12, w / 4);
}

/** @param {Pen} ctx @param {NodeFrame} frame @param {Spot} at @param {Style} style */
function drawGround(ctx, frame, at, style) {
  const { theme, transform: t } = style;
  ctx.beginPath();
  canvas.roundRect(ctx, at.x, at.y, at.w, at.h, radius(at.w, t));
  ctx.fillStyle = theme.panel;
  ctx.fill();
  ctx.fillStyle = theme.grid;
  ctx.fill();
  ctx.save();
  ctx.clip();
  ctx.fillRect(at.x, at.y, at.w, HEAD * t.k);
  ctx.restore();
}

/** @param {Pen} ctx @param {Spot} at @param {Style} style */
function drawBorder(ctx, at, style) {
  ctx.beginPath();
  canvas.roundRect(ctx, at.x, at.y, at.w, at.h, radius(at.w, style.transform));
  ctx.strokeStyle = style.theme.muted;
  ctx.lineWidth = 1.25;
  ctx.stroke();
}

/**
 * Words from the left and, where there is room, from the right of a strip.
 * @param {Pen} ctx @param {Spot} at @param {number} height @param {WideStyle} style
 * @param {{title: string, rest: string, right: string, weight: number}} given
 */
function drawStrip(ctx, at, height, style, { title, rest, right, weight }) {
  const px = Math.min(13, height * 0.5);
  if (height < READABLE) return;
  // The part on screen: the name of a wide frame stays in sight.
  const left = Math.max(0, at.x) + Math.min(10, px);
  const end = Math.min(style.width, at.x + at.w) - Math.min(10, px);
  const middle = at.y + height / 2;
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  let x = left;
  /** @param {string} text @param {number} bold @param {string} colour @param {number} most */
  const put = (text, bold, colour, most) => {
    const room = Math.min(most, end - x);
    // A few letters of a sentence have no meaning.
    const enough = bold > 400 || room > KEPT * canvas.textWidth(ctx, text, px, bold);
    const shown = enough ? canvas.fitText(ctx, text, px, room, bold) : "";
    ctx.font = canvas.font(px, bold);
    ctx.fillStyle = colour;
    ctx.fillText(shown, x, middle);
    x += canvas.textWidth(ctx, shown, px, bold) + (shown ? 0.8 * px : 0);
  };
  const { ink, muted } = style.theme;
  const aside = right ? canvas.textWidth(ctx, right, px, 400) + px : 0;
  put(title, weight, ink, Math.max(NAME, end - x - aside));
  if (aside && end - x > aside) {
    ctx.font = canvas.font(px);
    ctx.fillStyle = muted;
    ctx.fillText(right, end - aside + px, middle);
    put(rest, 400, muted, end - x - aside);
  } else put(rest, 400, muted, end - x);
}

/**
 * @param {Pen} ctx @param {DagScene} scene @param {NodeFrame} frame @param {Spot} at
 * @param {WideStyle} style
 */
function drawHead(ctx, scene, frame, at, style) {
  const { bodies } = frame.parent;
  const alone = bodies.length === 1 ? bodies[0] : null;
  const words = alone ? [alone.label, alone.words].filter(Boolean).join(" · ") : frame.parent.words;
  drawStrip(ctx, at, HEAD * style.transform.k, style, {
    title: `▾ ${dagNodes.shortName(scene, frame.item)}`,
    rest: words,
    right: dagNodes.spreadOf(scene, frame.item),
    weight: 600,
  });
}

/** @param {Pen} ctx @param {Spot} at @param {Style} style */
function drawBody(ctx, at, style) {
  const { theme, transform: t } = style;
  ctx.beginPath();
  canvas.roundRect(ctx, at.x, at.y, at.w, at.h, radius(at.w, t));
  ctx.setLineDash([4, 3]);
  ctx.strokeStyle = theme.muted;
  ctx.lineWidth = 1;
  ctx.stroke();
  ctx.setLineDash([]);
}

/**
 * Frames on screen, with where they are.
 * @param {DagScene} scene @param {NodeFrame[]} frames @param {Style} style @param {Extent} size
 */
function inSight(scene, frames, style, size) {
  return frames
    .map((frame) => ({ frame, at: boxOf(scene, frame.item, style.transform) }))
    .filter(({ at }) => at.x < size.width && at.y < size.height && at.x + at.w > 0 && at.y + at.h > 0);
}

/**
 * Draw frames, the outer ones first, in coordinates of the screen; faded ones without names.
 * @param {Pen} ctx @param {DagScene} scene @param {NodeFrame[]} frames of scene.bodies
 * @param {Style} style @param {Extent} size
 */
export function draw(ctx, scene, frames, style, size) {
  for (const { frame, at } of inSight(scene, frames, style, size)) {
    drawGround(ctx, frame, at, style);
    drawBorder(ctx, at, style);
    for (const box of frame.boxes.length > 1 ? frame.boxes : []) {
      drawBody(ctx, onScreen(box, style.transform), style);
    }
    if (!style.faded) drawNames(ctx, scene, [frame], style, size);
  }
}

/**
 * Draw what frames and their bodies are called.
 * @param {Pen} ctx @param {DagScene} scene @param {NodeFrame[]} frames @param {Style} style
 * @param {Extent} size
 */
export function drawNames(ctx, scene, frames, style, size) {
  const wide = { ...style, width: size.width };
  const { transform: t } = style;
  for (const { frame, at } of inSight(scene, frames, style, size)) {
    drawHead(ctx, scene, frame, at, wide);
    if (frame.boxes.length < 2) continue;
    const open = frame.parent.bodies.filter((body) => body.open >= 0);
    frame.boxes.forEach((box, n) => {
      const { label: title, words: rest } = open[n];
      drawStrip(ctx, onScreen(box, t), BODY_HEAD * t.k, wide, { title, rest, right: "", weight: 600 });
    });
  }
}

/**
 * A ring around frames.
 * @param {Pen} ctx @param {DagScene} scene @param {number[]} items @param {Style} style
 * @param {string} colour @param {number} width
 */
export function drawRings(ctx, scene, items, style, colour, width) {
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  for (const i of items) {
    const at = boxOf(scene, i, style.transform);
    const g = width / 2 + 1;
    ctx.beginPath();
    const round = radius(at.w, style.transform) + g;
    canvas.roundRect(ctx, at.x - g, at.y - g, at.w + 2 * g, at.h + 2 * g, round);
    ctx.stroke();
  }
}

