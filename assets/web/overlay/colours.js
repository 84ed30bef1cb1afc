/** Colours of nodes by what is laid on them. */
import * as colour from "../core/colour.js";
/** @import { Theme } from "../core/canvas.js" */
/** @import { Laid } from "../core/frame.js" */

/** What has no value is called so. */
export const NONE = "no value";

export class LaidColours {
  /** @param {Laid} laid @param {Iterable<number>} nodes all of those that are coloured */
  constructor(laid, nodes) {
    this.laid = laid;
    const values = Array.from(nodes, (node) => laid.of(node));
    this.scale = colour.scaleOf(laid.isNumber ? values.map((value) => (typeof value === "number" ? value : NaN)) : []);
    /** The place of each text, those of most nodes first. @type {Map<number|string, number>} */
    this.places = laid.isNumber ? new Map() : placesOf(values);
  }

  /** Fill and ink of a node; null: it has no value. @param {number} node @param {Theme} theme */
  paint(node, theme) {
    const value = this.laid.of(node);
    if (value === null) return null;
    if (typeof value !== "number") return { fill: colour.category(this.places.get(value) ?? 0, theme.name), ink: theme.inkDark };
    const [ramp, step] = [colour.ramp(theme.name), colour.stepOf(this.scale, value)];
    return { fill: ramp.css[step], ink: ramp.darkText[step] ? theme.inkDark : theme.inkLight };
  }
}

/** @param {(number|string|null)[]} values @returns {Map<number|string, number>} */
function placesOf(values) {
  /** @type {Map<number|string, number>} */
  const counts = new Map();
  for (const value of values) if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1);
  const sorted = Array.from(counts).sort(([a, many], [b, more]) => more - many || String(a).localeCompare(String(b)));
  return new Map(sorted.map(([value], place) => [value, place]));
}
