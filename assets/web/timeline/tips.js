/** The tooltip of the timeline: rows of [name, value], the first is the title. */
import * as format from "../core/format.js";
import * as timelineSearch from "./search.js";
import * as timelineWaits from "./waits.js";
/** @import { Laid } from "../core/frame.js" */
/** @import { TimelineScene } from "./scene.js" */
/** @import { Call, Launch, Side } from "./side.js" */
/** @import { Hit } from "./walk.js" */

const NO_NODE = 0xffffffff;

/** @param {TimelineScene} scene @param {Hit} hit what is under the pointer @param {Laid|null} [laid] on the graph by its reader */
export function describe(scene, { side, i, call, launch, gap, wait }, laid) {
  if (call) return describeCall(scene, side, call);
  if (wait) return timelineWaits.describe(scene, side, wait);
  if (launch) return describeLaunch(side, launch);
  if (gap) return describeGap(scene, side, gap);
  if (i === undefined) return [];
  if (isMerged(side, i)) return describeMerged(scene, side, i);
  const rows = describeSpan(scene, side, i);
  return laid && side.nodeId[i] !== NO_NODE ? [...rows, [laid.label, laid.write(laid.of(side.nodeId[i]))]] : rows;
}

/** @param {Side} side @param {number} i */
function isMerged(side, i) {
  return !!side.merged && side.merged[i] > 1;
}

/** @param {TimelineScene} scene @param {Side} side @param {Call} call */
function describeCall(scene, side, call) {
  const { duration } = format;
  return [[scene.titleOf(side, call)], ["host call", duration(call.duration)], ["start", duration(call.start)]];
}

/** @param {TimelineScene} scene @param {Side} side @param {number} i */
function describeSpan(scene, side, i) {
  const { duration } = format;
  const median = side.facts.mode === "median" ? "median " : "";
  const [label, whole] = [scene.nameOf(side, i), scene.wholeNameOf(side, i)];
  const rows = [
    [label],
    ...(whole === label ? [] : [["name", whole]]),
    ...launchRow(side, i),
    ["kind", scene.kindOf(side, i)],
    [`${median}start`, duration(side.start[i])],
    [`${median}duration`, duration(side.duration[i])],
    median ? ["launches", String(side.launchCount[i])] : ["stream", String(side.stream[i])],
  ];
  if (side.name === "stream" && !scene.named("stream")) {
    if (side.nodeId[i] === NO_NODE) rows.push(["node", "matches none of the graph"]);
  } else if (side.itemsOf(side.nodeId[i]).some((other) => side.iteration[other] > 0)) {
    rows.push(["iteration", String(side.iteration[i] + 1)]);
  }
  const ranges = side.calledIn && side.strings[side.calledIn[i]];
  if (ranges) rows.push(["called in", innermost(ranges)]);
  for (const other of scene.others(side)) {
    const match = other.byNode.get(side.nodeId[i]);
    if (!match) continue;
    const letter = scene.named(other.name)?.letter;
    const words = side.name === "graph" ? "as stream work" : "in the graph";
    rows.push([letter ? `in ${letter}` : words, duration(other.slowest[match[0]])]);
  }
  if (scene.changes) rows.push(...scene.changes.rows(side.nodeId[i]));
  const wait = side.waits.find((one) => one.start === side.start[i] && one.node === side.nodeId[i]);
  if (wait) rows.push(timelineWaits.tipRow(scene, wait));
  return rows;
}

/**
 * The last two of nested ranges: those around them say less, and a tooltip has little room.
 * @param {string} ranges
 */
function innermost(ranges) {
  const parts = ranges.split(" › ");
  return (parts.length > 2 ? ["…", ...parts.slice(-2)] : parts).join(" › ");
}

/** @param {Side} side @param {number} i */
function launchRow(side, i) {
  const launch = timelineSearch.launchOf(side, side.lane[i]);
  return launch ? [["launch", `#${launch.ordinal}`]] : [];
}

/**
 * A row of the stack where no node is.
 * @param {Side} side @param {Launch} launch
 */
function describeLaunch(side, launch) {
  const { duration, percent } = format;
  const { launches } = side.facts;
  const place = 1 + launches.filter((other) => other.gpu_ns > launch.gpu_ns).length;
  const rows = [
    [`launch #${launch.ordinal}`],
    ["first to last node", duration(launch.gpu_ns)],
    ["by length", `${place} of ${launches.length}`],
  ];
  if (launch.idle_ns !== undefined) {
    rows.push(["GPU idle", `${duration(launch.idle_ns)}, ${percent(launch.idle_fraction)}`]);
  }
  if (launches.some((other) => other.exec !== launch.exec)) {
    rows.push(["executable", String(launch.exec)]);
  }
  return rows;
}

/**
 * Spans that share a pixel, put together by the server.
 * @param {TimelineScene} scene @param {Side} side @param {number} i
 */
function describeMerged(scene, side, i) {
  const { duration } = format;
  return [
    [`${side.merged?.[i]} spans closer than a pixel`],
    ...launchRow(side, i),
    ["slowest", scene.nameOf(side, i)],
    ["its duration", duration(side.slowest[i])],
    ["from", duration(side.start[i])],
    ["to", duration(side.start[i] + side.duration[i])],
  ];
}

/** @param {TimelineScene} scene @param {Side} side @param {[number, number]} gap */
function describeGap(scene, side, [from, to]) {
  const { duration, percent } = format;
  const before = side.start.findIndex((start, i) => start + side.duration[i] === from);
  const after = side.start.indexOf(to);
  const rows = [["GPU idle"], ["for", duration(to - from)], ["from", duration(from)]];
  if (before >= 0) rows.push(["after", scene.nameOf(side, before)]);
  if (after >= 0) rows.push(["until", scene.nameOf(side, after)]);
  const { idle_ns: idle, idle_fraction: share } = side.facts;
  rows.push(["all gaps", `${duration(idle)}, ${percent(share)} from first start to last end`]);
  return rows;
}
