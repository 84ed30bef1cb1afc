/**
 * The overlay of changes between two graphs: one colour for slower, one for faster, none for what
 * is within noise; what is significant has an arrow, what one graph alone has an outline of its own
 * (dag/draw/union.js). Python side: gviz.app.views.change_overlay.
 *
 * @typedef {{verdicts: string[], added: number, gone: number, untested: string|null}} Changes  of a
 *   payload's header
 */
import * as colour from "../../core/colour.js";
import * as format from "../../core/format.js";
import { inOrderOf } from "./order.js";
/** @import { Theme } from "../../core/canvas.js" */
/** @import { Payload } from "../../core/payload.js" */
/** @import { Facts, Scale } from "./overlay.js" */

/** @type {Record<string, string>} */
const ARROWS = { slower: "▲", faster: "▼" };
/** @type {Record<string, string>} */
export const WORDS = {
  slower: "slower, by more than noise", faster: "faster, by more than noise",
  noise: "within noise", untested: "not tested", untimed: "not timed in both",
  added: "no counterpart: added", removed: "no counterpart: removed",
};

export class Change {
  /** @param {string} name @param {Facts} facts @param {Payload} payload */
  constructor(name, facts, payload) {
    this.name = name;
    this.label = facts.label;
    this.unit = facts.unit;
    this.missing = facts.missing ?? "";
    this.scale = /** @type {Scale} */ (facts.scale);
    /** @type {Float32Array} */ this.values = payload[facts.array];
    /** @type {true} */ this.isRamp = true;
    /** @type {true} */ this.isChange = true;
    /** @type {Changes} */ this.changes = payload.header.change;
    /** @type {Uint8Array} */ this.verdicts = payload.verdict;
    const count = this.values.length;
    this.step = new Uint8Array(count);
    this.unknown = false;
    for (let i = 0; i < count; i++) {
      this.step[i] = this.stepOf(i);
      if (!this.hasValue(i) && !this.isLone(i)) this.unknown = true;
    }
    this.inOrder = inOrderOf(this.step);
  }

  /**
   * Noise, and what is not known, has the step of no change.
   * @param {number} i
   */
  stepOf(i) {
    const counts = this.hasValue(i) && !this.isCalm(i);
    return colour.changeStepOf(this.scale, counts ? this.values[i] : 0);
  }

  /** @param {number} i */
  verdict(i) {
    return this.changes.verdicts[this.verdicts[i]];
  }

  /** @param {number} i */
  hasValue(i) {
    return this.values[i] === this.values[i];
  }

  /** @param {number} i */
  isCalm(i) {
    return this.verdict(i) === "noise";
  }

  /** @param {number} i */
  isAdded(i) {
    return this.verdict(i) === "added";
  }

  /**
   * Whether a node is of one graph alone: added or removed.
   * @param {number} i
   */
  isLone(i) {
    return this.isAdded(i) || this.verdict(i) === "removed";
  }

  /**
   * ▲ or ▼ of a significant change, "" of others.
   * @param {number} i
   */
  arrow(i) {
    return ARROWS[this.verdict(i)] || "";
  }

  /** @param {number} i @param {Theme} theme */
  paint(i, theme) {
    if (this.isLone(i)) return { fill: theme.ground, ink: theme.ink };
    if (!this.hasValue(i)) return null;
    const { css, darkText } = colour.changes(theme.name);
    const step = this.step[i];
    return { fill: css[step], ink: darkText[step] ? theme.inkDark : theme.inkLight };
  }

  /**
   * How much a step stands out where many nodes share a pixel (1..255).
   * @param {number} step
   */
  rankOf(step) {
    return 1 + Math.min(252, 2 * Math.abs(step - 128));
  }

  /** @param {Theme} theme */
  wordsOf(theme) {
    return colour.changes(theme.name).words;
  }

  /**
   * The RGBA word of a node that stands out above all others; 0: as its step says.
   * @param {number} i @param {Theme} theme
   */
  loneWord(i, theme) {
    if (!this.isLone(i)) return 0;
    return colour.wordOf(this.isAdded(i) ? theme.accent : theme.muted);
  }

  /** @param {number} value */
  text(value) {
    return this.unit === "ns" ? format.signedDuration(value) : format.signedPercent(2 ** value - 1);
  }

  /**
   * The change of a node in words.
   * @param {number} i
   */
  describe(i) {
    if (!this.hasValue(i)) return WORDS[this.verdict(i)];
    return `${this.text(this.values[i])} (${WORDS[this.verdict(i)]})`;
  }

  /**
   * The change on a card: short, with its arrow; of noise only that it is.
   * @param {number} i
   */
  line(i) {
    const verdict = this.verdict(i);
    if (verdict === "noise") return "≈";
    return this.hasValue(i) ? `${this.arrow(i)} ${this.text(this.values[i])}`.trim() : WORDS[verdict];
  }

  /** What the colours and marks mean, as a sentence. */
  sentence() {
    const { untested } = this.changes;
    const { most, log } = this.scale;
    const range = most === null
      ? "none"
      : `${this.text(-most)} to ${this.text(most)}${log ? ", on a logarithmic scale" : ""}`;
    const marks = untested
      ? `Changes were not tested: ${untested}.`
      : "Arrows mark changes by more than noise.";
    const hatched = this.unknown ? ` Hatched: ${this.missing}.` : "";
    return `Coloured by ${this.label} from A to B: ${range}. ${marks}${hatched}`;
  }
}
