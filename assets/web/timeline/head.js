/** Heads of the sides: what is shown, how long it took, and the line that eager work is while it is closed. */
import * as canvas from "../core/canvas.js";
import * as format from "../core/format.js";
/** @import { Pen, Size } from "../core/canvas.js" */
/** @import { TimeStyle } from "./draw.js" */
/** @import { Row } from "./rows.js" */
/** @import { TimelineScene } from "./scene.js" */
/** @import { Side, SideFacts } from "./side.js" */

const TITLES = {
  one: "Graph launch", median: "Median launch", all: "Graph launches", stream: "Stream (eager)",
};

/**
 * @param {Pen} ctx @param {TimelineScene} scene @param {Row} row @param {TimeStyle} style
 * @param {Size} size
 */
export function drawHead(ctx, scene, row, style, size) {
  const { theme } = style;
  const side = scene.side(row.side);
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  const y = row.y + row.h / 2 + 3;
  ctx.fillStyle = theme.ink;
  ctx.font = canvas.font(12.5, 650);
  const title =
    scene.named(row.side)?.title ??
    TITLES[row.side === "stream" ? "stream" : side ? side.facts.mode : "one"] + (isOpenEager(scene, row) ? " ▾" : "");
  ctx.fillText(title, 12, y);
  if (!side) return;
  let x = 12 + canvas.textWidth(ctx, title, 12.5, 650) + 12;
  x = drawLone(ctx, scene, side, style, x, y);
  ctx.font = canvas.font(11.5);
  ctx.fillStyle = theme.muted;
  for (const text of headFacts(scene, side)) {
    const w = canvas.textWidth(ctx, text, 11.5);
    // The first head shares its line with the buttons.
    if (x + w > size.width - (row.side === scene.names[0] ? size.buttons + 14 : 8)) break;
    ctx.fillText(text, x, y);
    x += w + 14;
  }
}

/**
 * The sample of what a side alone has, where spans have the colours of changes; return where it ends.
 * @param {Pen} ctx @param {TimelineScene} scene @param {Side} side @param {TimeStyle} style
 * @param {number} x @param {number} y
 */
function drawLone(ctx, scene, side, { colour: by, theme }, x, y) {
  const text = side.name === scene.names[0] ? "removed" : "added";
  if (!scene.changes?.has(by) || !scene.changes.isThere(text)) return x;
  ctx.fillStyle = scene.changes.lone(text, theme) ?? theme.muted;
  ctx.fillRect(x, y - 4, 12, 8);
  ctx.font = canvas.font(11.5);
  ctx.fillStyle = theme.ink;
  ctx.fillText(text, x + 17, y);
  return x + 17 + canvas.textWidth(ctx, text, 11.5) + 14;
}

/** Whether a head is that of eager work that can be closed. @param {TimelineScene} scene @param {Row} row */
export function isOpenEager(scene, row) {
  return row.kind === "head" && row.side === "stream" && scene.canCloseEager;
}

/** What the total of a side spans, by where its zero is. @type {Record<string, string>} */
const SPANS_OF = {
  "host call": "from call to last end",
  "first node": "from first start to last end",
  "launch before": "since the launch before",
  "first rank": "from the first rank's call to last end",
  "own first node": "from call to last end",
};

/** Of a launch in whose place an instrumented copy ran. */
const COPY = "event copy: gaps are its own";

/**
 * How much of the graph copies show that each time a slice of its nodes; none: they time all of it.
 * @param {SideFacts} facts
 */
function sliceFacts({ mode, count, launch_count: launches, timed_count: timed }) {
  if (timed === undefined) return [];
  if (mode === "median") return [`${format.counted(launches, "event copy", "event copies")}, part by part`];
  return [`event copy: ${format.integer(count)} of ${format.counted(timed, "node")}`];
}

/**
 * What stands behind the title of a side, the most important first.
 * @param {TimelineScene} scene @param {Side} side
 */
export function headFacts(scene, side) {
  const { facts } = side;
  if (side.stacked) return stackFacts(side);
  const found = [`${format.duration(facts.total_ns)} ${SPANS_OF[facts.zero]}`];
  if (facts.mode === "median") {
    found.unshift(`median start and duration of each node, ${facts.launch_count} launches`);
  }
  const [other] = scene.others(side);
  // How much slower eager work is, is the verdict's to say.
  const against = scene.named(side.name)?.against;
  if (against && side.name !== scene.names[0] && other && !other.stacked && other.facts.total_ns > 0) {
    found.push(`${format.multiple(facts.total_ns / other.facts.total_ns)} ${against}`);
  }
  const { idle_ns: idle, idle_fraction: share } = facts;
  // A launch of the program is half as long: that comes first where there is little room.
  if (idle === undefined || share === undefined) found.unshift(...sliceFacts(facts), COPY);
  else found.push(`GPU idle ${format.duration(idle)}, ${format.percent(share)}`);
  if (facts.queued_ns > 0) found.push(`queued ${format.duration(facts.queued_ns)} before`);
  const isLaunch = side.name === "graph" || scene.named(side.name);
  found.push(format.counted(facts.count, isLaunch ? "span" : "operation"));
  return found;
}

/** @param {Side} side */
function stackFacts({ facts }) {
  const lengths = facts.launches.map((launch) => launch.gpu_ns);
  const idle = facts.launches.flatMap((launch) => launch.idle_fraction ?? []).filter(Number.isFinite);
  const { duration, counted, percent } = format;
  return [
    `${counted(facts.launches.length, "launch", "launches")}, each from its first node's start`,
    `longest ${duration(Math.max(...lengths))}, spread ${duration(Math.max(...lengths) - Math.min(...lengths))}`,
    // Of a part of the launches it would not be true of all.
    ...(idle.length < facts.launches.length
      ? []
      : [`GPU idle ${percent(Math.min(...idle))} to ${percent(Math.max(...idle))}`]),
    facts.order === "length" ? "longest first" : "by ordinal",
    counted(facts.count, "span"),
  ];
}

/**
 * The line that stands for eager work.
 * @param {Pen} ctx @param {TimelineScene} scene @param {Row} row @param {TimeStyle} style @param {Size} size
 */
export function drawEager(ctx, scene, row, style, size) {
  ctx.fillStyle = style.theme.untimed;
  ctx.beginPath();
  canvas.roundRect(ctx, 6, row.y, size.width - 12, row.h, 5);
  ctx.fill();
  ctx.font = canvas.font(12);
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.fillStyle = style.theme.ink;
  const text = canvas.fitText(ctx, `▸ ${eagerWords(scene)}`, 12, size.width - 32, 400);
  ctx.fillText(text, 14, row.y + row.h / 2 + 0.5);
}

/**
 * Eager work in a line. How much slower it is, is the verdict's to say: it rests on all iterations.
 * @param {TimelineScene} scene
 */
export function eagerWords(scene) {
  const { facts } = /** @type {Side} */ (scene.eager);
  return `Eager, the same work: ${format.duration(facts.total_ns)} in this iteration, GPU idle ${format.percent(facts.idle_fraction)}`;
}
