/** The transform that shows all of the DAG, below its legend and the heads of its sections. */
import { STRIP } from "./draw/buffers.js";
import { headOf } from "./draw/sections.js";
import { isHigh, space } from "./draw/strip.js";
import * as dagTime from "./draw/time.js";
/** @import { Transform } from "./draw/plane.js" */
/** @import { DagScene } from "./scene/scene.js" */

export const FIT_MARGIN = 28;
/** A fit never enlarges beyond this: three nodes as wide as the screen help nobody. */
export const FIT_ZOOM = 1.15;
/** Height of the remark under nodes whose edges are unknown. */
const REMARK = 22;

/** The room that legends take at the top. @param {DagScene} scene */
export const legendSpace = (scene) => space(!!scene.uses);

/** @param {DagScene} scene @param {{width: number, height: number}} size @returns {Transform} */
export function fit(scene, { width, height }) {
  const margin = Math.min(FIT_MARGIN, width / 20, height / 20);
  // The legend and the buttons stand above what is shown, where there is room for them.
  const top = (isHigh(height) ? legendSpace(scene) + margin / 2 : margin) + headOf(scene.sections);
  const under = (scene.header.edges_known ? 0 : REMARK) + (scene.uses ? STRIP : 0);
  const room = { w: width - 2 * margin, h: Math.max(1, height - top - margin - under) };
  if (scene.along) return fitTime(scene, room, margin, top);
  const k = Math.max(1e-4, Math.min(FIT_ZOOM, room.w / Math.max(1, scene.width), room.h / Math.max(1, scene.height)));
  // Heads stay with the legend above them.
  const down = scene.sections.length ? 0 : (room.h - scene.height * k) / 2;
  return { k, kx: k, x: (width - scene.width * k) / 2, y: top + down };
}

/**
 * The whole launch across, the lanes as high as they can be read or fit.
 * @param {DagScene} scene @param {{w: number, h: number}} room @param {number} margin @param {number} top
 */
function fitTime(scene, room, margin, top) {
  const high = room.h - dagTime.AXIS;
  const k = Math.max(0.08, Math.min(1, high / scene.height));
  const kx = room.w / Math.max(1, scene.width);
  return { k, kx, x: margin, y: top + Math.max(0, (high - scene.height * k) / 2) };
}
