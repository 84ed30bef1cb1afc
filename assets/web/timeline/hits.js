/** The item under a point of the timeline, and the node that it is of. */
import { GUTTER } from "../core/axis.js";
import * as timelineSearch from "./search.js";
import * as timelineWaits from "./waits.js";
/** @import { Side } from "./side.js" */
/** @import { Timeline } from "./timeline.js" */
/** @import { Hit } from "./walk.js" */

/**
 * The row at a height; one that is missed by a pixel counts too.
 * @param {Timeline} view @param {number} y
 */
function rowAt(view, y) {
  /** @param {number} slack */
  const within = (slack) => view.rows.find((r) => y >= r.y - slack && y <= r.y + r.h + slack);
  return within(0) || within(1);
}

/**
 * What is under a point: {side, i} of an interval, {side, call}, {side, launch}, {side, gap}, or null.
 * @param {Timeline} view @param {number} x @param {number} y
 * @returns {Hit|null}
 */
export function hitAt(view, x, y) {
  if (!view.scene) return null;
  const row = rowAt(view, y);
  if (!row) return null;
  const side = view.scene.side(row.side);
  if (!side) return null;
  const launch = row.kind === "lane" ? timelineSearch.launchOf(side, row.lane) : null;
  if (x < GUTTER) return launch ? { side, launch } : null;
  const ns = view.nsAt(x, side.name);
  const slack = 3 / (view.transform.k * view.scene.scaleOf(side.name));
  if (row.kind === "calls") {
    const call = view.detail.best(side).calls.findLast((c) => ns >= c.start - slack && ns <= c.start + c.duration);
    return call ? { side: view.detail.best(side), call } : null;
  }
  if (row.kind === "waits") return timelineWaits.hit(side, ns, slack);
  if (row.kind === "busy") return gapAt(view, side, ns);
  if (row.kind !== "lane") return null;
  const { window } = view.detail;
  const within = window && ns >= window.from_ns && ns <= window.to_ns;
  const from = (within && view.detail.sideOfLane(side, row.lane)) || side;
  const found = nearest(from, from.lanes[row.lane].items, ns, slack);
  if (found) return found;
  if (launch) return { side, launch };
  return gapAt(view, side, ns);
}

/** @param {Timeline} view @param {Side} side @param {number} ns @returns {Hit|null} */
function gapAt(view, side, ns) {
  const gap = view.detail.best(side).gapAt(ns);
  return gap ? { side: view.detail.best(side), gap } : null;
}

/**
 * @param {Side} side @param {Int32Array} items @param {number} ns @param {number} slack
 * @returns {{side: Side, i: number}|null}
 */
function nearest(side, items, ns, slack) {
  /** @type {{side: Side, i: number}|null} */
  let best = null;
  let near = slack;
  const first = timelineSearch.firstAfter(side, items, ns - slack);
  for (let n = first; n < items.length && side.start[items[n]] <= ns + slack; n++) {
    const i = items[n];
    const away = Math.max(side.start[i] - ns, ns - side.start[i] - side.duration[i], 0);
    if (away <= near) {
      near = away;
      best = { side, i };
      if (!away) break;
    }
  }
  return best;
}

/** The node that a thing is of; null: of none. @param {Hit|null} hit */
export function idOf(hit) {
  if (!hit || hit.launch || hit.gap) return null;
  if (hit.wait) return hit.wait.node;
  const i = hit.call ? hit.call.item : (hit.i ?? -1);
  const id = i < 0 ? 0xffffffff : hit.side.nodeId[i];
  return id === 0xffffffff ? null : id;
}
