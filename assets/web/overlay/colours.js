/** Colours of nodes by what is laid on them. */
import * as colour from "../core/colour.js";
/** @import { Theme } from "../core/canvas.js" */
/** @import { Laid } from "../core/frame.js" */

/** What has no value is called so. */
export const NONE = "no value";
/** Nodes together that have different texts. */
export const SEVERAL = "several";
/** Numbers that share a pixel have one colour in so many steps of the ramp: finer ones are not told apart there. */
const SHARED_STEPS = 16;

/** How numbers of what is laid become colours: along a ramp, or to both sides of no change. */
export class LaidScale {
  /**
   * @param {Laid} laid @param {ArrayLike<number>} numbers all that are coloured, NaN: none
   * @param {boolean} [isSpread] from the least of them to the most
   */
  constructor(laid, numbers, isSpread = false) {
    this.diverges = !!laid.diverges;
    this.scale = this.diverges ? colour.changeScaleOf(numbers) : colour.scaleOf(numbers, isSpread);
  }

  /** @param {number} value */
  stepOf(value) {
    return this.diverges ? colour.changeStepOf(this.scale, value) : colour.stepOf(this.scale, value);
  }

  /** @param {Theme} theme */
  table(theme) {
    return this.diverges ? colour.changes(theme.name) : colour.ramp(theme.name);
  }

  /** Fill and ink of a number. @param {number} value @param {Theme} theme */
  paint(value, theme) {
    const { css, darkText } = this.table(theme);
    const step = this.stepOf(value);
    return { fill: css[step], ink: darkText[step] ? theme.inkDark : theme.inkLight };
  }

  /** Fill of a number among others in a pixel; both ends and no change keep theirs. @param {number} value @param {Theme} theme */
  sharedFill(value, theme) {
    const step = SHARED_STEPS * Math.round(this.stepOf(value) / SHARED_STEPS);
    return this.table(theme).css[Math.min(step, colour.STEPS - 1)];
  }
}

/** A value as a number; NaN: it is none. @param {number|string|null} value */
export const numberOf = (value) => (typeof value === "number" ? value : NaN);

/** The colour of a text; of nodes together that have several, that of the rarer ones. @param {Laid} laid @param {string} text @param {Theme} theme */
export const textColour = (laid, text, theme) => colour.category(laid.places.get(text) ?? colour.CATEGORIES, theme.name);

/** Fill and ink of some values, each coloured beside the others; null: it has none. */
export class LaidColours {
  /** @param {Laid} laid @param {Iterable<number|string|null>} values all that are coloured @param {boolean} [isSpread] */
  constructor(laid, values, isSpread) {
    this.laid = laid;
    this.scale = new LaidScale(laid, Array.from(values, numberOf), isSpread);
  }

  /** @param {number|string|null} value @param {Theme} theme */
  paint(value, theme) {
    if (value === null) return null;
    return typeof value === "number" ? this.scale.paint(value, theme)
      : { fill: textColour(this.laid, value, theme), ink: theme.inkDark };
  }

  /** Fill of a value among others in a pixel; null: it has none. @param {number|string|null} value @param {Theme} theme */
  sharedFill(value, theme) {
    if (value === null) return null;
    return typeof value === "number" ? this.scale.sharedFill(value, theme) : textColour(this.laid, value, theme);
  }
}
