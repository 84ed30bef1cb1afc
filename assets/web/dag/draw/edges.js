/** Drawing edges: smooth curves between rows, rounded elbows from column to column. */
/** @import { Pen } from "../../core/canvas.js" */
/** @import { Box } from "../scene/bodies.js" */
/** @import { DagScene } from "../scene/scene.js" */
/** @import { Track } from "./plane.js" */

const CORNER = 9;

/**
 * Add edge `e` to the path, in coordinates of the plane.
 * @param {Track} ctx @param {DagScene} scene @param {number} e
 */
export function trace(ctx, scene, e) {
  const a = scene.from[e];
  const b = scene.to[e];
  const startY = scene.y[a] + scene.halfHeightOf(a);
  const endY = scene.y[b] - scene.halfHeightOf(b);
  const first = scene.routeOffset[e];
  const last = scene.routeOffset[e + 1];
  ctx.moveTo(scene.x[a], startY);
  if (last > first && scene.routeY[last - 1] < scene.routeY[first]) {
    elbow(ctx, scene, e, startY, endY);
    return;
  }
  let x = scene.x[a];
  let y = startY;
  for (let p = first; p < last; p++) {
    shift(ctx, x, y, scene.routeX[p], scene.routeY[p]);
    x = scene.routeX[p];
    y = scene.routeY[p];
  }
  if (last > first) shift(ctx, x, y, scene.x[b], endY);
  else curve(ctx, x, y, scene.x[b], endY);
}

/**
 * Down, aside and down again with round corners: from a node to its track and back.
 * @param {Track} ctx @param {number} x0 @param {number} y0 @param {number} x1 @param {number} y1
 */
function shift(ctx, x0, y0, x1, y1) {
  const away = Math.abs(x1 - x0);
  if (away > 0.5) {
    const middle = (y0 + y1) / 2;
    const radius = Math.min(CORNER, away / 2, Math.abs(y1 - y0) / 2);
    ctx.arcTo(x0, middle, x1, middle, radius);
    ctx.arcTo(x1, middle, x1, y1, radius);
  }
  ctx.lineTo(x1, y1);
}

/** @param {Track} ctx @param {number} x0 @param {number} y0 @param {number} x1 @param {number} y1 */
function curve(ctx, x0, y0, x1, y1) {
  if (Math.abs(x1 - x0) < 0.5) ctx.lineTo(x1, y1);
  else {
    const middle = (y0 + y1) / 2;
    ctx.bezierCurveTo(x0, middle, x1, middle, x1, y1);
  }
}

/**
 * @param {Track} ctx @param {DagScene} scene @param {number} e @param {number} startY
 * @param {number} endY
 */
function elbow(ctx, scene, e, startY, endY) {
  /** @type {[number, number][]} */
  const points = [];
  for (let p = scene.routeOffset[e]; p < scene.routeOffset[e + 1]; p++) {
    points.push([scene.routeX[p], scene.routeY[p]]);
  }
  const [head] = points;
  const tail = points[points.length - 1];
  /** @type {[number, number][]} */
  const way = [
    [scene.x[scene.from[e]], head[1]],
    ...points,
    [scene.x[scene.to[e]], tail[1]],
    [scene.x[scene.to[e]], endY],
  ];
  for (let i = 0; i < way.length - 1; i++) {
    ctx.arcTo(way[i][0], way[i][1], way[i + 1][0], way[i + 1][1], CORNER);
  }
  ctx.lineTo(...way[way.length - 1]);
}

/**
 * Edges whose bounds touch the rectangle.
 * @param {DagScene} scene @param {Box} view @param {number[]} [edges] all, unless given
 */
export function visible(scene, view, edges) {
  const { edgeLeft, edgeRight, edgeTop, edgeBottom } = scene;
  /** @param {number} e */
  const touches = (e) =>
    edgeRight[e] >= view.left &&
    edgeLeft[e] <= view.right &&
    edgeBottom[e] >= view.top &&
    edgeTop[e] <= view.bottom;
  if (edges) return edges.filter(touches);
  const found = [];
  for (let e = 0; e < scene.edgeCount; e++) if (touches(e)) found.push(e);
  return found;
}

/** How edges of a type are dashed: programmatic ones, and those inferred from stream order. */
const DASHES = new Map([
  [1, [5, 3.5]],
  [255, [1.5, 3]],
]);

/**
 * Stroke edges; programmatic ones dashed, inferred ones dotted. Width and dashes (of all of them) are in
 * pixels of the screen.
 * @param {Pen} ctx @param {DagScene} scene @param {number[]} edges
 * @param {{scale: number, colour: string, width: number, dash?: number[]|null}} look
 */
export function draw(ctx, scene, edges, { scale, colour, width, dash = null }) {
  ctx.strokeStyle = colour;
  ctx.lineWidth = width / scale;
  /** @type {Map<number, number[]>} */
  const dashed = new Map();
  if (dash) ctx.setLineDash(dash.map((part) => part / scale));
  ctx.beginPath();
  for (const e of edges) {
    const type = scene.edgeType[e];
    if (dash || !DASHES.has(type)) trace(ctx, scene, e);
    else if (dashed.has(type)) dashed.get(type)?.push(e);
    else dashed.set(type, [e]);
  }
  ctx.stroke();
  ctx.setLineDash([]);
  for (const [type, mine] of dashed) {
    ctx.setLineDash((DASHES.get(type) ?? []).map((part) => part / Math.min(1, scale)));
    ctx.beginPath();
    for (const e of mine) trace(ctx, scene, e);
    ctx.stroke();
  }
  ctx.setLineDash([]);
}

/**
 * Heads of arrows at the dependents.
 * @param {Pen} ctx @param {DagScene} scene @param {number[]} edges @param {string} colour
 */
export function drawHeads(ctx, scene, edges, colour) {
  ctx.fillStyle = colour;
  ctx.beginPath();
  for (const e of edges) {
    const b = scene.to[e];
    const x = scene.x[b];
    const y = scene.y[b] - scene.halfHeightOf(b);
    ctx.moveTo(x, y);
    ctx.lineTo(x - 3.6, y - 6.5);
    ctx.lineTo(x + 3.6, y - 6.5);
  }
  ctx.fill();
}
