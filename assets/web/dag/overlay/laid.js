/** An overlay of what a reader has laid on a graph: items have the value of their nodes together. */
import * as colour from "../../core/colour.js";
import { NONE, SEVERAL } from "../../overlay/colours.js";
import { Categories, Ramp } from "./overlay.js";
/** @import { Laid } from "../../core/frame.js" */

/**
 * @param {Laid} laid @param {number} count of items @param {Map<number, number>} index the item of each node
 * @returns {Ramp|Categories}
 */
export function lay(laid, count, index) {
  const values = valuesOf(laid, count, index);
  const facts = { label: laid.label, array: "", missing: NONE };
  if (!laid.isNumber) {
    // Behind all texts: nodes together that have several of them.
    const places = new Map([...laid.places, [SEVERAL, laid.places.size]]);
    const which = Int32Array.from(values, (value) => (value === null ? -1 : places.get(String(value)) ?? -1));
    const texts = Array.from(places.keys());
    const slots = texts.map((_, place) => Math.min(place, colour.CATEGORIES));
    return new Categories(laid.id, { ...facts, ranked: true }, which, (key) => texts[key], { ...slots });
  }
  const numbers = Float32Array.from(values, (value) => (typeof value === "number" ? value : NaN));
  return new Ramp(laid.id, { ...facts, unit: "laid", write: laid.write, scale: colour.scaleOf(numbers) }, numbers);
}

/** The value of each item. @param {Laid} laid @param {number} count @param {Map<number, number>} index */
function valuesOf(laid, count, index) {
  /** The first node of each item; of those that stand for several, all. */
  const first = new Float64Array(count).fill(NaN);
  /** @type {Map<number, number[]>} */
  const several = new Map();
  for (const [node, item] of index) {
    if (Number.isNaN(first[item])) first[item] = node;
    else if (several.has(item)) several.get(item)?.push(node);
    else several.set(item, [first[item], node]);
  }
  return Array.from(first, (node, item) => {
    const all = several.get(item);
    if (all) return laid.shade(all);
    return Number.isNaN(node) ? null : laid.of(node);
  });
}
