/** Changes against a baseline in words: of an item's tooltip, and for tests. */
import * as format from "../core/format.js";
import { WORDS } from "./overlay/change.js";
/** @import { Overlay } from "./overlay/overlay.js" */
/** @import { DagScene } from "./scene/scene.js" */

/**
 * The rows of a tooltip about a baseline; none without one.
 * @param {DagScene} scene @param {number} i
 */
export function rows(scene, i) {
  const { baseline, strings } = scene.header;
  if (!baseline) return [];
  const { payload } = scene;
  const found = [];
  if (Number.isFinite(payload.baseline_ns[i])) {
    const mean = scene.bodies.parents.has(i) ? ", mean of a launch" : "";
    found.push([`in ${baseline.name}${mean}`, format.duration(payload.baseline_ns[i])]);
  }
  if (Number.isFinite(payload.change_ns[i])) {
    const ratio = payload.change_log2[i];
    const relative = Number.isFinite(ratio) ? `, ${format.signedPercent(2 ** ratio - 1)}` : "";
    found.push(["change", format.signedDuration(payload.change_ns[i]) + relative]);
  }
  found.push([`against ${baseline.name}`, WORDS[baseline.verdicts[payload.verdict[i]]]]);
  const difference = payload.difference[i];
  if (difference >= 0) found.push([scene.isFold(i) ? "nodes" : "changed", strings[difference]]);
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
