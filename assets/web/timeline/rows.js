/**
 * Places of the timeline's rows, top to bottom, before scrolling.
 *
 * @typedef {{kind: "head"|"axis"|"calls"|"waits"|"busy"|"lane"|"note"|"eager"|"track", side: string, y: number, h: number,
 * lane: number, label?: string, middle?: number}} Row  `middle`: of the label, from `y`
 * @typedef {Record<string, Row[]>} LaneRows  by side and lane
 */
import { AXIS } from "../core/axis.js";
/** @import { TimelineScene } from "./scene.js" */
/** @import { Side } from "./side.js" */

const HEAD = 28;
const OWN_AXIS = 16;
const CALLS = 13;
const WAITS = 15;
const BUSY = 6;
const NOTE = 44;
const BETWEEN = 12;
/** Lanes fill a pane of a large screen, but none that has the screen to itself. */
const LANE_MOST = 400;
const EAGER = 26;
export const TRACK = 18;
const LANE_LEAST = 13;
/** Pitch of stacked launches: room for a label, but many of them. */
const LAUNCH_MOST = 26;
const LAUNCH_LEAST = 10;
/** A lane inside a launch's row is at least this high, gap included. */
const INNER_LEAST = 4;
/** @type {Record<string, string>} */
const WORDS = {
  graph: "No launch of this graph was recorded with node times, so there are no spans to show: launch it inside the profile.",
  stream:
    "No eager run of this work was recorded: run the code once outside the graph inside the profile, and gviz matches it.",
};

/**
 * What stands in place of a side that is not there.
 * @param {TimelineScene} scene @param {string} name
 */
export function missing(scene, name) {
  return scene.named(name)?.missing ?? WORDS[name];
}

/**
 * @param {TimelineScene} scene @param {number} height of the view
 * @param {string[]} [tracks] what stands above the lanes of a launch
 * @returns {{rows: Row[], height: number}}
 */
export function arrange(scene, height, tracks = []) {
  const { height: fixed } = place(scene, tracks, { launch: 0, lane: 0 });
  return place(scene, tracks, pitches(scene, height - fixed));
}

/**
 * @param {TimelineScene} scene @param {string[]} tracks
 * @param {{launch: number, lane: number}} pitch of a stacked launch and of a lane
 * @returns {{rows: Row[], height: number}}
 */
function place(scene, tracks, pitch) {
  /** @type {Row[]} */
  const rows = [];
  let y = AXIS;
  for (const name of scene.names) {
    const side = scene.side(name);
    /** @param {Row["kind"]} kind @param {number} h @param {number} gap @param {Partial<Row>} more */
    const add = (kind, h, gap, more) => {
      rows.push({ kind, side: name, y, h, lane: 0, ...more });
      y += h + gap;
    };
    if (name === "stream" && scene.eager) {
      add("eager", EAGER, BETWEEN, {});
      continue;
    }
    add("head", HEAD, 0, {});
    if (!side) add("note", NOTE, BETWEEN, { label: missing(scene, name) });
    else {
      if (scene.isApart(name)) add("axis", OWN_AXIS, 2, {});
      if (side.calls.length) add("calls", CALLS, 3, { label: "host calls" });
      if (side.waits.length) add("waits", WAITS, 3, { label: "waiting" });
      if (!side.stacked) tracks.forEach((label, n) => add("track", TRACK, 2, { lane: n, label }));
      if (side.stacked) {
        y = addLaunches(rows, side, y, pitch.launch) + BETWEEN;
        continue;
      }
      side.lanes.forEach((lane, n) => add("lane", pitch.lane - 3, 3, { lane: n, label: lane.label }));
      // Of an event copy nobody knows when the GPU would have been busy.
      if (side.facts.idle_ns !== undefined) add("busy", BUSY, BETWEEN + 4, { label: "GPU busy" });
      else y += BETWEEN;
    }
  }
  return { rows, height: y };
}

/**
 * Heights of a lane and of a stacked launch, gap included, so that all fit if they can.
 * @param {TimelineScene} scene @param {number} room for them
 */
function pitches(scene, room) {
  let lanes = 0;
  let launches = 0;
  let least = LAUNCH_LEAST;
  for (const side of scene.sides) {
    if (side.stacked) {
      launches = side.facts.launches.length;
      least = Math.max(LAUNCH_LEAST, INNER_LEAST * side.depth + 2);
    } else lanes += side.lanes.length;
  }
  const most = Math.max(least, LAUNCH_MOST);
  const share = (room - lanes * LANE_LEAST) / Math.max(1, launches);
  const launch = Math.max(least, Math.min(most, share));
  const left = (room - launches * launch) / Math.max(1, lanes);
  return { launch, lane: Math.max(LANE_LEAST, Math.min(LANE_MOST, left)) };
}

/**
 * Add the lanes of stacked launches, those of one launch close together; returns the end.
 * @param {Row[]} rows @param {Side} side @param {number} top @param {number} pitch
 */
function addLaunches(rows, side, top, pitch) {
  const inner = (pitch - 2) / side.depth;
  const h = inner - (inner >= 6 ? 1 : 0);
  side.lanes.forEach((lane, n) => {
    const y = top + Math.floor(n / side.depth) * pitch + (n % side.depth) * inner;
    rows.push({
      kind: "lane", side: side.name, y, h, lane: n, label: lane.label, middle: (pitch - 2) / 2,
    });
  });
  return top + side.facts.launches.length * pitch;
}

/** Rows of lanes by side and lane. @param {Row[]} rows */
export function byLane(rows) {
  /** @type {LaneRows} */
  const found = {};
  for (const row of rows) found[row.side] ??= [];
  for (const row of rows) if (row.kind === "lane") found[row.side][row.lane] = row;
  return found;
}
