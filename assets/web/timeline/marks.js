/**
 * The selected and hovered intervals of the timeline, and the line that joins both sides.
 *
 * @typedef {{x: number, y: number, w: number, h: number, i: number}} Span  the rectangle of an interval
 */
import { toX } from "../core/axis.js";
import * as canvas from "../core/canvas.js";
/** @import { Pen } from "../core/canvas.js" */
/** @import { Detail } from "./detail.js" */
/** @import { TimeStyle } from "./draw.js" */
/** @import { LaneRows } from "./rows.js" */
/** @import { TimelineScene } from "./scene.js" */
/** @import { Side } from "./side.js" */

/** A marked interval is at least this wide, so that it is found far out too. */
const LEAST = 4;
/** So many iterations of a loop are joined; more would be a curtain. */
const JOINS = 40;

/**
 * Rectangles of a node's intervals on one side; `rows` by side and lane.
 * @param {TimelineScene} scene @param {Side} side @param {number} id @param {LaneRows} rows
 * @param {TimeStyle} style
 */
export function boxes(scene, side, id, rows, style) {
  const found = [];
  const t = scene.transformOf(side.name, style.transform);
  for (const i of side.byNode.get(id) || []) {
    const row = rows[side.name][side.lane[i]];
    const x = toX(t, side.start[i]);
    const w = side.duration[i] * t.k;
    const grow = Math.max(0, (LEAST - w) / 2);
    found.push({ i, x: x - grow, y: row.y, w: w + 2 * grow, h: row.h });
  }
  return found;
}

/** @param {Pen} ctx @param {Span} box @param {string} colour @param {number} width */
function ring(ctx, box, colour, width) {
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  ctx.beginPath();
  const g = width / 2;
  canvas.roundRect(ctx, box.x - g, box.y - g, box.w + 2 * g, box.h + 2 * g, 4);
  ctx.stroke();
}

/** @param {Pen} ctx @param {Span} a @param {Span} b @param {TimeStyle} style */
function join(ctx, a, b, style) {
  const x0 = a.x + a.w / 2;
  const y0 = a.y + a.h;
  const x1 = b.x + b.w / 2;
  const y1 = b.y;
  const bend = (y1 - y0) / 2;
  ctx.strokeStyle = style.theme.accent;
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.bezierCurveTo(x0, y0 + bend, x1, y1 - bend, x1, y1);
  ctx.stroke();
  ctx.fillStyle = style.theme.accent;
  for (const [x, y] of [[x0, y0], [x1, y1]]) {
    ctx.beginPath();
    ctx.arc(x, y, 2.5, 0, 7);
    ctx.fill();
  }
}

/**
 * Draw one selected node on both sides.
 * @param {Pen} ctx @param {TimelineScene} scene @param {number} id @param {LaneRows} rows
 * @param {TimeStyle} style @param {(side: Side, box: Span) => void} fill @param {Detail} detail
 */
export function drawSelected(ctx, scene, id, rows, style, fill, detail) {
  const from = scene.sides.map((side) => detail.sideWith(side, id) || side);
  const sides = from.map((side) => boxes(scene, side, id, rows, style));
  sides.forEach((found, n) => {
    for (const box of found) {
      fill(from[n], box);
      // On low lanes a halo would cover the lanes beside it.
      if (box.h >= 8) ring(ctx, box, style.theme.halo, 4.5);
      ring(ctx, box, style.theme.accent, box.h >= 8 ? 2 : 1.25);
    }
  });
  if (sides.length === 2 && sides[0].length && sides[1].length) {
    // Of stacked launches, only the one that stands nearest to the other side.
    const ends = scene.sides[0].stacked ? sides[0].slice(-1) : sides[0].slice(0, JOINS);
    for (const box of ends) join(ctx, box, sides[1][0], style);
  }
}

/**
 * @param {Pen} ctx @param {TimelineScene} scene @param {number} id @param {LaneRows} rows
 * @param {TimeStyle} style @param {Detail} detail
 */
export function drawHovered(ctx, scene, id, rows, style, detail) {
  for (const side of scene.sides) {
    const from = detail.sideWith(side, id) || side;
    for (const box of boxes(scene, from, id, rows, style)) ring(ctx, box, style.theme.ink, 1.5);
  }
}
