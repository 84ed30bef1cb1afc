/**
 * One frame of the timeline: axis, heads, host calls, lanes, idle strip, the join of a selection.
 *
 * @typedef {{transform: TimeTransform, theme: Theme, colour: string, laid?: LaidColours|null}} TimeStyle
 */
import { GUTTER, toX } from "../core/axis.js";
import * as canvas from "../core/canvas.js";
import * as format from "../core/format.js";
/** @import { TimeTransform } from "../core/axis.js" */
/** @import { Pen, Size, Theme } from "../core/canvas.js" */
/** @import { LaidColours } from "../overlay/colours.js" */
/** @import { SameTimes } from "./lanes/same_times.js" */
/** @import { Row } from "./rows.js" */
/** @import { TimelineScene } from "./scene.js" */
/** @import { Side, SideFacts } from "./side.js" */

/** Rows that no axis passes at their left. */
const WITHOUT_AXIS = new Set(["head", "note", "eager"]);
/** Shades of the busy strip. */
const LEVELS = 16;
/**
 * @param {Pen} ctx @param {TimelineScene} scene @param {Side} side @param {Row} row
 * @param {TimeStyle} style @param {Size} size
 */
export function drawCalls(ctx, scene, side, row, style, size) {
  const { transform: t, theme } = style;
  ctx.fillStyle = theme.host;
  let covered = -1;
  for (const call of side.calls) {
    const x = toX(t, call.start);
    const end = x + call.duration * t.k;
    if (x > size.width) break;
    if (end < GUTTER || end < covered + 0.6) continue;
    const from = Math.max(x, covered);
    const w = Math.max(1, end - from);
    ctx.fillRect(from, row.y + 1, w > 3 ? w - 1 : w, row.h - 2);
    covered = from + w;
  }
  nameCalls(ctx, scene, side, row, style, size);
}

/**
 * Names of driver calls: inside where they fit, beside where nothing follows at once.
 * @param {Pen} ctx @param {TimelineScene} scene @param {Side} side @param {Row} row
 * @param {TimeStyle} style @param {Size} size
 */
function nameCalls(ctx, scene, side, row, style, size) {
  const { transform: t, theme } = style;
  const named = side.calls.filter((call) => call.item < 0);
  // As high as the bar that it stands in.
  const px = Math.min(10, row.h - 3);
  ctx.font = canvas.font(px);
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  const y = row.y + row.h / 2 + 0.5;
  let free = GUTTER;
  named.forEach((call, n) => {
    const from = Math.max(GUTTER, toX(t, call.start));
    const end = toX(t, call.start + call.duration);
    if (end < GUTTER || from > size.width) return;
    const title = scene.titleOf(side, call);
    const w = canvas.textWidth(ctx, title, px) + 10;
    const next = n + 1 < named.length ? toX(t, named[n + 1].start) : size.width;
    const inside = Math.min(end, size.width) - from >= w;
    const at = inside ? from : Math.max(end, free);
    if (!inside && at + w > next) return;
    ctx.fillStyle = inside ? theme.inkDark : theme.muted;
    ctx.fillText(title, at + 5, y);
    free = at + w;
  });
}

/**
 * The strip under the lanes: as opaque, pixel by pixel, as the GPU is busy.
 * @param {Pen} ctx @param {Side} side @param {Row} row @param {TimeStyle} style @param {Size} size @param {SameTimes} same
 */
export function drawBusy(ctx, side, row, style, size, same) {
  const { theme } = style;
  const { first, level } = busyOf(side, style, size, same);
  const last = first + level.length;
  ctx.fillStyle = theme.idle;
  ctx.fillRect(first, row.y + row.h / 2 - 0.5, last - first, 1);
  ctx.fillStyle = theme.busy;
  for (let px = first, run = first; px < last; px = run) {
    while (run < last && level[run - first] === level[px - first]) run += 1;
    ctx.globalAlpha = (0.75 * level[px - first]) / LEVELS;
    ctx.fillRect(px, row.y + 1.5, run - px, row.h - 3);
  }
  ctx.globalAlpha = 1;
}

/**
 * How busy each pixel column is from the first on that the side has.
 * @param {Side} side @param {TimeStyle} style @param {Size} size @param {SameTimes} same
 */
export function busyOf(side, style, size, same) {
  const { transform: t } = style;
  const first = Math.max(GUTTER, Math.floor(toX(t, 0)));
  const last = Math.max(first, Math.min(size.width, Math.ceil(toX(t, side.facts.total_ns))));
  return { first, level: same.of(side, "busy", style, size, () => busyLevels(side, t, first, last)) };
}

/**
 * How busy each pixel column is, 0..LEVELS: one less the idle time in it.
 * @param {Side} side @param {TimeTransform} t @param {number} first @param {number} last
 */
