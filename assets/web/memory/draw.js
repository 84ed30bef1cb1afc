/**
 * One frame of the memory view: axis, steps, the map of addresses, other allocations, the pool.
 *
 * @typedef {{transform: TimeTransform, theme: Theme, pattern: CanvasPattern}} MemoryStyle
 * @typedef {{x: number, y: number, w: number, h: number}} BarBox  on screen
 */
import { AXIS, GUTTER, drawAxis as drawTimeAxis, toX } from "../core/axis.js";
import * as canvas from "../core/canvas.js";
import * as colour from "../core/colour.js";
import * as format from "../core/format.js";
/** @import { TimeTransform } from "../core/axis.js" */
/** @import { Pen, Size, Theme } from "../core/canvas.js" */
/** @import { Bar, MemoryRow, MemoryScene, Peak, Spans } from "./scene.js" */

/** Bars are at least so high and wide (CSS pixels), so that a small one can be met. */
const LEAST = 3;
/** Measured amounts far above the steps are written, not drawn: they would flatten the steps. */
const TALL = 4;
const USE = 3;
/** Room right of the pool's lines for what they are. */
const POOL_TEXT = 112;

/** @param {Theme} theme */
function fillOf(theme) {
  return colour.ofKind("MEM_ALLOC", theme.name);
}

/**
 * From where to where a bar is drawn; what lives beyond the launch reaches the edges.
 * @param {Bar} bar @param {TimeTransform} t @param {Size} size
 */
function rangeOf(bar, t, size) {
  const left = Number.isNaN(bar.start) ? GUTTER : toX(t, bar.start);
  const right = Number.isNaN(bar.end) ? size.width : toX(t, bar.end);
  return { left, right: Math.max(right, left + LEAST) };
}

/**
 * The box of a bar on screen, in its row.
 * @param {MemoryScene} scene @param {Bar} bar @param {MemoryRow} row @param {TimeTransform} t
 * @param {Size} size
 */
export function boxOf(scene, bar, row, t, size) {
  const { left, right } = rangeOf(bar, t, size);
  if (!bar.life) return { x: left, y: row.y + 2, w: right - left, h: row.h - 4 };
  const scale = row.h / Math.max(1, scene.depth);
  const h = Math.max(LEAST, bar.bytes * scale);
  return { x: left, y: row.y + Math.min(bar.offset * scale, row.h - h), w: right - left, h };
}

/** @param {Pen} ctx @param {MemoryScene} scene @param {MemoryStyle} style @param {Size} size */
export function drawAxis(ctx, scene, style, size) {
  if (scene.timed) return drawTimeAxis(ctx, style, size, size.height);
  const { transform: t, theme } = style;
  const step = Math.max(1, Math.ceil(60 / t.k));
  ctx.font = canvas.font(10.5);
  ctx.textBaseline = "middle";
  ctx.textAlign = "center";
  for (let n = Math.max(0, Math.floor(-t.x / t.k)); n <= scene.header.total; n += 1) {
    const x = toX(t, n);
    if (n % step || x < GUTTER || x > size.width) continue;
    ctx.fillStyle = theme.grid;
    ctx.fillRect(x, AXIS - 5, 1, size.height);
    ctx.fillStyle = theme.muted;
    ctx.fillText(`${n}`, x, 11);
  }
}

/**
 * @param {Pen} ctx @param {MemoryRow} row @param {string[]} facts @param {MemoryStyle} style
 * @param {Size} size
 */
export function drawHead(ctx, row, facts, style, size) {
  const { theme } = style;
  const y = row.y + row.h / 2 + 3;
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  ctx.fillStyle = theme.ink;
  ctx.font = canvas.font(12.5, 650);
  ctx.fillText(row.title ?? "", 12, y);
  let x = 12 + canvas.textWidth(ctx, row.title ?? "", 12.5, 650) + 12;
  ctx.font = canvas.font(11.5);
  ctx.fillStyle = theme.muted;
  // The first head shares its line with the buttons.
  const right = size.width - (row.y < 40 ? size.buttons + 14 : 8);
  for (const text of facts) {
    const w = canvas.textWidth(ctx, text, 11.5);
    if (x + w > right) break;
    ctx.fillText(text, x, y);
    x += w + 14;
  }
}

