/** The overlays for which visible items have values, and their scales. Python side: gviz.app.views.dag.overlays. */

/**
 * @typedef {{name: string, array: string, entry: Record<string, any>}} Overlay  `entry` is what is shown of it, `scale` aside
 */

/**
 * @param {Record<string, any>} header of all: the overlays, the ratio from which on a scale is logarithmic, of two graphs the verdicts that are beyond noise
 * @param {Record<string, any>} arrays @param {Set<number>} frames items without a colour
 */
export function describeOverlays({ overlays, log_ratio: ratio, significant }, arrays, frames) {
  /** @type {Record<string, any>} */ const found = {};
  for (const { name, array, entry } of /** @type {Overlay[]} */ (overlays)) {
    const values = arrays[array];
    if (!values || !hasValues(entry, values, frames)) continue;
    found[name] = { ...entry };
    if (!entry.unit) continue;
    const items = Array.from(values.keys()).filter((i) => !frames.has(i));
    const counted = entry.signed ? changesOf(items, values, arrays.verdict, significant) : items.map((i) => values[i]);
    found[name].scale = scaleOf(counted, ratio);
  }
  return found;
}

/** @param {Record<string, any>} entry @param {any} values @param {Set<number>} frames */
function hasValues(entry, values, frames) {
  const isKnown = entry.unit ? Number.isFinite : values instanceof Int32Array ? (/** @type {number} */ v) => v >= 0 : () => true;
  return values.some((/** @type {number} */ value, /** @type {number} */ i) => !frames.has(i) && isKnown(value));
}

/** Sizes of the changes beyond noise; of all where there is none such. @param {number[]} items @param {any} values @param {Uint8Array} verdict @param {number[]} significant */
function changesOf(items, values, verdict, significant) {
  const beyond = items.filter((i) => significant.includes(verdict[i]) && Number.isFinite(values[i]));
  return (beyond.length ? beyond : items).map((i) => Math.abs(values[i]));
}

/** @param {number[]} values @param {number} ratio */
export function scaleOf(values, ratio) {
  let least = Infinity, most = -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value) || value <= 0) continue;
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  if (most < 0) return { least: null, most: null, log: false };
  return { least, most, log: most / least >= ratio };
}