function busyLevels(side, t, first, last) {
  const idle = new Float32Array(last - first);
  for (const [from, to] of side.idle) {
    const x0 = Math.max(first, toX(t, from));
    const x1 = Math.min(last, toX(t, to));
    if (toX(t, from) > last) break;
    for (let px = Math.floor(x0); px < x1; px++) {
      idle[px - first] += Math.min(x1, px + 1) - Math.max(x0, px);
    }
  }
  return Uint8Array.from(idle, (part) => Math.round(LEVELS * Math.max(0, 1 - part)));
}

/**
 * A thin hatch on nothing, so that gaps differ from spans without a colour.
 * @param {Pen} ctx @param {TimeStyle} style @param {Size} size
 */
function idleHatch(ctx, style, size) {
  const colours = { untimed: style.theme.grid, hatch: style.theme.idle };
  return canvas.hatch(ctx, colours, size.ratio);
}

/**
 * Hatched bands over a side's lanes where the GPU idles.
 * @param {Pen} ctx @param {Side} side @param {number} top @param {number} bottom
 * @param {TimeStyle} style @param {Size} size @param {SameTimes} same
 */
export function drawIdleBands(ctx, side, top, bottom, style, size, same) {
  ctx.fillStyle = idleHatch(ctx, style, size);
  for (const { x, w } of bandsOf(side, style, size, same)) ctx.fillRect(x, top, w, bottom - top);
}

/** The bands of a side. @param {Side} side @param {TimeStyle} style @param {Size} size @param {SameTimes} same */
export const bandsOf = (side, style, size, same) => same.of(side, "idle", style, size, () => idleBands(side, style.transform, size.width));

/**
 * Gaps in view that are wide enough to matter.
 * @param {Side} side @param {TimeTransform} t @param {number} right
 */
function idleBands(side, t, right) {
  const found = [];
  for (const [from, to] of side.idle) {
    const x = toX(t, from);
    const w = (to - from) * t.k;
    if (x > right) break;
    if (w >= 1.5 && x + w > GUTTER) found.push({ x, w });
  }
  return found;
}

/**
 * @param {Pen} ctx @param {Side} side @param {{top: number, bottom: number, label: number}} given
 * @param {TimeStyle} style @param {Size} size
 */
export function drawEnd(ctx, side, { top, bottom, label }, style, size) {
  const x = Math.round(toX(style.transform, side.facts.total_ns)) + 0.5;
  if (x < GUTTER || x > size.width) return;
  ctx.strokeStyle = style.theme.accent;
  ctx.lineWidth = 1;
  ctx.setLineDash([3, 3]);
  ctx.beginPath();
  ctx.moveTo(x, top);
  ctx.lineTo(x, bottom);
  ctx.stroke();
  ctx.setLineDash([]);
  const text = format.duration(side.facts.total_ns);
  ctx.font = canvas.font(11, 600);
  const w = canvas.textWidth(ctx, text, 11, 600);
  const left = x + w + 8 > size.width;
  ctx.textAlign = left ? "right" : "left";
  ctx.textBaseline = "middle";
  ctx.fillStyle = style.theme.accent;
  ctx.fillText(text, left ? x - 5 : x + 5, label);
}

/**
 * Labels at the left, which stay while the times move.
 * @param {Pen} ctx @param {Row[]} rows @param {TimeStyle} style
 */
export function drawGutter(ctx, rows, style) {
  const { theme } = style;
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  for (const row of rows) {
    if (row.kind === "head" || row.kind === "note" || !row.label) continue;
    const px = row.kind === "lane" ? Math.min(11, Math.max(9, row.middle || row.h)) : 9.5;
    ctx.font = canvas.font(px);
    ctx.fillStyle = theme.muted;
    ctx.fillText(row.label, GUTTER - 10, row.y + (row.middle || row.h / 2) + 0.5);
  }
  ctx.fillStyle = theme.line;
  for (const row of rows) {
    if (!WITHOUT_AXIS.has(row.kind)) ctx.fillRect(GUTTER - 4, row.y - 2, 1, row.h + 5);
  }
}

/** @param {Pen} ctx @param {Row} row @param {TimeStyle} style @param {Size} size */
export function drawNote(ctx, row, style, size) {
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.font = canvas.font(12);
  ctx.fillStyle = style.theme.muted;
  const lines = wrap(ctx, row.label ?? "", 12, size.width - GUTTER - 24);
  lines.forEach((line, n) => ctx.fillText(line, GUTTER + 6, row.y + 12 + 17 * n));
}

/** @param {Pen} ctx @param {string} text @param {number} px @param {number} room */
function wrap(ctx, text, px, room) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = `${lines[lines.length - 1]} ${word}`.trim();
    if (canvas.textWidth(ctx, longer, px) > room && lines[lines.length - 1]) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}