/** Height of the text over the peak. */
const PEAK_TEXT = 18;

/**
 * What the height of a chart stands for: above the greatest amount is room for what it is called.
 * @param {{bytes: number}[]} amounts @param {number} height
 */
export function mostOf(amounts, height) {
  const most = Math.max(...amounts.map(({ bytes }) => bytes));
  return (most * height) / Math.max(1, height - PEAK_TEXT) || 1;
}

/**
 * Measured amounts of the pool that fit the scale of the steps.
 * @param {MemoryScene} scene
 */
export function linesOf(scene) {
  const p = scene.payload;
  const last = p.pool_time.length - 1;
  if (last < 0) return [];
  const found = [
    { name: "most used (pool)", bytes: p.pool_used_high[last], dash: [2, 3] },
    { name: "reserved (pool)", bytes: p.pool_reserved[last], dash: [7, 4] },
  ];
  return found.filter(({ bytes }) => bytes > 0 && bytes <= TALL * (scene.peak?.bytes ?? 0));
}

/**
 * The steps of what is allocated, the peak, and what the pool held.
 * @param {Pen} ctx @param {MemoryScene} scene @param {MemoryRow} row @param {MemoryStyle} style
 * @param {Size} size
 */
export function drawChart(ctx, scene, row, style, size) {
  const { transform: t, theme } = style;
  const { step_time: time, step_bytes: bytes } = scene.payload;
  const { peak } = scene;
  if (!peak) return;
  const lines = linesOf(scene);
  const most = mostOf([peak, ...lines], row.h);
  /** @param {number} n */
  const toY = (n) => row.y + row.h * (1 - n / most);
  ctx.beginPath();
  ctx.moveTo(toX(t, 0), row.y + row.h);
  let level = 0;
  for (let n = 0; n < time.length; n++) {
    ctx.lineTo(toX(t, time[n]), toY(level));
    level = bytes[n];
    ctx.lineTo(toX(t, time[n]), toY(level));
  }
  ctx.lineTo(toX(t, scene.header.total), toY(level));
  ctx.lineTo(toX(t, scene.header.total), row.y + row.h);
  ctx.closePath();
  ctx.globalAlpha = 0.35;
  ctx.fillStyle = fillOf(theme);
  ctx.fill();
  ctx.globalAlpha = 1;
  ctx.strokeStyle = fillOf(theme);
  ctx.lineWidth = 1.5;
  ctx.stroke();
  for (const line of lines) drawLevel(ctx, line, toY(line.bytes), style, size);
  drawPeak(ctx, peak, toX(t, peak.time), toY(peak.bytes), style, size);
}

/**
 * @param {Pen} ctx @param {{name: string, bytes: number, dash: number[]}} given @param {number} y
 * @param {{theme: Theme}} given @param {Size} size
 */
function drawLevel(ctx, { name, bytes, dash }, y, { theme }, size) {
  ctx.beginPath();
  ctx.moveTo(GUTTER, y);
  ctx.lineTo(size.width, y);
  ctx.setLineDash(dash);
  ctx.strokeStyle = theme.muted;
  ctx.lineWidth = 1;
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.font = canvas.font(10);
  ctx.textAlign = "right";
  ctx.textBaseline = "top";
  ctx.fillStyle = theme.muted;
  ctx.fillText(`${name} ${format.byteSize(bytes)}`, size.width - 6, y + 2);
}

/**
 * @param {Pen} ctx @param {Peak} peak @param {number} x @param {number} y
 * @param {{theme: Theme}} given @param {Size} size
 */
function drawPeak(ctx, peak, x, y, { theme }, size) {
  ctx.beginPath();
  ctx.arc(x, y, 3.5, 0, 2 * Math.PI);
  ctx.fillStyle = theme.ink;
  ctx.fill();
  const text = `peak ${format.byteSize(peak.bytes)}`;
  const w = canvas.textWidth(ctx, text, 11, 600);
  ctx.font = canvas.font(11, 600);
  ctx.textBaseline = "bottom";
  ctx.textAlign = x + w + 10 > size.width ? "right" : "left";
  ctx.fillText(text, x + (ctx.textAlign === "left" ? 6 : -6), y - 2);
}

