/** The edge that is pointed at. */
import { isAlong } from "../scene/scene.js";
import * as dagEdges from "./edges.js";
import * as dagTime from "./time.js";
/** @import { Size } from "../../core/canvas.js" */
/** @import { DagScene } from "../scene/scene.js" */
/** @import { Style } from "./plane.js" */

/** An edge is pointed at within so many pixels. */
const REACH = 5;
/** Curves looked at for a pointer; where more cross under it none is meant. */
const MOST_CURVES = 400;

/**
 * The edge under a point of the screen, or -1.
 * @param {CanvasRenderingContext2D} ctx @param {DagScene} scene @param {Style} style
 * @param {Size} size @param {number} x @param {number} y
 */
export function edgeAt(ctx, scene, style, size, x, y) {
  const { transform: t } = style;
  const slack = { x: REACH / t.kx, y: REACH / t.k };
  const [px, py] = [(x - t.x) / t.kx, (y - t.y) / t.k];
  const view = {
    left: px - slack.x, right: px + slack.x, top: py - slack.y, bottom: py + slack.y,
  };
  const inView = dagEdges.visible(scene, view);
  const near = isAlong(scene) ? inView.filter((e) => dagTime.shows(scene, e)) : inView;
  if (!near.length || near.length > MOST_CURVES) return -1;
  ctx.save();
  const r = size.ratio;
  if (scene.along) ctx.setTransform(r, 0, 0, r, 0, 0);
  else ctx.setTransform(t.k * r, 0, 0, t.k * r, t.x * r, t.y * r);
  ctx.lineWidth = (2 * REACH) / (scene.along ? 1 : t.k);
  const found = near.findLast((e) => {
    const path = new Path2D();
    if (isAlong(scene)) dagTime.trace(path, scene, e, t);
    else dagEdges.trace(path, scene, e);
    return ctx.isPointInStroke(path, x * r, y * r);
  });
  ctx.restore();
  return found ?? -1;
}
