/** The filter of the page in the DAG: what is not in it fades, edges too. */
/** @import { Pen, Size } from "../../core/canvas.js" */
/** @import { DagScene } from "../scene/scene.js" */

/** How much of what is filtered out fades. */
const VEIL = 0.78;

/**
 * Fade all but the wanted nodes.
 * @param {Pen} ctx @param {DagScene} scene @param {number[]|null} wanted node ids; null: no filter
 * @param {{k: number, kx: number, x: number, y: number}} t @param {Size} size
 */
export function veil(ctx, scene, wanted, t, size) {
  if (!wanted) return;
  ctx.save();
  ctx.beginPath();
  ctx.rect(0, 0, size.width, size.height);
  // A fold holds several of them: each box once, or they cancel out.
  for (const i of new Set(wanted.map((id) => scene.index.get(id)))) {
    if (i === undefined || scene.bodies.isOpen(i)) continue;
    for (const { left, right, top, bottom } of scene.boxesOf(i)) {
      const [x, y] = [left * t.kx + t.x, top * t.k + t.y];
      ctx.rect(x, y, (right - left) * t.kx, (bottom - top) * t.k);
    }
  }
  ctx.globalCompositeOperation = "destination-out";
  ctx.globalAlpha = VEIL;
  ctx.fillStyle = "#000";
  ctx.fill("evenodd");
  ctx.restore();
}