/**
 * A bar, the nodes that are given it as strokes along its foot, and its size.
 * @param {Pen} ctx @param {MemoryScene} scene @param {Bar} bar @param {BarBox} box
 * @param {MemoryStyle} style @param {Size} size @param {{dim: boolean, ring: number}} look
 */
export function drawBar(ctx, scene, bar, box, style, size, look) {
  const { transform: t, theme } = style;
  const fade = look.dim ? 0.3 : 1;
  ctx.globalAlpha = fade;
  // What lives is a block; what is only given is a line with its uses.
  const foot = bar.life ? Math.min(USE, box.h / 2) : box.h - 1;
  ctx.fillStyle = bar.life ? fillOf(theme) : theme.host;
  ctx.about?.(`${format.byteSize(bar.bytes)} at ${scene.addressOf(bar.allocation)}`);
  if (bar.life) ctx.fillRect(box.x, box.y, Math.max(LEAST, box.w - 0.75), Math.max(LEAST, box.h - 0.75));
  else ctx.fillRect(box.x, box.y + box.h / 2 - 1, box.w, 2);
  if (bar.life && bar.free === null) drawOpenEnd(ctx, scene, box, style, size);
  ctx.fillStyle = bar.life ? theme.inkDark : theme.busy;
  drawUses(ctx, bar.spans, box.y + box.h - foot - 1, foot, t, size);
  // Names do not fade.
  ctx.globalAlpha = 1;
  if (bar.life) {
    ctx.strokeStyle = theme.outline;
    ctx.lineWidth = 1;
    ctx.strokeRect(box.x + 0.5, box.y + 0.5, Math.max(LEAST, box.w - 0.75) - 1, Math.max(LEAST, box.h - 0.75) - 1);
    drawWords(ctx, bar, box, style, size, look.dim ? theme.ink : theme.inkDark);
  }
  if (look.ring) {
    ctx.strokeStyle = theme.accent;
    ctx.lineWidth = look.ring;
    ctx.strokeRect(box.x - 1, box.y - 1, box.w + 1.5, box.h + 1.5);
  }
}

/**
 * When nodes are given it, as strokes; those that share a pixel are one.
 * @param {Pen} ctx @param {Spans} given @param {number} y @param {number} h
 * @param {TimeTransform} t @param {Size} size
 */
function drawUses(ctx, { start, end }, y, h, t, size) {
  let covered = GUTTER;
  for (let n = 0; n < start.length; n++) {
    const from = Math.max(covered, toX(t, start[n]));
    if (from > size.width) break;
    const to = Math.max(Math.floor(from) + 1, toX(t, end[n]));
    if (toX(t, end[n]) < covered) continue;
    ctx.fillRect(from, y, to - from, h);
    covered = to;
  }
}

/**
 * Beyond the launch: hatched, as its end is not recorded.
 * @param {Pen} ctx @param {MemoryScene} scene @param {BarBox} box @param {MemoryStyle} style
 * @param {Size} size
 */
function drawOpenEnd(ctx, scene, box, style, size) {
  const from = Math.max(box.x, toX(style.transform, scene.header.total));
  if (from >= size.width) return;
  ctx.fillStyle = style.pattern;
  ctx.fillRect(from, box.y, size.width - from, box.h - 0.75);
}

/**
 * @param {Pen} ctx @param {Bar} bar @param {BarBox} box @param {MemoryStyle} style @param {Size} size
 * @param {string} ink
 */
function drawWords(ctx, bar, box, style, size, ink) {
  if (box.h < 11) return;
  const left = Math.max(box.x, GUTTER) + 5;
  const room = Math.min(box.x + box.w, size.width) - left - 5;
  const px = Math.min(11.5, Math.max(9, box.h * 0.6));
  const open = bar.free === null ? ", not freed here" : "";
  const words = `${format.byteSize(bar.bytes)}${open}`;
  const text = canvas.textWidth(ctx, words, px, 500) <= room ? words : "";
  if (!text) return;
  ctx.font = canvas.font(px, 500);
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.fillStyle = ink;
  ctx.fillText(text, left, box.y + Math.min(box.h / 2, 12) + 0.5);
}

