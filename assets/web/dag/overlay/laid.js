/** An overlay of what a reader has laid on a graph: items have the value of their nodes together. */
import * as colour from "../../core/colour.js";
import { LaidColours, LaidScale, NONE, SEVERAL, numberOf } from "../../overlay/colours.js";
import { Categories, Ramp } from "./overlay.js";
/** @import { Theme } from "../../core/canvas.js" */
/** @import { Laid } from "../../core/frame.js" */

/** What the blocks of repeats have, each repeat's beside each other: from the least of them to the most. */
export class LaidBlocks {
  /** @param {Laid} laid @param {(i: number) => number[][]} blocksOf the nodes of each block of an item */
  constructor(laid, blocksOf) {
    this.laid = laid;
    this.blocksOf = blocksOf;
    /** @type {Map<number, {values: (number|string|null)[], colours: LaidColours}>} */ this.known = new Map();
  }

  /** The colour of each block of an item; null: it has no value. @param {number} i @param {Theme} theme */
  fills(i, theme) {
    const { values, colours } = this.known.get(i) ?? this.look(i);
    return values.map((value) => colours.paint(value, theme)?.fill ?? null);
  }

  /** @param {number} i */
  look(i) {
    const values = this.blocksOf(i).map((nodes) => this.laid.over(nodes));
    const found = { values, colours: new LaidColours(this.laid, values, true) };
    this.known.set(i, found);
    return found;
  }
}

/**
 * @param {Laid} laid @param {number} count of items @param {Map<number, number>} index the item of each node
 * @param {(i: number) => number[][]} blocksOf the nodes of each block of an item that is a repeat
 * @returns {Ramp|Categories}
 */
export function lay(laid, count, index, blocksOf) {
  const values = valuesOf(laid, count, index);
  const facts = { label: laid.label, array: "", missing: NONE, blocks: new LaidBlocks(laid, blocksOf) };
  if (!laid.isNumber) {
    // Behind all texts: nodes together that have several of them.
    const places = new Map([...laid.places, [SEVERAL, laid.places.size]]);
    const which = Int32Array.from(values, (value) => (value === null ? -1 : places.get(String(value)) ?? -1));
    const texts = Array.from(places.keys());
    const slots = texts.map((_, place) => Math.min(place, colour.CATEGORIES));
    return new Categories(laid.id, { ...facts, ranked: true }, which, (key) => texts[key], { ...slots });
  }
  const numbers = Float32Array.from(values, numberOf);
  const scale = new LaidScale(laid, numbers);
  return new Ramp(laid.id, { ...facts, unit: "laid", write: laid.write, laid: scale, scale: scale.scale }, numbers);
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
