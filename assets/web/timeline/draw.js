/**
 * One frame of the timeline: axis, heads, host calls, lanes, idle strip, the join of a selection.
 *
 * @typedef {{transform: TimeTransform, theme: Theme, colour: string, laid?: LaidColours|null}} TimeStyle
 * @typedef {[number, number, number, string]} Name  of an interval: from where to where, and its ink
 */
import { GUTTER, toX } from "../core/axis.js";
import * as canvas from "../core/canvas.js";
import * as colour from "../core/colour.js";
import * as format from "../core/format.js";
import * as timelineSearch from "./search.js";
/** @import { TimeTransform } from "../core/axis.js" */
/** @import { Pen, Size, Theme } from "../core/canvas.js" */
/** @import { LaidColours } from "../overlay/colours.js" */
/** @import { Row } from "./rows.js" */
/** @import { TimelineScene } from "./scene.js" */
/** @import { Side, SideFacts, SideSpans } from "./side.js" */

/** Rows that no axis passes at their left. */
const WITHOUT_AXIS = new Set(["head", "note", "eager"]);
/** Shades of the busy strip. */
const LEVELS = 16;
/** @param {TimelineScene} scene @param {SideSpans} side @param {number} i @param {TimeStyle} style */
function fillOf(scene, side, i, style) {
  if (style.laid) return style.laid.paint(style.laid.laid.of(side.nodeId[i]), style.theme) ?? { fill: style.theme.untimed, ink: style.theme.ink };
  if (scene.changes?.has(style.colour)) return scene.changes.paint(side.nodeId[i], style.colour, style.theme);
  if (style.colour === "family" && side.family) {
    return { fill: colour.ofFamily(side.family[i]), ink: style.theme.inkDark };
  }
  if (style.colour === "kind") {
    return {
      fill: colour.ofKind(scene.kindOf(side, i), style.theme.name),
      ink: style.theme.inkDark,
    };
  }
  const ramp = colour.ramp(style.theme.name);
  const step = side.step[i];
  const ink = ramp.darkText[step] ? style.theme.inkDark : style.theme.inkLight;
  return { fill: ramp.css[step], ink };
}

/**
 * What paints spans: one value for all that have the same colour, as there may be a million.
 * @param {TimelineScene} scene @param {SideSpans} side @param {TimeStyle} style
 */
function painterOf(scene, side, style) {
  const isOwn = !!style.laid || !!scene.changes?.has(style.colour);
  const alike = style.colour === "family" && side.family ? side.family : style.colour === "kind" ? side.type : side.step;
  /** @type {{fill: string, ink: string}[]} */ const made = [];
  return (/** @type {number} */ i) => (isOwn ? fillOf(scene, side, i, style) : (made[alike[i]] ??= fillOf(scene, side, i, style)));
}

/**
 * The words that a pen keeps with the shape of a span, where it does.
 * @param {Pen} ctx @param {TimelineScene} scene @param {SideSpans} side @param {number} i
 */
function name(ctx, scene, side, i) {
  ctx.about?.(`${scene.wholeNameOf(side, i)} · ${format.duration(side.slowest[i])}`);
}

/** The colours of spans that share a pixel, as parts of its height. */
class Mix {
  constructor() {
    /** @type {Map<string, number>} */ this.parts = new Map();
  }

  /** @param {string} fill @param {number} ns */
  add(fill, ns) {
    this.parts.set(fill, (this.parts.get(fill) ?? 0) + ns);
  }

  /** @param {string} fill */
  only(fill) {
    this.parts.clear();
    this.parts.set(fill, 1);
  }

  /** Draw them, the largest part first, and begin anew. @param {Pen} ctx @param {{x: number, w: number}} at @param {Row} row */
  draw(ctx, { x, w }, row) {
    const parts = Array.from(this.parts).sort(([, a], [, b]) => b - a);
    const whole = parts.reduce((sum, [, ns]) => sum + ns, 0);
    let before = 0;
    for (const [fill, ns] of parts) {
      const part = whole > 0 ? ns / whole : 1 / parts.length;
      ctx.fillStyle = fill;
      ctx.fillRect(x, row.y + before * row.h, w, part * row.h);
      before += part;
    }
    this.parts.clear();
  }
}

/**
 * Bars of one lane; those that share a pixel become one: of what is coloured by time the slowest, else
 * each colour has its part of the height.
 * @param {Pen} ctx @param {TimelineScene} scene @param {SideSpans} side @param {Row} row
 * @param {TimeStyle} style @param {Size} size @param {boolean} dim faded, names apart
 * @param {Set<number>|null} [only] spans of these nodes
 */
