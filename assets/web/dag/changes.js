/** Changes of the nodes of two graphs in words: of an item's tooltip, and for tests. */
import * as format from "../core/format.js";
import { WORDS } from "./overlay/change.js";
/** @import { Overlay } from "./overlay/overlay.js" */
/** @import { DagScene } from "./scene/scene.js" */

/**
 * The rows of a tooltip about both graphs; none of one alone.
 * @param {DagScene} scene @param {number} i
 */
export function rows(scene, i) {
  const { change, strings } = scene.header;
  if (!change) return [];
  const { payload } = scene;
  const found = [];
  if (Number.isFinite(payload.before_ns[i])) {
    const mean = scene.bodies.parents.has(i) ? ", mean of a launch" : "";
    found.push([`in A${mean}`, format.duration(payload.before_ns[i])]);
  }
  if (Number.isFinite(payload.change_ns[i])) {
    const ratio = payload.change_log2[i];
    const relative = Number.isFinite(ratio) ? `, ${format.signedPercent(2 ** ratio - 1)}` : "";
    found.push(["change", format.signedDuration(payload.change_ns[i]) + relative]);
  }
  found.push(["against A", WORDS[change.verdicts[payload.verdict[i]]]]);
  const difference = payload.difference[i];
  if (difference >= 0) found.push(["changed", strings[difference]]);
  return found;
}

/**
 * For tests: the mark of each item, by its node; undefined without changes.
 * @param {DagScene} scene @param {Overlay} overlay
 */
export function state(scene, overlay) {
  if (!overlay.isChange) return undefined;
  /** @param {number} i */
  const of = (i) => ({
    verdict: overlay.verdict(i), arrow: overlay.arrow(i), calm: overlay.isCalm(i),
  });
  return Object.fromEntries(Array.from(scene.nodeId, (id, i) => [id, of(i)]));
}
