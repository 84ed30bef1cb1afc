/** An overlay of what a reader has laid on a graph: items have the value of their nodes together. */
import * as colour from "../../core/colour.js";
import { NONE } from "../../overlay/colours.js";
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
    /** @type {Map<number|string, number>} */
    const keys = new Map();
    const which = Int32Array.from(values, (value) => {
      if (value === null) return -1;
      keys.set(value, keys.get(value) ?? keys.size);
      return keys.get(value) ?? -1;
    });
    const texts = Array.from(keys.keys(), String);
    return new Categories(laid.id, facts, which, (key) => texts[key]);
  }
  const numbers = Float32Array.from(values, (value) => (typeof value === "number" ? value : NaN));
  return new Ramp(laid.id, { ...facts, unit: "laid", write: laid.write, scale: colour.scaleOf(numbers) }, numbers);
}

/** @param {Laid} laid @param {number} count @param {Map<number, number>} index */
function valuesOf(laid, count, index) {
  /** @type {number[][]} */
  const nodes = Array.from({ length: count }, () => []);
  for (const [node, item] of index) nodes[item].push(node);
  return nodes.map((some) => (some.length === 1 ? laid.of(some[0]) : laid.shade(some)));
}
