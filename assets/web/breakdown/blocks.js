/**
 * Blocks of a breakdown: rows of a launch's time, where they stand, and steps from block to block.
 * Python side: gviz.app.views.breakdown.
 *
 * @typedef {"strip"|"whole"} Form
 * @typedef {{row: number, first: number, end: number, start: number, width: number}} Piece  blocks
 *   `first` to `end` of the form (one, or several that are too narrow to be drawn apart), at parts
 *   of the whole width
 * @typedef {{id: string, label: string, partOf: (node: number) => number|null, write: (value: number) => string}} Measure
 *   what blocks are as wide as, in place of time: what a node is of a sum
 */
import * as colour from "../core/colour.js";
import * as format from "../core/format.js";
/** @import { Payload } from "../core/payload.js" */

/** The colour place of what is no family. */
const NO_SLOT = 255;
/** Tints of what is no family, by its place in the first row; what is inside is lighter. */
const TINTS = ["#8fb2ea", "#a9d3b9", "#e2c795", "#cdb4e3", "#9fd0d6", "#e3b1b8"];
const LIGHTER = 0.18;
const LIGHTEST = 0.6;
/** What a row is called. @type {Record<string, string>} */
const ROW_NAMES = { phase: "Phase", layers: "Layers", layer: "Layer", module: "Module", operation: "Operation", family: "Kernel family" };

export class Blocks {
  /** @param {Payload} payload @param {Form} form @param {Measure|null} [measure] */
  constructor(payload, form, measure = null) {
    const { header } = payload;
    /** @type {string[]} */ this.rowKeys = header[form];
    /** @type {string[]} */ this.rowNames = this.rowKeys.map((name) => ROW_NAMES[name] ?? name);
    this.launchNs = header.launch_ns ?? 0;
    this.idleNs = header.idle_ns ?? 0;
    /** @type {(name: string) => any} */
    const array = (name) => payload[`${form}_${name}`] ?? [];
    /** @type {Uint32Array} */ this.node = array("node");
    /** @type {Uint8Array} */ this.row = array("row");
    /** @type {Uint32Array} */ this.first = array("first");
    /** @type {Uint32Array} */ this.end = array("end");
    /** @type {Uint32Array} */ this.executions = array("executions");
    /** @type {Float64Array} */ this.totalNs = array("total_ns");
    /** @type {Float64Array} */ this.coverNs = array("cover_ns");
    /** @type {Float64Array} */ this.widthNs = array("width_ns");
    /** @type {Uint8Array} */ this.slot = array("slot");
    this.count = this.row.length;
    this.labels = Array.from(array("label"), (/** @type {number} */ at) => /** @type {string} */ (header.strings[at]));
    /** The first block of each row, and one more. */
    this.rowStart = new Uint32Array(this.rowNames.length + 1).fill(this.count);
    for (let i = this.count - 1; i >= 0; i--) this.rowStart[this.row[i]] = i;
    /** The block above; -1 in the first row. */
    this.parent = new Int32Array(this.count).fill(-1);
    const parent = array("parent");
    for (let i = 0; i < this.count; i++) {
      if (this.row[i]) this.parent[i] = this.rowStart[this.row[i] - 1] + parent[i];
    }
    this.measure = measure;
    if (measure) this.weigh(measure);
    /** Where each begins, in ns from the left. */
    this.startNs = new Float64Array(this.count);
    for (let i = 0; i < this.count; i++) {
      const before = i > this.rowStart[this.row[i]] ? i - 1 : -1;
      this.startNs[i] = before < 0 ? 0 : this.startNs[before] + this.widthNs[before];
    }
  }

  /** Have blocks be as wide as the sum of a measure over their nodes. @param {Measure} measure */
  weigh(measure) {
    const before = new Float64Array(this.node.length + 1);
    this.node.forEach((node, at) => (before[at + 1] = before[at] + Math.max(0, measure.partOf(node) ?? 0)));
    this.widthNs = Float64Array.from(this.first, (first, i) => before[this.end[i]] - before[first]);
    this.launchNs = this.widthNs.subarray(0, this.rowStart[1] ?? 0).reduce((sum, width) => sum + width, 0);
    this.idleNs = 0;
  }

  /** A width in words. @param {number} width */
  write(width) {
    return this.measure ? this.measure.write(width) : format.duration(width);
  }

  /** The nodes of blocks `first` to `end` of one row. @param {number} first @param {number} [end] */
  nodesOf(first, end = first + 1) {
    return Array.from(this.node.subarray(this.first[first], this.end[end - 1]));
  }

  /** What blocks are called, with their nodes; families are no parts of a launch. */
  named() {
    const places = Array.from({ length: this.count }, (_, i) => i);
    return places.filter((i) => this.labels[i] && this.rowKeys[this.row[i]] !== "family")
      .map((i) => ({ label: this.labels[i], nodes: this.nodesOf(i) }));
  }

  /** The block of a row, by its place in it. @param {number} row @param {number} place */
  at(row, place) {
    return this.rowStart[row] + place;
  }

  /** What a block is called; one without a label is the rest of the one above. @param {number} i @returns {string} */
  labelOf(i) {
    if (this.labels[i]) return this.labels[i];
    return this.parent[i] < 0 ? "the rest" : `rest of ${this.labelOf(this.parent[i])}`;
  }

