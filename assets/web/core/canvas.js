/**
 * Shared bits of drawing: theme colours, crisp canvases, text that fits, hatching.
 *
 * @typedef {"light"|"dark"} Scheme
 * @typedef {{name: Scheme, ink: string, muted: string, line: string, grid: string, edge: string,
 *   panel: string, ground: string, accent: string, upstream: string, downstream: string,
 *   untimed: string, hatch: string, host: string, idle: string, busy: string, inkDark: string,
 *   inkLight: string, outline: string, halo: string, veil: string}} Theme
 * @typedef {{width: number, height: number, ratio: number, buttons: number}} Size  of a view in CSS
 *   pixels, device pixels each of them, and what the buttons take of the width
 * @typedef {{untimed: string, hatch: string}} HatchColours  ground and lines
 *
 * What the views draw with: the part of a canvas's context that core/svg_pen.js has too.
 * @typedef {Pick<CanvasRenderingContext2D, "save"|"restore"|"beginPath"|"moveTo"|"lineTo"|"closePath"|
 *   "bezierCurveTo"|"arcTo"|"rect"|"stroke"|"fillRect"|"strokeRect"|"setLineDash"|"fillStyle"|
 *   "strokeStyle"|"lineWidth"|"globalAlpha"|"globalCompositeOperation"|"font"|"textAlign"|
 *   "textBaseline"> & {
 *     fill: (rule?: CanvasFillRule) => void, clip: () => void,
 *     arc: (x: number, y: number, radius: number, from: number, to: number) => void,
 *     roundRect: (x: number, y: number, w: number, h: number, radius: number) => void,
 *     fillText: (text: string, x: number, y: number) => void,
 *     measureText: (text: string) => {width: number},
 *     setTransform: (a: number, b: number, c: number, d: number, e: number, f: number) => void,
 *     vector?: boolean, about?: (text: string) => void,
    drawImage?: (image: HTMLCanvasElement, x: number, y: number, w: number, h: number) => void,
 *     hatch?: (colours: HatchColours) => CanvasPattern}} Pen
 */
import { penOf } from "./dom.js";

export const FONT = 'ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif';

// WCAG 2.2 AA, tested: text has 4.5:1 on what is under it, edges, outlines, bars of calls and
// the hatch of "not timed" 3:1. Fills say more by their outline and text than by their colour.
/** @type {Record<Scheme, Theme>} */
const THEMES = {
  light: {
    name: "light", ink: "#1f2328", muted: "#59636e", line: "#d5dbe1",
    grid: "rgba(31,35,40,0.07)", edge: "#8c96a1", panel: "rgba(255,255,255,0.95)",
    ground: "#ffffff",
    accent: "#0b7a70", upstream: "#0a66d0", downstream: "#bf4b00", untimed: "#f1f3f6",
    hatch: "#929eaa", host: "#8c96a1", idle: "rgba(31,35,40,0.16)", busy: "#6e7a87",
    inkDark: "#000000", inkLight: "#ffffff", outline: "#8a939d", halo: "#ffffff", veil: "rgba(255,255,255,0.72)",
  },
  dark: {
    name: "dark", ink: "#e8ecf1", muted: "#9aa5b1", line: "#2f3742",
    grid: "rgba(255,255,255,0.06)", edge: "#626d7c", panel: "rgba(21,26,33,0.95)",
    ground: "#151a21",
    accent: "#3ccdbd", upstream: "#6cb2ff", downstream: "#ff9d57", untimed: "#1d232b",
    hatch: "#66727f", host: "#76828f", idle: "rgba(255,255,255,0.16)", busy: "#8d99a6",
    inkDark: "#000000", inkLight: "#ffffff", outline: "#66717e", halo: "#0d1116", veil: "rgba(18,23,30,0.74)",
  },
};

/**
 * Size a canvas to its box at the device's pixels; returns its CSS size and ratio.
 * @param {HTMLCanvasElement} canvas
 */
export function fitToBox(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  const w = Math.max(1, Math.round(width * ratio));
  const h = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  return { width, height, ratio };
}

/** What took longer to draw (ms) has a frame for itself: all views in one would hold the page up. */
const LONG = 20;
/** The frame that one view has for itself, by its time (ms). */
let taken = -1;

/**
 * A function that runs `draw` once in the next animation frame, however often it is called; in the one after that where
 * another view took long.
 * @param {() => void} draw
 */
export function scheduler(draw) {
  let handle = 0;
  /** @param {number} frame */
  const run = (frame) => {
    handle = frame === taken ? requestAnimationFrame(run) : 0;
    if (handle) return;
    const began = performance.now();
    draw();
    if (performance.now() - began > LONG) taken = frame;
  };
  const schedule = () => {
    handle ||= requestAnimationFrame(run);
  };
  schedule.cancel = () => {
    cancelAnimationFrame(handle);
    handle = 0;
  };
  return schedule;
}

/** @type {Map<string, number>} */
const widths = new Map();

/**
 * Width of a text at 100 px, cached: widths scale with the font's size.
 * @param {Pen} ctx @param {string} text @param {number} px
 */
export function textWidth(ctx, text, px, weight = 400) {
  const key = weight + text;
  let width = widths.get(key);
  if (width === undefined) {
    const before = ctx.font;
    ctx.font = font(100, weight);
    width = ctx.measureText(text).width;
    ctx.font = before;
    if (widths.size > 20000) widths.clear();
    widths.set(key, width);
  }
  return (width * px) / 100;
}

