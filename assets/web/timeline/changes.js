/**
 * Changes of nodes from one launch to the other: the colours of their spans, and words.
 * Python side: gviz.app.pages.compare.timeline.
 *
 * @typedef {"change"|"ratio"} By  what colours say: time, or a share of the time before
 */
import * as colour from "../core/colour.js";
import * as format from "../core/format.js";
/** @import { Theme } from "../core/canvas.js" */
/** @import { Payload } from "../core/payload.js" */

const WORDS = /** @type {Record<string, string>} */ ({
  slower: "slower", faster: "faster", noise: "within noise", untested: "not tested", untimed: "not timed in both",
  added: "added", removed: "removed",
});

export class Changes {
  /** @param {Payload} payload */
  constructor({ header, change_node: nodes, change_ns: ns, change_log2: log2, change_verdict: verdicts }) {
    /** @type {any} */ this.header = header.changes;
    /** @type {Record<By, Float32Array>} */ this.values = { change: ns, ratio: log2 };
    /** @type {Uint8Array} */ this.verdicts = verdicts;
    this.places = new Map(Array.from(/** @type {Uint32Array} */ (nodes), (node, at) => [node, at]));
    /** The verdicts that nodes have. @type {Set<string>} */
    this.there = new Set(Array.from(new Set(this.verdicts), (at) => this.header.verdicts[at]));
    /** The steps of the colours that nodes have, by what these say. @type {Record<string, Uint16Array>} */
    this.steps = {};
    for (const [by, values] of Object.entries(this.values)) if (this.has(by)) this.steps[by] = this.stepsOf(this.header[by], values);
  }

  /** Whether spans can be coloured by something. @param {string} by */
  has(by) {
    return by in this.values && this.header[by].most !== null;
  }

  /** "slower", "faster", "noise", "added" …; "" of what is no node. @param {number} node */
  verdict(node) {
    const at = this.places.get(node);
    return at === undefined ? "" : this.header.verdicts[this.verdicts[at]];
  }

  /** Whether any node has a verdict. @param {string} verdict */
  isThere(verdict) {
    return this.there.has(verdict);
  }

  /** The colour of a span. @param {number} node @param {string} by @param {Theme} theme */
  paint(node, by, theme) {
    const lone = this.lone(this.verdict(node), theme);
    if (lone) return { fill: lone, ink: theme.ground };
    const step = this.steps[by][this.places.get(node) ?? -1] ?? colour.changeStepOf(this.header[by], 0);
    const { css, darkText } = colour.changes(theme.name);
    return { fill: css[step], ink: darkText[step] ? theme.inkDark : theme.inkLight };
  }

  /** The steps of the colours of some values. @param {Parameters<typeof colour.changeStepOf>[0]} scale @param {Float32Array} values */
  stepsOf(scale, values) {
    const noise = this.header.verdicts.indexOf("noise");
    return Uint16Array.from(values, (value, at) =>
      colour.changeStepOf(scale, Number.isFinite(value) && this.verdicts[at] !== noise ? value : 0));
  }

  /** The colour of what one side alone has. @param {string} verdict @param {Theme} theme */
  lone(verdict, theme) {
    return { added: theme.accent, removed: theme.muted }[verdict];
  }

  /** The row of a tooltip. @param {number} node @returns {[string, string][]} */
  rows(node) {
    const verdict = this.verdict(node);
    if (!verdict) return [];
    const at = /** @type {number} */ (this.places.get(node));
    const [ns, log2] = [this.values.change[at], this.values.ratio[at]];
    const share = Number.isFinite(log2) ? `, ${format.signedPercent(2 ** log2 - 1)}` : "";
    const much = Number.isFinite(ns) ? `${format.signedDuration(ns)}${share} (${WORDS[verdict]})` : WORDS[verdict];
    return [["change", much]];
  }
}

/** What the colours mean, as a sentence. */
export const SENTENCE = "Spans have the colours of the graph: blue faster, orange slower, grey within noise; "
  + "removed ones are slate, added ones green.";
