/** Drawing sections of the folded DAG: a frame around each, and above it what it is, how long it takes and what repeats in it. */
import * as canvas from "../../core/canvas.js";
import * as format from "../../core/format.js";
import { fitFold } from "./fold_title.js";
import { panel } from "./strip.js";
/** @import { Pen, Size } from "../../core/canvas.js" */
/** @import { DagScene } from "../scene/scene.js" */
/** @import { Repeat, Section } from "../scene/sections.js" */
/** @import { Spot, Style, Transform } from "./plane.js" */

/** Distance of rows in the plane: gviz.dag.placement. */
const ROW_PITCH = 68;
/** Heights on screen (px): of a name, of a line, of the strip of a repeat's blocks. */
const NAME = 19;
const LINE = 15;
const STRIP = 13;
/** Where less room (px) is above the open block of a repeat that has no head it is not named: in it are the strip of the row above and its own pile. */
const LEAST_GAP = 20;
/** Between the frame and what is in it (px), and less where columns are near each other (in the plane). */
const PAD = 8;
const NEAR = 28;
const SIZE = 11;
/** A block takes at least so much of its strip's height. */
const LEAST = 0.12;

/** What the heads of sections take above the plane. @param {Section[]} sections */
export function headOf(sections) {
  if (!sections.length) return 0;
  const isNamed = sections.some(({ name }) => name), repeats = sections.some(({ repeat }) => repeat);
  return PAD + (isNamed ? NAME : 0) + (repeats ? 2 * LINE + STRIP + 2 : 0);
}

/** The frame of a section on screen, with its head. @param {Section} section @param {number} head @param {Transform} t @returns {Spot} */
export function spotOf({ left, right, bottom }, head, t) {
  const pad = Math.min(PAD, NEAR * t.kx), x = left * t.kx + t.x - pad, y = t.y - head;
  return { x, y, w: (right - left) * t.kx + 2 * pad, h: bottom * t.k + t.y + PAD - y };
}

/** The section whose head is at a place on screen. @param {Section[]} sections @param {Transform} t @param {number} x @param {number} y */
export function headAt(sections, t, x, y) {
  const head = headOf(sections);
  return sections.find((section) => {
    const at = spotOf(section, head, t);
    return x >= at.x && x <= at.x + at.w && y >= at.y && y <= at.y + head;
  });
}

/** The grounds, under nodes and edges. @param {Pen} ctx @param {Section[]} sections @param {Style} style */
export function drawGrounds(ctx, sections, { transform: t, theme }) {
  const head = headOf(sections);
  for (const section of sections) {
    const { x, y, w, h } = spotOf(section, head, t);
    panel(ctx, theme, x, y, w, h);
  }
}

/**
 * The heads, and over other blocks that are open what they are.
 * @param {Pen} ctx @param {DagScene} scene @param {Style} style @param {Size} size
 */
export function drawHeads(ctx, scene, style, size) {
  const { sections } = scene;
  const head = headOf(sections);
  ctx.textBaseline = "middle";
  drawNames(ctx, scene, style);
  for (const section of sections) {
    const at = spotOf(section, head, style.transform);
    if (at.x > size.width || at.x + at.w < 0 || at.y + head < 0 || at.y > size.height) continue;
    drawHead(ctx, section, { x: at.x + PAD / 2, y: at.y + PAD / 2, w: at.w - PAD, h: at.h }, style);
  }
}

/** @param {Pen} ctx @param {DagScene} scene @param {Style} style */
function drawNames(ctx, scene, { transform: t, theme }) {
  const gap = (ROW_PITCH - 2 * scene.halfH) * t.k;
  if (gap < LEAST_GAP) return;
  const px = Math.min(SIZE, 0.85 * gap);
  ctx.font = canvas.font(px);
  ctx.textAlign = "left";
  for (const { item, block } of scene.sections.flatMap(({ others }) => others)) {
    const box = scene.boxOf(item), x = box.left * t.kx + t.x, y = box.top * t.k + t.y - gap / 2;
    const text = openName({ block }, (form) => canvas.textWidth(ctx, form, px) <= (box.right - box.left) * t.kx);
    ctx.fillStyle = theme.panel;
    ctx.fillRect(x, y - px / 2, text ? canvas.textWidth(ctx, text, px) + 2 : 0, px);
    ctx.fillStyle = theme.accent;
    ctx.fillText(text, x, y);
  }
}

