/** Open bodies along time: a frame over the lanes of its nodes, in a lane of its own height. Python side: gviz.layout.nested_time. */
import { BODY_HEAD, FRAME_HEAD, listBodies, PAD } from "./nested.js";
import { ROW_PITCH } from "./sizes.js";
import { countLanes } from "./timed.js";
/** @import { Parent } from "./nested.js" */
/** @import { TimePlacement } from "./timed.js" */

/**
 * @typedef {{y: Float64Array, bar_y: Float64Array, half_height: Float64Array, top: number, bottom: number}} StackedLevel  one
 *   a node its middle, and of an open one half its frame's height, NaN for the others; one a bar; the box of a body
 */

/** Between a frame and those in the lanes over and under it. */
const FRAME_GAP = 12;

/** The levels in one plane, each body inside the frame of its parent node. @param {{place: TimePlacement, parent: Parent}[]} levels */
export function stackLevels(levels) {
  const bodiesOf = listBodies(levels.map((level) => level.parent));
  /** Where each lane begins, and where the last one ends. @type {number[][]} */ const tops = [];
  /** @type {Map<number, number>[]} */ const frames = levels.map(() => new Map());
  const end = (/** @type {number} */ at) => tops[at][tops[at].length - 1];
  for (let number = levels.length - 1; number >= 0; number--) {
    for (const [node, nested] of bodiesOf[number]) {
      const head = nested.length > 1 ? BODY_HEAD : 0;
      frames[number].set(node, FRAME_HEAD + nested.reduce((sum, at) => sum + (end(at) + head + PAD), 0));
    }
    tops[number] = laneTops(levels[number].place, frames[number]);
  }
  return stack(levels.map((level) => level.place), bodiesOf, tops, frames);
}

/** @param {TimePlacement} place @param {Map<number, number>} frames */
function laneTops(place, frames) {
  const height = new Array(countLanes(place)).fill(ROW_PITCH);
  for (const [node, frame] of frames) {
    const lane = place.lane[place.first[node]];
    height[lane] = Math.max(height[lane], frame + FRAME_GAP);
  }
  const tops = [0];
  for (const one of height) tops.push(tops[tops.length - 1] + one);
  return tops;
}

/** @param {TimePlacement[]} places @param {Map<number, number[]>[]} bodiesOf @param {number[][]} tops @param {Map<number, number>[]} frames */
function stack(places, bodiesOf, tops, frames) {
  const begin = places.map(() => 0);
  const box = places.map(() => ({ top: 0, bottom: tops[0][tops[0].length - 1] }));
  return places.map((place, number) => {
    const laneTop = Float64Array.from(place.lane, (lane) => tops[number][lane] + begin[number]);
    const barY = laneTop.map((top) => top + ROW_PITCH / 2);
    const y = Float64Array.from(place.first, (bar) => barY[bar]), half = new Float64Array(y.length).fill(NaN);
    for (const [node, nested] of bodiesOf[number]) {
      const height = frames[number].get(node) ?? 0;
      half[node] = height / 2;
      const top = laneTop[place.first[node]] + FRAME_GAP / 2;
      y[node] = barY[place.first[node]] = top + height / 2;
      let at = top + FRAME_HEAD;
      for (const body of nested) {
        begin[body] = at + (nested.length > 1 ? BODY_HEAD : 0);
        box[body] = { top: at, bottom: begin[body] + tops[body][tops[body].length - 1] };
        at = box[body].bottom + PAD;
      }
    }
    return { y, bar_y: barY, half_height: half, ...box[number] };
  });
}
