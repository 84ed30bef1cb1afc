/**
 * The kin of a selection: the edges to and from it, the nodes at their other ends.
 *
 * @typedef {{scene: DagScene, up: Uint8Array, down: Uint8Array, within: Uint8Array, shown: Uint8Array,
 *   selected: Uint8Array, list: {up: number[], down: number[], within: number[], shown: number[]}}}
 *   Kin  flags, one an edge (`up` leads to a selected node, `down` away from one, `within` stands in an
 *   open one) and one a node; and those that have them, each once
 */
import * as dagFrames from "./frames.js";
/** @import { Pen, Size } from "../../core/canvas.js" */
/** @import { DagScene } from "../scene/scene.js" */
/** @import { Style } from "./plane.js" */

/** Of a selection, so many rings on screen are drawn; more would show nothing. */
export const MOST_RINGS = 1500;

/**
 * The kin of a selection that has not changed: every frame requests it.
 * @type {WeakMap<number[], Kin>}
 */
const kept = new WeakMap();

/**
 * The edges to and from nodes, and these nodes with those at the other ends. With an open node
 * comes all that is in it, and the edges there.
 * @param {DagScene} scene
 * @param {number[]} nodes a selection, the same array while it is the same selection
 * @returns {Kin}
 */
export function kinOf(scene, nodes) {
  const found = kept.get(nodes);
  if (found && found.scene === scene) return found;
  /** @type {Kin} */
  const kin = {
    scene, up: new Uint8Array(scene.edgeCount), down: new Uint8Array(scene.edgeCount),
    shown: new Uint8Array(scene.count), selected: new Uint8Array(scene.count),
    within: new Uint8Array(scene.edgeCount),
    list: { up: [], down: [], within: [], shown: [] },
  };
  /** @param {"up"|"down"|"within"|"shown"} name @param {number} at */
  const mark = (name, at) => {
    if (!kin[name][at]) kin.list[name].push(at);
    kin[name][at] = 1;
  };
  for (const i of nodes) {
    kin.selected[i] = 1;
    mark("shown", i);
    for (const e of scene.edgesTo(i)) {
      mark("up", e);
      mark("shown", scene.from[e]);
    }
    for (const e of scene.edgesFrom(i)) {
      mark("down", e);
      mark("shown", scene.to[e]);
    }
  }
  for (const { item } of scene.bodies.frames) {
    for (const inner of kin.shown[item] ? scene.bodies.inside(item) : []) {
      mark("shown", inner);
      for (const e of scene.edgesFrom(inner)) mark("within", e);
    }
  }
  kept.set(nodes, kin);
  return kin;
}

/**
 * Over a veil: the frames near a selection as they are, of the others the names.
 * @param {Pen} ctx @param {DagScene} scene @param {(i: number) => unknown} near
 * @param {Style} style @param {Size} size
 */
export function drawNearFrames(ctx, scene, near, style, size) {
  const { frames } = scene.bodies;
  const others = frames.filter(({ item }) => !near(item));
  dagFrames.drawNames(ctx, scene, others, { ...style, faded: true }, size);
  dagFrames.draw(ctx, scene, frames.filter(({ item }) => near(item)), style, size);
}