/** @param {Pen} ctx @param {Section} section @param {Spot} at the room inside @param {Style} style */
function drawHead(ctx, { name, ns, repeat }, at, style) {
  const { ink } = style.theme;
  const time = ns === ns ? format.duration(ns) : "";
  let { y } = at;
  if (name) {
    const used = write(ctx, time, { ...at, y: y + NAME / 2 }, { colour: style.theme.muted, right: true, least: nameRoom(ctx, name) });
    write(ctx, name, { ...at, y: y + NAME / 2, w: at.w - used }, { colour: ink, weight: 600 });
    y += NAME;
  }
  if (!repeat) return;
  const first = name ? "" : time;
  const beside = write(ctx, first, { ...at, y: y + LINE / 2 }, { colour: style.theme.muted, right: true, least: 40 });
  const title = fitFold(repeat.name, within(ctx, at.w - beside));
  const taken = write(ctx, title, { ...at, y: y + LINE / 2 }, { colour: ink });
  const rest = { ...at, x: at.x + taken, w: at.w - beside - taken, y: y + LINE / 2 };
  write(ctx, countOf(ctx, repeat, rest.w), rest, { colour: style.theme.muted });
  y += LINE;
  drawBlocks(ctx, repeat, { ...at, y, h: STRIP }, style);
  write(ctx, openName(repeat, within(ctx, at.w)), { ...at, y: y + STRIP + LINE / 2 + 1 }, { colour: style.theme.accent });
}

/** What the open block of a repeat is called, as far as there is room. @param {{block: string}} repeat @param {(text: string) => boolean} fits */
export function openName({ block }, fits) {
  const name = fitFold(block, (text) => fits(`▾ ${text}`));
  return name && `▾ ${name}`;
}

/** @param {Pen} ctx @param {number} room @returns {(text: string) => boolean} */
const within = (ctx, room) => (text) => canvas.textWidth(ctx, text, SIZE) <= room;

/** What a name needs beside the time. @param {Pen} ctx @param {string} name */
const nameRoom = (ctx, name) => Math.min(60, canvas.textWidth(ctx, name, SIZE, 600)) + 6;

/** How many blocks of how many nodes there are, and what each takes, as far as there is room. @param {Pen} ctx @param {Repeat} repeat @param {number} room */
function countOf(ctx, { times, nodes }, room) {
  const known = times.filter((ns) => ns === ns);
  const count = `${format.integer(times.length)} × ${format.counted(nodes, "node")}`;
  const [least, most] = [Math.min(...known), Math.max(...known)].map(format.duration);
  const each = known.length ? ` · ${least === most ? least : `${least} to ${most}`} each` : "";
  return [`· ${count}${each}`, `· ${count}`].find(within(ctx, room)) ?? "";
}

/**
 * @param {Pen} ctx @param {string} text @param {Spot} at @param {{colour: string, weight?: number, right?: boolean, least?: number}} look
 *   `least`: what has to be left beside it @returns {number} the room it took
 */
function write(ctx, text, at, { colour, weight = 400, right = false, least = 0 }) {
  const width = canvas.textWidth(ctx, text, SIZE, weight);
  if (!text || (right && width + least > at.w)) return 0;
  ctx.font = canvas.font(SIZE, weight);
  ctx.fillStyle = colour;
  ctx.textAlign = right ? "right" : "left";
  ctx.fillText(canvas.fitText(ctx, text, SIZE, at.w, weight), right ? at.x + at.w : at.x, at.y);
  return width + 6;
}

/** A bar for each block, as high as it takes long; the open one stands out. @param {Pen} ctx @param {Repeat} repeat @param {Spot} at @param {Style} style */
function drawBlocks(ctx, { times, block }, at, { theme }) {
  const most = Math.max(...times.filter((ns) => ns === ns), 0);
  const w = at.w / times.length;
  times.forEach((ns, n) => {
    const h = at.h * (most ? Math.max(LEAST, (ns === ns ? ns : 0) / most) : 1);
    ctx.fillStyle = n ? theme.busy : theme.accent;
    ctx.about?.(n ? "" : block);
    ctx.fillRect(at.x + n * w, at.y + at.h - h, w > 3 ? w - 1 : w, h);
  });
}