  /** The colour of a block; dark text stands on it. @param {number} i */
  colourOf(i) {
    if (this.slot[i] !== NO_SLOT) return colour.ofFamily(this.slot[i]);
    const path = this.pathOf(i);
    const depth = path.length - 1 + (this.labels[i] ? 0 : 1);
    return colour.lighter(TINTS[path[0] % TINTS.length], Math.min(LIGHTEST, LIGHTER * depth));
  }

  /** The place of a row of this name; -1: there is none. @param {string} name */
  rowOf(name) {
    return this.rowKeys.indexOf(name);
  }

  /** The part of the launch that a block is. @param {number} i */
  shareOf(i) {
    return this.launchNs ? this.widthNs[i] / this.launchNs : 0;
  }

  /** The blocks around a block, outermost first, and itself. @param {number} i */
  pathOf(i) {
    const path = [i];
    while (this.parent[path[0]] >= 0) path.unshift(this.parent[path[0]]);
    return path;
  }

  /**
   * The lines of a tooltip on some blocks of a row: [name, value], the first is the title.
   * @param {number} first @param {number} [end]
   * @returns {[string, string][]}
   */
  describe(first, end = first + 1) {
    const blocks = Array.from({ length: end - first }, (_, k) => first + k);
    /** @param {Float64Array|Uint32Array} values */
    const sum = (values) => blocks.reduce((whole, i) => whole + values[i], 0);
    const [width, total, executions] = [sum(this.widthNs), sum(this.totalNs), sum(this.executions)];
    const nodes = this.end[end - 1] - this.first[first];
    const row = this.rowNames[this.row[first]];
    /** @type {[string, string][]} */
    const lines = [[row, blocks.length > 1 ? `${format.integer(blocks.length)} narrow ones` : this.labelOf(first)]];
    const part = `${this.write(width)}, ${format.percent(this.launchNs ? width / this.launchNs : 0)}`;
    lines.push([this.measure?.label ?? "Part of the median launch", part]);
    // Where others ran at the same time, they share it: then these differ.
    if (this.measure || total > width * 1.005) lines.push(["Node time", format.duration(total)]);
    if (!this.measure && blocks.length === 1 && this.coverNs[first] > width * 1.005) lines.push(["Running", format.duration(this.coverNs[first])]);
    lines.push(["Nodes", format.integer(nodes) + (executions === nodes ? "" : `, ${format.integer(executions)} executions`)]);
    return lines;
  }

  /**
   * What is drawn: the blocks in one block, or all of them, each as a part of the whole width;
   * neighbours that are narrower than `least` are one piece.
   * @param {number|null} root the block that takes the whole width; null: the launch
   * @param {number} least part of the whole width
   * @returns {Piece[]}
   */
  pieces(root, least) {
    const from = root === null ? 0 : this.startNs[root];
    const whole = root === null ? this.launchNs : this.widthNs[root];
    /** @type {Piece[]} */
    const found = [];
    if (!whole) return found;
    for (let i = 0; i < this.count; i++) {
      // Nothing of a measure is in it.
      if (!this.isIn(i, root) || (this.measure && !this.widthNs[i])) continue;
      const above = root !== null && this.row[i] < this.row[root];
      const start = above ? 0 : (this.startNs[i] - from) / whole;
      const width = above ? 1 : this.widthNs[i] / whole;
      const last = found.at(-1);
      const joins = last && last.end === i && last.row === this.row[i] && width < least && last.width < least;
      if (joins) {
        last.end = i + 1;
        last.width = start + width - last.start;
      } else {
        found.push({ row: this.row[i], first: i, end: i + 1, start, width });
      }
    }
    return found;
  }

  /** Whether a block is drawn when another takes the whole width. @param {number} i @param {number|null} root */
  isIn(i, root) {
    if (root === null) return true;
    const [low, high] = this.row[i] < this.row[root] ? [i, root] : [root, i];
    return this.first[low] <= this.first[high] && this.end[high] <= this.end[low] && this.pathOf(high).includes(low);
  }
}

/**
 * The piece that a key leads to from another; -1: none.
 * @param {Piece[]} pieces @param {number} at @param {string} key
 */
export function step(pieces, at, key) {
  const here = pieces[at];
  if (!here) return -1;
  const middle = here.start + here.width / 2;
  /** @param {number} row the piece of another row that is over or under the middle of this one */
  const across = (row) => pieces.findIndex((p) => p.row === row && p.start <= middle && middle < p.start + p.width);
  switch (key) {
    case "ArrowLeft": return pieces[at - 1]?.row === here.row ? at - 1 : -1;
    case "ArrowRight": return pieces[at + 1]?.row === here.row ? at + 1 : -1;
    case "ArrowUp": return across(here.row - 1);
    // The widest of those inside stands first.
    case "ArrowDown": return pieces.findIndex((p) => p.row === here.row + 1 && p.start + p.width > here.start && p.start >= here.start - 1e-9);
    case "Home": return pieces.findIndex((p) => p.row === here.row);
    case "End": return pieces.findLastIndex((p) => p.row === here.row);
    default: return -1;
  }
}
