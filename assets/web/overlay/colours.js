/** Colours of nodes by what is laid on them. */
import * as colour from "../core/colour.js";
/** @import { Theme } from "../core/canvas.js" */
/** @import { Laid } from "../core/frame.js" */

/** What has no value is called so. */
export const NONE = "no value";
/** Nodes together that have different texts. */
export const SEVERAL = "several";

export class LaidColours {
  /** @param {Laid} laid @param {Iterable<number>} nodes all of those that are coloured */
  constructor(laid, nodes) {
    this.laid = laid;
    const values = laid.isNumber ? Array.from(nodes, (node) => laid.of(node)) : [];
    this.scale = colour.scaleOf(values.map((value) => (typeof value === "number" ? value : NaN)));
  }

  /** Fill and ink of a node; null: it has no value. @param {number} node @param {Theme} theme */
  paint(node, theme) {
    const value = this.laid.of(node);
    if (value === null) return null;
    if (typeof value !== "number") return { fill: colour.category(this.laid.places.get(value) ?? 0, theme.name), ink: theme.inkDark };
    const [ramp, step] = [colour.ramp(theme.name), colour.stepOf(this.scale, value)];
    return { fill: ramp.css[step], ink: ramp.darkText[step] ? theme.inkDark : theme.inkLight };
  }
}