/**
 * Where ranges of addresses begin, at the left; and lines between ranges.
 * @param {Pen} ctx @param {MemoryScene} scene @param {MemoryRow} row @param {MemoryStyle} style
 * @param {Size} size
 */
export function drawRanges(ctx, scene, row, style, size) {
  const p = scene.payload;
  ctx.textAlign = "right";
  ctx.textBaseline = "top";
  let free = -Infinity;
  for (let n = 0; n < p.range_offset.length; n++) {
    const y = row.y + (row.h * p.range_offset[n]) / Math.max(1, scene.depth);
    if (n) {
      ctx.fillStyle = style.theme.line;
      ctx.fillRect(GUTTER, y - 0.5, size.width - GUTTER, 1);
    }
    if (y < free) continue;
    ctx.font = canvas.font(9.5);
    ctx.fillStyle = style.theme.muted;
    ctx.fillText(scene.hex(p.range_high[n], p.range_low[n]), GUTTER - 8, y + 1);
    free = y + 12;
  }
}

/**
 * What the pool held over the run: reserved as a line, used as an area, a device each.
 * @param {Pen} ctx @param {MemoryScene} scene @param {MemoryRow} row @param {MemoryStyle} style
 * @param {Size} size
 */
export function drawPool(ctx, scene, row, style, size) {
  const p = scene.payload;
  const after = scene.header.launch_after_ns;
  const total = Math.max(1, ...p.pool_time, after || 0);
  /** @param {number} ns */
  const toPoolX = (ns) => GUTTER + ((size.width - GUTTER - POOL_TEXT) * ns) / total;
  const most = Math.max(1, ...p.pool_reserved, ...p.pool_used) * 1.1;
  const base = row.y + row.h - 6;
  /** @param {number} n */
  const toY = (n) => base - (row.h - 12) * (n / most);
  const devices = /** @type {Int32Array} */ (p.pool_device);
  for (const device of new Set(devices)) {
    const at = Array.from(devices.keys()).filter((n) => devices[n] === device);
    for (const { name, dash } of [{ name: "used", dash: [] }, { name: "reserved", dash: [7, 4] }]) {
      const values = p[`pool_${name}`];
      ctx.beginPath();
      at.forEach((n, step) => {
        if (step) ctx.lineTo(toPoolX(p.pool_time[n]), toY(values[at[step - 1]]));
        ctx[step ? "lineTo" : "moveTo"](toPoolX(p.pool_time[n]), toY(values[n]));
      });
      const last = at[at.length - 1];
      ctx.lineTo(toPoolX(total), toY(values[last]));
      ctx.setLineDash(dash);
      ctx.strokeStyle = name === "used" ? fillOf(style.theme) : style.theme.muted;
      ctx.lineWidth = name === "used" ? 2 : 1.25;
      ctx.stroke();
      ctx.setLineDash([]);
      ctx.font = canvas.font(10);
      ctx.textAlign = "left";
      ctx.textBaseline = name === "used" ? "top" : "bottom";
      ctx.fillStyle = style.theme.muted;
      ctx.fillText(`${name} ${format.byteSize(values[last])}`, toPoolX(total) + 4, toY(values[last]));
    }
  }
  ctx.fillStyle = style.theme.line;
  ctx.fillRect(GUTTER, base, size.width - GUTTER - POOL_TEXT, 1);
  if (after !== null) drawMoment(ctx, toPoolX(after), row, style);
}

/** @param {Pen} ctx @param {number} x @param {MemoryRow} row @param {{theme: Theme}} given */
function drawMoment(ctx, x, row, { theme }) {
  ctx.setLineDash([3, 3]);
  ctx.beginPath();
  ctx.moveTo(x, row.y);
  ctx.lineTo(x, row.y + row.h);
  ctx.strokeStyle = theme.accent;
  ctx.lineWidth = 1;
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.font = canvas.font(10);
  ctx.textAlign = "right";
  ctx.textBaseline = "top";
  ctx.fillStyle = theme.accent;
  ctx.fillText("this launch", x - 4, row.y);
}
