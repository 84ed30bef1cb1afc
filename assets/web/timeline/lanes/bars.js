/**
 * The bars of a lane; spans that share a pixel are one: of what is coloured by time the slowest, else
 * each colour has its part of the height.
 *
 * @typedef {{fill: string, ink: string}} Paint
 * @typedef {{x: number, w: number, item: number, paint: Paint, parts: [string, number][]|null}} Bar  on screen; `item` is
 *   its span, or the slowest of those that share it; `parts`: of these the colours, the largest part first, and the share of each
 * @typedef {[number, number, number, string]} Name  of an interval: from where to where, and its ink
 */
import { GUTTER, toX } from "../../core/axis.js";
import * as canvas from "../../core/canvas.js";
import * as colour from "../../core/colour.js";
import * as format from "../../core/format.js";
import * as timelineSearch from "../search.js";
/** @import { Pen, Size } from "../../core/canvas.js" */
/** @import { TimeStyle } from "../draw.js" */
/** @import { Row } from "../rows.js" */
/** @import { TimelineScene } from "../scene.js" */
/** @import { SideSpans } from "../side.js" */

/** @param {TimelineScene} scene @param {SideSpans} side @param {number} i @param {TimeStyle} style @returns {Paint} */
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
  /** @type {Paint[]} */ const made = [];
  return (/** @type {number} */ i) => (isOwn ? fillOf(scene, side, i, style) : (made[alike[i]] ??= fillOf(scene, side, i, style)));
}

/**
 * The fill of a span among others in a pixel.
 * @param {SideSpans} side @param {TimeStyle} style @param {(i: number) => Paint} paint @returns {(i: number) => string}
 */
function sharedFillOf(side, { laid, theme }, paint) {
  return laid ? (i) => laid.sharedFill(laid.laid.of(side.nodeId[i]), theme) ?? theme.untimed : (i) => paint(i).fill;
}

/** Spans narrower than a pixel or two, as the bar that they share. */
class Shared {
  /** @param {SideSpans} side @param {TimeStyle} style @param {(i: number) => Paint} paint */
  constructor(side, style, paint) {
    this.side = side;
    this.paint = paint;
    this.fillOf = sharedFillOf(side, style, paint);
    /** The slowest has the bar's colour. */ this.isByTime = style.colour === "duration";
    /** @type {Map<string, number>} */ this.parts = new Map();
    this.x = this.w = 0;
    this.item = -1;
  }

  /** @param {number} x @param {number} w 0: there is none @param {number} item */
  begin(x, w, item) {
    this.x = x;
    this.w = w;
    this.item = item;
    this.parts.clear();
  }

  /** @param {number} i */
  add(i) {
    if (this.side.step[i] > this.side.step[this.item]) this.item = i;
    if (this.isByTime) return;
    const fill = this.fillOf(i);
    this.parts.set(fill, (this.parts.get(fill) ?? 0) + this.side.duration[i]);
  }

  /** @returns {Bar} */
  end() {
    const { x, w, item } = this;
    const own = this.paint(item);
    if (this.isByTime) return { x, w, item, paint: own, parts: [[own.fill, 1]] };
    const parts = Array.from(this.parts).sort(([, a], [, b]) => b - a);
    const whole = parts.reduce((sum, [, ns]) => sum + ns, 0);
    const shares = parts.map(([fill, ns]) => /** @type {[string, number]} */ ([fill, whole > 0 ? ns / whole : 1 / parts.length]));
    return { x, w, item, paint: own, parts: shares };
  }
}

/**
 * The bars that are in view.
 * @param {TimelineScene} scene @param {SideSpans} side @param {Int32Array} items of the side, in order of start
 * @param {TimeStyle} style @param {number} right @param {Set<number>|null} [only] spans of these nodes
 */
export function barsOf(scene, side, items, style, right, only = null) {
  const { transform: t } = style;
  /** @type {Bar[]} */
  const bars = [];
  const paint = painterOf(scene, side, style);
  const shared = new Shared(side, style, paint);
  const flush = () => {
    if (shared.w) bars.push(shared.end());
    shared.begin(0, 0, -1);
  };
  for (let n = timelineSearch.firstAfter(side, items, (0 - t.x) / t.k); n < items.length; n++) {
    const i = items[n];
    const x = toX(t, side.start[i]);
    if (x > right) break;
    if (only && !only.has(side.nodeId[i])) continue;
    const w = side.duration[i] * t.k;
    if (w >= 2) {
      flush();
      bars.push({ x, w, item: i, paint: paint(i), parts: null });
      continue;
    }
    const px = Math.floor(x);
    if (shared.w && px <= shared.x + shared.w - 1) {
      shared.w = Math.max(shared.w, Math.ceil(x + w) - shared.x);
      shared.add(i);
      if (shared.w > 3) flush();
    } else {
      flush();
      shared.begin(px, Math.max(1, Math.ceil(w)), i);
      shared.add(i);
    }
  }
  flush();
  return bars;
}

/**
 * Draw the bars of a lane.
 * @param {Pen} ctx @param {TimelineScene} scene @param {SideSpans} side @param {Bar[]} bars @param {Row} row
 * @param {TimeStyle} style @param {Size} size @param {boolean} dim faded, names apart
 */
export function draw(ctx, scene, side, bars, row, style, size, dim) {
  /** @type {Name[]} */
  const texts = [];
  ctx.globalAlpha = dim ? 1 - canvas.VEIL : 1;
  ctx.strokeStyle = style.theme.outline;
  ctx.lineWidth = 0.75;
  for (const bar of bars) {
    const { x, w, item } = bar;
    ctx.about?.(`${scene.wholeNameOf(side, item)} · ${format.duration(side.slowest[item])}`);
    if (bar.parts) drawParts(ctx, bar.parts, bar, row);
    else drawBar(ctx, bar, row);
    if (w > 30 && row.h >= 11) texts.push([item, Math.max(x, GUTTER), Math.min(x + w, size.width), dim ? style.theme.ink : bar.paint.ink]);
  }
  ctx.globalAlpha = 1;
  drawNames(ctx, scene, side, row, texts);
}

/** @param {Pen} ctx @param {[string, number][]} parts @param {Bar} bar @param {Row} row */
function drawParts(ctx, parts, { x, w }, row) {
  let before = 0;
  for (const [fill, part] of parts) {
    ctx.fillStyle = fill;
    ctx.fillRect(x, row.y + before * row.h, w, part * row.h);
    before += part;
  }
}

/** A span that has pixels of its own. @param {Pen} ctx @param {Bar} bar @param {Row} row */
function drawBar(ctx, { x, w, paint }, row) {
  const rim = row.h > 9 ? 3 : 1.5;
  ctx.fillStyle = paint.fill;
  if (w > 6) {
    ctx.beginPath();
    canvas.roundRect(ctx, x, row.y, w - 0.75, row.h, Math.min(rim, w / 5));
    ctx.fill();
    if (row.h > 9) ctx.stroke();
  } else ctx.fillRect(x, row.y, w - (w > 3 ? 0.75 : 0), row.h);
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
