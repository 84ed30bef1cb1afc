/**
 * Waits in collectives: of launches on several ranks, who stands in one until another comes.
 *
 * @typedef {{start: number, end: number, node: number, for: number}} Wait  `for`: the place of the
 * side that came last
 * @typedef {{wait: Wait, x: number, w: number}} Seen  a wait on screen
 */
import { GUTTER, toX } from "../core/axis.js";
import * as canvas from "../core/canvas.js";
import * as format from "../core/format.js";
import * as timelineSearch from "./search.js";
/** @import { TimeTransform } from "../core/axis.js" */
/** @import { Pen, Size } from "../core/canvas.js" */
/** @import { Payload } from "../core/payload.js" */
/** @import { TimeStyle } from "./draw.js" */
/** @import { LaneRows, Row } from "./rows.js" */
/** @import { TimelineScene } from "./scene.js" */
/** @import { Side } from "./side.js" */

const GAP = 4;
/** How much of a bar's height says that it waits. */
const FOOT = 0.28;
/** Shorter waits, as a share of the launch's longest, are of the size of noise: no words. */
const LEAST_SHARE = 0.05;

/**
 * @param {Payload} payload @param {string} name
 * @returns {Wait[]} in order of start
 */
export function list(payload, name) {
  const starts = payload[`${name}_wait_start_ns`];
  if (!starts) return [];
  /** @param {number} n */
  const of = (n) => ({
    start: starts[n], end: payload[`${name}_wait_end_ns`][n],
    node: payload[`${name}_wait_node_id`][n], for: payload[`${name}_wait_for`][n],
  });
  return Array.from(starts, (_, n) => of(n)).sort((a, b) => a.start - b.start);
}

/** @param {TimelineScene} scene @param {Wait} wait */
function awaited(scene, wait) {
  return scene.named(scene.names[wait.for])?.letter ?? "";
}

/** @param {TimelineScene} scene @param {Wait} wait */
function words(scene, wait) {
  return `waits ${format.duration(wait.end - wait.start)} for ${awaited(scene, wait)}`;
}

/**
 * A row of a tooltip.
 * @param {TimelineScene} scene @param {Wait} wait
 */
export function tipRow(scene, wait) {
  return ["of it waiting (estimated)", `${format.duration(wait.end - wait.start)} for ${awaited(scene, wait)}`];
}

/** @param {TimelineScene} scene @param {Side} side @param {Wait} wait */
function nameOf(scene, side, wait) {
  const items = side.byNode.get(wait.node);
  return items ? scene.nameOf(side, items[0]) : "a collective";
}

/** @param {TimelineScene} scene @param {Side} side @param {Wait} wait */
export function describe(scene, side, wait) {
  const { duration } = format;
  return [
    [words(scene, wait)], ["in", nameOf(scene, side, wait)], ["from", duration(wait.start)],
    ["estimated", `its duration here less that on ${awaited(scene, wait)}`],
  ];
}

/**
 * The longest wait of each side, in words.
 * @param {TimelineScene} scene
 */
export function sentences(scene) {
  return scene.sides.filter((side) => side.waits.length).map((side) => {
    const longest = side.waits.reduce((a, b) => (b.end - b.start > a.end - a.start ? b : a));
    const who = scene.named(side.name)?.letter;
    return `Longest wait of ${who}: it ${words(scene, longest)} in ${nameOf(scene, side, longest)}.`;
  });
}

/**
 * What is under the pointer at a time: {side, wait}, or null.
 * @param {Side} side @param {number} ns @param {number} slack
 */
export function hit(side, ns, slack) {
  const wait = side.waits.findLast((one) => ns >= one.start - slack && ns <= one.end + slack);
  return wait ? { side, wait } : null;
}

/**
 * For tests: the waits of a side, with their words.
 * @param {TimelineScene} scene @param {Side} side
 */
export function state(scene, side) {
  return side.waits.map((wait) => ({ ...wait, words: words(scene, wait) }));
}

