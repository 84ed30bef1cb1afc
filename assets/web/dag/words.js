/** The DAG in words: what is selected, and what its colours mean. */
import * as announce from "../core/announce.js";
import * as format from "../core/format.js";
import * as dagTips from "./tips.js";
/** @import { Dag } from "./dag.js" */
/** @import { Overlay } from "./overlay/overlay.js" */
/** @import { DagScene } from "./scene/scene.js" */

/**
 * The selection as a sentence.
 * @param {Dag} view @param {number[]} ids of nodes
 */
export function selection(view, ids) {
  const items = itemsOf(view.scene, ids);
  if (!items.length) return "Nothing selected.";
  if (items.length === 1) return announce.wordsOf(describe(view, items[0]));
  return `${format.counted(ids.length, "node")} selected.`;
}

/**
 * Items that show these nodes, each once.
 * @param {DagScene} scene @param {number[]} ids
 */
export function itemsOf(scene, ids) {
  return Array.from(new Set(ids.map((id) => scene.index.get(id)))).filter((i) => i !== undefined);
}

/**
 * The rows of an item's tooltip, with what it is coloured by where they lack it.
 * @param {Dag} view @param {number} i
 */
export function describe(view, i) {
  const rows = dagTips.describe(view.scene, i);
  const overlay = view.overlay();
  const name = overlay.label.toLowerCase();
  const known = rows.some(([word]) => word === name) || DESCRIBED.has(overlay.name);
  return known ? rows : [...rows, [name, overlay.describe(i)]];
}

/** Overlays that every tooltip describes in other words. */
const DESCRIBED = new Set(["family", "duration", "p95", "share", "kind", "kernel", "change", "ratio"]);

/**
 * What the colours of an overlay mean, as a sentence.
 * @param {Overlay} overlay
 */
export function legend(overlay) {
  if (overlay.isChange) return overlay.sentence();
  const missing = overlay.unknown ? ` Hatched: ${overlay.missing || "none"}.` : "";
  if (!overlay.isRamp) {
    const own = overlay.categories.findIndex((_, at) => overlay.isRest(at));
    const names = overlay.categories.slice(0, own < 0 ? undefined : own).map((c) => c.text);
    const rest = overlay.categories.length - names.length;
    const more = rest > 0 ? ` and ${rest} more` : "";
    return `Coloured by ${overlay.label}: ${names.join(", ")}${more}.${missing}`;
  }
  const { most, log } = overlay.scale;
  if (most === null) return `Coloured by ${overlay.label}: none above zero.${missing}`;
  const scale = log ? ", on a logarithmic scale" : "";
  const from = overlay.reversed ? overlay.text(0) : overlay.lowest;
  return `Coloured by ${overlay.label}, ${from} to ${overlay.text(most)}${scale}.${missing}`;
}