export function drawLane(ctx, scene, side, row, style, size, dim, only = null) {
  const { transform: t } = style;
  const { items } = side.lanes[row.lane];
  const right = size.width;
  const rim = row.h > 9 ? 3 : 1.5;
  /** @type {Name[]} */
  const texts = [];
  /** @type {{x: number, w: number, item: number}|null} */
  let held = null;
  const mix = new Mix();
  const paint = painterOf(scene, side, style);
  const flush = () => {
    if (!held) return;
    name(ctx, scene, side, held.item);
    mix.draw(ctx, held, row);
    held = null;
  };
  /** The colour of a span that shares a pixel: by time the slowest's, else a part of the pixel's. @param {number} i */
  const hold = (i) => {
    if (style.colour === "duration") mix.only(paint(/** @type {{item: number}} */ (held).item).fill);
    else mix.add(paint(i).fill, side.duration[i]);
  };
  ctx.globalAlpha = dim ? 1 - canvas.VEIL : 1;
  ctx.strokeStyle = style.theme.outline;
  ctx.lineWidth = 0.75;
  const leftNs = (0 - t.x) / t.k;
  for (let n = timelineSearch.firstAfter(side, items, leftNs); n < items.length; n++) {
    const i = items[n];
    const x = toX(t, side.start[i]);
    if (x > right) break;
    if (only && !only.has(side.nodeId[i])) continue;
    const w = side.duration[i] * t.k;
    if (w < 2) {
      const px = Math.floor(x);
      if (held && px <= held.x + held.w - 1) {
        if (side.step[i] > side.step[held.item]) held.item = i;
        held.w = Math.max(held.w, Math.ceil(x + w) - held.x);
        hold(i);
        if (held.w > 3) flush();
      } else {
        flush();
        held = { x: px, w: Math.max(1, Math.ceil(w)), item: i };
        hold(i);
      }
      continue;
    }
    flush();
    const { fill, ink } = paint(i);
    ctx.fillStyle = fill;
    name(ctx, scene, side, i);
    if (w > 6) {
      ctx.beginPath();
      canvas.roundRect(ctx, x, row.y, w - 0.75, row.h, Math.min(rim, w / 5));
      ctx.fill();
      if (row.h > 9) ctx.stroke();
    } else ctx.fillRect(x, row.y, w - (w > 3 ? 0.75 : 0), row.h);
    if (w > 30 && row.h >= 11) texts.push([i, Math.max(x, GUTTER), Math.min(x + w, right), dim ? style.theme.ink : ink]);
  }
  flush();
  ctx.globalAlpha = 1;
  drawNames(ctx, scene, side, row, texts);
}

/**
 * @param {Pen} ctx @param {TimelineScene} scene @param {SideSpans} side @param {Row} row
 * @param {Name[]} texts
 */
function drawNames(ctx, scene, side, row, texts) {
  const px = Math.min(11.5, Math.max(9, row.h * 0.55));
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  for (const [i, left, right, ink] of texts) {
    const text = canvas.fitText(ctx, scene.nameOf(side, i), px, right - left - 9, 500);
    if (!text) continue;
    ctx.font = canvas.font(px, 500);
    ctx.fillStyle = ink;
    ctx.fillText(text, left + 5, row.y + row.h / 2 + 0.5);
  }
}

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
 * @param {Pen} ctx @param {Side} side @param {Row} row @param {TimeStyle} style @param {Size} size
 */
export function drawBusy(ctx, side, row, style, size) {
  const { transform: t, theme } = style;
  const first = Math.max(GUTTER, Math.floor(toX(t, 0)));
  const last = Math.min(size.width, Math.ceil(toX(t, side.facts.total_ns)));
  if (last <= first) return;
  const level = busyLevels(side, t, first, last);
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
 * Hatched bands over a side's lanes where the GPU idles, when they are wide enough to matter.
 * @param {Pen} ctx @param {Side} side @param {number} top @param {number} bottom
 * @param {TimeStyle} style @param {Size} size
 */
export function drawIdleBands(ctx, side, top, bottom, style, size) {
  const { transform: t } = style;
  ctx.fillStyle = idleHatch(ctx, style, size);
  for (const [from, to] of side.idle) {
    const x = toX(t, from);
    const w = (to - from) * t.k;
    if (x > size.width) break;
    if (w >= 1.5 && x + w > GUTTER) ctx.fillRect(x, top, w, bottom - top);
  }
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
