/** The overlays for which visible items have values, and their scales. Python side: gviz.app.views.dag.overlays. */

/**
 * @typedef {{name: string, array: string, entry: Record<string, any>}} Overlay  `entry` is what is shown of it, `scale` aside
 */

/**
 * @param {Overlay[]} overlays @param {Record<string, any>} arrays @param {Set<number>} frames items without a colour
 * @param {number} ratio from which on a scale is logarithmic
 */
export function describeOverlays(overlays, arrays, frames, ratio) {
  /** @type {Record<string, any>} */ const found = {};
  for (const { name, array, entry } of overlays) {
    const values = arrays[array];
    if (!values || !hasValues(entry, values, frames)) continue;
    found[name] = { ...entry };
    if (!entry.unit) continue;
    const known = Array.from(values).filter((_, i) => !frames.has(i));
    found[name].scale = scaleOf(known, ratio);
  }
  return found;
}

/** @param {Record<string, any>} entry @param {any} values @param {Set<number>} frames */
function hasValues(entry, values, frames) {
  const isKnown = entry.unit ? Number.isFinite : values instanceof Int32Array ? (/** @type {number} */ v) => v >= 0 : () => true;
  return values.some((/** @type {number} */ value, /** @type {number} */ i) => !frames.has(i) && isKnown(value));
}

/** @param {number[]} values @param {number} ratio */
function scaleOf(values, ratio) {
  let least = Infinity, most = -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value) || value <= 0) continue;
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  if (most < 0) return { least: null, most: null, log: false };
  return { least, most, log: most / least >= ratio };
}