/** @param {Wait} wait @param {TimeTransform} t */
function box(wait, t) {
  const x = toX(t, wait.start);
  return { x, w: Math.max(1, (wait.end - wait.start) * t.k) };
}

/**
 * A bracket as long as each wait, and, where there is room, who is waited for and how long.
 * @param {Pen} ctx @param {TimelineScene} scene @param {Side} side @param {Row} row
 * @param {TimeStyle} style @param {Size} size
 */
export function drawRow(ctx, scene, side, row, style, size) {
  const { transform: t, theme } = style;
  const y = row.y + row.h / 2;
  const seen = side.waits
    .map((wait) => ({ wait, ...box(wait, t) }))
    .filter(({ x, w }) => x <= size.width && x + w >= GUTTER);
  ctx.fillStyle = theme.ink;
  for (const { x, w } of seen) {
    ctx.fillRect(x, y - 0.5, w, 1);
    ctx.fillRect(x, y - 4, 1, 8);
    if (w > 2) ctx.fillRect(x + w - 1, y - 4, 1, 8);
  }
  drawWords(ctx, scene, seen, row, style, size);
}

/**
 * Words of the waits that matter in this launch, the longest first: they take the room.
 * @param {Pen} ctx @param {TimelineScene} scene @param {Seen[]} seen @param {Row} row
 * @param {TimeStyle} style @param {Size} size
 */
function drawWords(ctx, scene, seen, row, style, size) {
  /** @param {{wait: Wait}} given */
  const length = ({ wait }) => wait.end - wait.start;
  const least = LEAST_SHARE * Math.max(...scene.sides.flatMap((s) => s.waits.map((wait) => wait.end - wait.start)));
  /** @type {[number, number][]} */
  const taken = [];
  ctx.font = canvas.font(10.5, 600);
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  for (const one of seen.filter((s) => length(s) >= least).sort((a, b) => length(b) - length(a))) {
    const text = words(scene, one.wait);
    const room = canvas.textWidth(ctx, text, 10.5, 600) + 2 * GAP;
    const inside = one.w >= room + GAP;
    const left = inside ? Math.max(GUTTER, one.x + 3) : one.x + one.w;
    const right = left + room;
    // Only brackets too short to differ from a tick are hidden by words.
    const clear = taken.every(([from, to]) => right <= from || left >= to)
      && seen.every((other) => other === one || other.w < 4 || other.x >= right || other.x + other.w <= left);
    if (!clear || right > size.width || left < GUTTER) continue;
    taken.push([left, right]);
    ctx.fillStyle = style.theme.ground;
    ctx.fillRect(left, row.y, room, row.h);
    ctx.fillStyle = style.theme.ink;
    ctx.fillText(text, left + GAP, row.y + row.h / 2 + 0.5);
  }
}

/**
 * The part of a collective's bar that waits: hatched at its foot, below the name.
 * @param {Pen} ctx @param {Side} side @param {Row} row @param {TimeStyle} style @param {Size} size
 */
function drawLane(ctx, side, row, style, size) {
  const { transform: t, theme } = style;
  if (!side.waits.length) return;
  const colours = { untimed: theme.ground, hatch: theme.ink };
  const { items } = side.lanes[row.lane];
  const h = Math.max(2, Math.round(row.h * FOOT));
  for (const wait of side.waits) {
    const { x, w } = box(wait, t);
    if (w < 2 || x > size.width || x + w < GUTTER) continue;
    const i = items[timelineSearch.firstAfter(side, items, wait.start + 1)];
    if (i === undefined || side.nodeId[i] !== wait.node || side.start[i] !== wait.start) continue;
    ctx.fillStyle = canvas.hatch(ctx, colours, size.ratio);
    ctx.fillRect(x, row.y + row.h - h, w, h);
  }
}

/**
 * @param {Pen} ctx @param {TimelineScene} scene @param {LaneRows} laneRows @param {TimeStyle} style
 * @param {Size} size
 */
export function drawLanes(ctx, scene, laneRows, style, size) {
  for (const side of scene.sides) {
    for (const row of laneRows[side.name]) drawLane(ctx, side, row, style, size);
  }
}
