/**
 * A time axis: round ticks with one unit for all of them.
 *
 * @typedef {{k: number, x: number}} TimeTransform  pixels a nanosecond, and how far zero is shifted
 */
import * as canvas from "./canvas.js";
import * as format from "./format.js";
/** @import { Pen, Size, Theme } from "./canvas.js" */

/** Left of the times stand labels, so wide (CSS pixels). */
export const GUTTER = 108;
/** Height of the axis of timeline and memory view. */
export const AXIS = 26;
/** Ticks stand at least this far apart (CSS pixels): room for "1,234.5 µs". */
const APART = 84;

/**
 * The least of 1, 2, 5 times a power of ten that is not below `raw`.
 * @param {number} raw
 */
function roundStep(raw) {
  const power = 10 ** Math.floor(Math.log10(raw));
  const lead = raw / power;
  return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

/**
 * Ticks of a range.
 * @param {number} from ns @param {number} to ns @param {number} width CSS pixels
 * @returns {{ns: number, text: string}[]}
 */
export function ticks(from, to, width) {
  const step = Math.max(1, roundStep(((to - from) / Math.max(1, width)) * APART));
  const [size, unit] = format.axisUnit(Math.max(step, Math.abs(to) / 2000));
  const digits = Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9));
  const found = [];
  for (let n = Math.ceil(from / step); n * step <= to; n++) {
    const value = (n * step) / size;
    found.push({ ns: n * step, text: n === 0 ? "0" : `${format.fixed(value, digits)} ${unit}` });
  }
  return found;
}

/**
 * Horizontal place of a time.
 * @param {{k: number, x: number}} t  px = GUTTER + x + k * ns @param {number} ns
 */
export function toX(t, ns) {
  return GUTTER + t.x + t.k * ns;
}

/**
 * @param {Pen} ctx @param {{transform: TimeTransform, theme: Theme}} style @param {Size} size
 * @param {number} bottom
 */
export function drawAxis(ctx, style, size, bottom) {
  drawTicks(ctx, style, size, 11, AXIS - 5 + bottom);
}

/**
 * Ticks with their times at a height, and a line down from each to a bottom.
 * @param {Pen} ctx @param {{transform: TimeTransform, theme: Theme}} style @param {Size} size
 * @param {number} y @param {number} bottom
 */
export function drawTicks(ctx, style, size, y, bottom) {
  const { transform: t, theme } = style;
  const top = y + AXIS / 2 - 3;
  const from = -t.x / t.k;
  const to = (size.width - GUTTER - t.x) / t.k;
  ctx.font = canvas.font(10.5);
  ctx.textBaseline = "middle";
  for (const tick of ticks(Math.max(0, from), to, size.width - GUTTER)) {
    const x = Math.round(toX(t, tick.ns)) + 0.5;
    if (x < GUTTER - 1) continue;
    ctx.fillStyle = theme.grid;
    ctx.fillRect(x - 0.5, top, 1, bottom - top);
    const half = canvas.textWidth(ctx, tick.text, 10.5) / 2;
    if (x + half > size.width - 4) continue;
    ctx.fillStyle = theme.muted;
    ctx.textAlign = x < GUTTER + half ? "left" : "center";
    ctx.fillText(tick.text, x, y);
  }
}