/** @param {number} px */
export function font(px, weight = 400) {
  return `${weight} ${px}px ${FONT}`;
}

/** A text of more words is no label. */
const MOST_WORDS = 9;

/**
 * `text`, or less of it, so that it fits; "" if four letters do not. First "_kernel" goes, then words of the middle: names
 * of kernels differ at their ends as often as at their beginnings. Then the words at the end, and parts of words last: half
 * a number is a wrong one.
 * @param {Pen} ctx @param {string} text @param {number} px @param {number} room
 */
export function fitText(ctx, text, px, room, weight = 400) {
  if (textWidth(ctx, text, px, weight) <= room) return text;
  const short = text.replace(/_kernel$/, "");
  const width = textWidth(ctx, short, px, weight);
  if (width <= room) return short;
  // Labels are told apart by their first word and their last ones.
  const words = short.split(" ");
  for (let last = words.length - 2; last > 0 && words.length < MOST_WORDS; last--) {
    const cut = `${words[0]} …${words.slice(-last).join(" ")}`;
    if (textWidth(ctx, cut, px, weight) <= room) return cut;
  }
  for (let first = words.length - 1; first > 0 && words.length < MOST_WORDS; first--) {
    const cut = words.slice(0, first).join(" ");
    if (textWidth(ctx, cut, px, weight) <= room) return cut;
  }
  // Halves of one character are none: those beyond 16 bits count once.
  const letters = /[\ud800-\udfff]/.test(short) ? Array.from(short) : short;
  /** @param {number} from @param {number} to */
  const part = (from, to) => [letters.slice(from, to)].flat().join("");
  for (let keep = Math.floor((letters.length * (room - px)) / width); keep >= 4; keep--) {
    const head = Math.floor(0.45 * keep);
    const cut = `${part(0, head)}…${part(letters.length - (keep - head), letters.length)}`;
    // Letters differ in width.
    if (textWidth(ctx, cut, px, weight) <= room) return cut;
  }
  return "";
}

/**
 * Add a rounded rectangle to the path.
 * @param {Pen} ctx @param {number} x @param {number} y @param {number} w @param {number} h
 * @param {number} radius
 */
export function roundRect(ctx, x, y, w, h, radius) {
  ctx.roundRect(x, y, w, h, Math.min(radius, w / 2, h / 2));
}

/**
 * Hatches of each pen, by their colours and the ratio.
 * @type {WeakMap<object, Map<string, CanvasPattern>>}
 */
const hatches = new WeakMap();

/**
 * A diagonal hatch: stands for "no time recorded".
 * @param {Pen} ctx
 * @param {{untimed: string, hatch: string}} colours ground and lines
 * @param {number} ratio
 */
export function hatch(ctx, colours, ratio) {
  const made = hatches.get(ctx) ?? new Map();
  hatches.set(ctx, made);
  const key = `${colours.untimed} ${colours.hatch} ${ratio}`;
  if (!made.has(key)) made.set(key, ctx.hatch ? ctx.hatch(colours) : tiled(ctx, colours, ratio));
  return made.get(key);
}

/**
 * A hatch in device pixels.
 * @param {Pen} ctx @param {{untimed: string, hatch: string}} colours @param {number} ratio
 */
function tiled(ctx, colours, ratio) {
  const size = Math.max(4, Math.round(6 * ratio));
  const tile = document.createElement("canvas");
  tile.width = tile.height = size;
  const pen = penOf(tile);
  pen.fillStyle = colours.untimed;
  pen.fillRect(0, 0, size, size);
  pen.strokeStyle = colours.hatch;
  pen.lineWidth = Math.max(1, ratio * 0.9);
  pen.beginPath();
  for (const shift of [-size, 0, size]) {
    pen.moveTo(shift, size);
    pen.lineTo(shift + size, 0);
  }
  pen.stroke();
  const canvas = /** @type {CanvasRenderingContext2D} */ (ctx);
  const pattern = /** @type {CanvasPattern} */ (canvas.createPattern(tile, "repeat"));
  pattern.setTransform(new DOMMatrix([1 / ratio, 0, 0, 1 / ratio, 0, 0]));
  return pattern;
}

/** @param {string} name */
export function theme(name) {
  return THEMES[name === "dark" ? "dark" : "light"];
}

const calm = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

/**
 * Call `step(0..1)` over some frames, eased; returns a function that stops it.
 * @param {number} milliseconds @param {(part: number) => void} step
 */
export function animate(milliseconds, step) {
  if (calm()) {
    step(1);
    return () => {};
  }
  const begin = performance.now();
  let handle = 0;
  /** @param {number} now */
  const tick = (now) => {
    const t = Math.min(1, Math.max(0, (now - begin) / milliseconds));
    step(1 - (1 - t) ** 3);
    if (t < 1) handle = requestAnimationFrame(tick);
  };
  handle = requestAnimationFrame(tick);
  return () => cancelAnimationFrame(handle);
}

/** How much {@link fade} takes away. */
export const VEIL = 0.62;

/**
 * Fade everything drawn so far.
 * @param {Pen} ctx @param {Size} size
 */
export function fade(ctx, size) {
  ctx.globalCompositeOperation = "destination-out";
  ctx.globalAlpha = VEIL;
  ctx.fillStyle = "#000";
  ctx.fillRect(0, 0, size.width, size.height);
  ctx.globalAlpha = 1;
  ctx.globalCompositeOperation = "source-over";
}
