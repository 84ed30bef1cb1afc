/**
 * The plane of the DAG and what it is drawn with.
 *
 * @typedef {{k: number, kx: number, x: number, y: number}} Transform  pixels of the screen a unit
 * of the plane, down and across, and where its corner is
 * @typedef {{transform: Transform, theme: Theme, overlay: Overlay, pattern: CanvasPattern,
 * faded?: boolean, unnamed?: boolean}} Style  `pattern`: the hatch
 * @typedef {{selected: number[], hovered: number, edge: number, users: number[],
 * buffers: Buffer[]}} Marks  items; hovered and edge -1 for none
 * @typedef {(edges: number[], colour: string, width: number, dash?: number[]|null) => void} Stroke
 * @typedef {{x: number, y: number, w: number, h: number}} Spot  a rectangle on screen
 * @typedef {Pick<CanvasPath, "moveTo"|"lineTo"|"bezierCurveTo"|"arcTo">} Track  where an edge runs: a pen, or
 *   a path to be hit
 */
/** @import { Size, Theme } from "../../core/canvas.js" */
/** @import { Overlay } from "../overlay/overlay.js" */
/** @import { Buffer } from "../scene/uses.js" */

/**
 * The part of the plane on screen.
 * @param {Transform} t @param {Size} size
 */
export function viewOf(t, size) {
  return {
    left: -t.x / t.kx,
    top: -t.y / t.k,
    right: (size.width - t.x) / t.kx,
    bottom: (size.height - t.y) / t.k,
  };
}
