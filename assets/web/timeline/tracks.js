/**
 * Tracks above the lanes of a launch: to which phase, layer, module and operation what runs belongs, as the
 * breakdown has it.
 *
 * @typedef {{from: number, to: number, block: number}} Stretch  in which nodes of one block run
 * @typedef {{rowKeys: string[], row: Uint8Array, first: Uint32Array, end: Uint32Array, node: Uint32Array, labels: string[],
 *   rowNames: string[], rowStart: Uint32Array, colourOf: (block: number) => string, nodesOf: (block: number) => number[],
 *   labelOf: (block: number) => string, describe: (block: number) => [string, string][]}} Blocks  of breakdown/blocks.js, as far as tracks need them
 */
import { GUTTER, toX } from "../core/axis.js";
import * as canvas from "../core/canvas.js";
/** @import { Pen, Size } from "../core/canvas.js" */
/** @import { TimeStyle } from "./draw.js" */
/** @import { Row } from "./rows.js" */
/** @import { Side } from "./side.js" */

/** Rows of the breakdown that are tracks; of layers one by one and together, the first there is. */
const TRACKS = [["phase"], ["layer", "layers"], ["module"], ["operation"]];
/** Operations are NVTX ranges, and so called beside the lanes as in the table. @type {Record<string, string>} */
const CALLED = { operation: "NVTX" };
const NUMBER = /\d+$/;
/** Beside a text (px), and the narrowest stretch that has one. */
const PAD = 4;
const LEAST = 10;
/** Height of labels, and of numbers: smaller where the number has more digits than its neighbour. */
const PX = 11;
const NUMBER_PX = [PX, 9];
const NO_TEXT = { text: "", px: PX };

export class Tracks {
  /** @param {Blocks} blocks of all rows */
  constructor(blocks) {
    this.blocks = blocks;
    const places = TRACKS.map((names) => names.map((name) => blocks.rowKeys.indexOf(name)).find((at) => at >= 0));
    /** The rows of the breakdown that are shown, outermost first. @type {number[]} */
    this.rows = places.filter((at) => at !== undefined);
    this.labels = this.rows.map((at) => CALLED[blocks.rowKeys[at]] ?? blocks.rowNames[at].toLowerCase());
    /** The block of each node, by row. @type {Map<number, number>[]} */
    this.blockOf = this.rows.map((at) => this.byNode(at));
    /** @type {WeakMap<Side, Stretch[][]>} */ this.known = new WeakMap();
  }

  /** @param {number} row @returns {Map<number, number>} */
  byNode(row) {
    const { blocks } = this;
    const found = new Map();
    for (let block = blocks.rowStart[row]; block < blocks.rowStart[row + 1]; block++) {
      if (!blocks.labels[block]) continue;
      for (let at = blocks.first[block]; at < blocks.end[block]; at++) found.set(blocks.node[at], block);
    }
    return found;
  }

  /** The stretches of each track, in order of start. @param {Side} side */
  of(side) {
    const known = this.known.get(side);
    if (known) return known;
    const made = this.blockOf.map((blockOf) => stretches(side, blockOf));
    this.known.set(side, made);
    return made;
  }

  /** The stretch of a track at a time; undefined: none. @param {Side} side @param {number} track @param {number} ns */
  at(side, track, ns) {
    return this.of(side)[track].findLast(({ from, to }) => from <= ns && ns <= to);
  }

  /**
   * @param {Pen} ctx @param {Side} side @param {Row} row @param {TimeStyle} style @param {Size} size
   */
  draw(ctx, side, row, style, size) {
    const { transform: t, theme } = style;
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    let covered = -1;
    for (const { from, to, block } of this.of(side)[row.lane]) {
      const x = Math.max(GUTTER, toX(t, from));
      const end = Math.min(size.width, toX(t, to));
      if (x > size.width) break;
      // A stretch that is not as wide as a pixel stands for its neighbours in it.
      if (end <= covered + 0.5) continue;
      const w = Math.max(1, end - x);
      ctx.fillStyle = this.blocks.colourOf(block);
      ctx.about?.(this.blocks.labelOf(block));
      ctx.fillRect(x, row.y, w > 3 ? w - 0.75 : w, row.h);
      covered = x + w;
      const { text, px } = this.textOf(ctx, block, w);
      if (!text) continue;
      ctx.font = canvas.font(px);
      ctx.fillStyle = theme.inkDark;
      ctx.fillText(text, x + Math.min(PAD, (w - canvas.textWidth(ctx, text, px)) / 2), row.y + row.h / 2 + 0.5);
    }
  }

  /** The rows of a tooltip on a block. @param {number} block @returns {string[][]} */
  describe(block) {
    const [[, title], ...lines] = this.blocks.describe(block);
    return [[title], ...lines];
  }

  /**
   * What stands on a stretch, and how large: its label, or its number where there is no room for it.
   * @param {Pen} ctx @param {number} block @param {number} w
   */
  textOf(ctx, block, w) {
    if (w < LEAST) return NO_TEXT;
    const room = w - 2 * PAD;
    const label = this.blocks.labels[block];
    if (canvas.textWidth(ctx, label, PX) <= room) return { text: label, px: PX };
    const [number = ""] = NUMBER.exec(label) ?? [];
    // Numbers of layers are known by their neighbours: they may fill their stretch.
    const px = NUMBER_PX.find((one) => canvas.textWidth(ctx, number, one) <= w - 3);
    if (number) return px ? { text: number, px } : NO_TEXT;
    return room > 24 ? { text: canvas.fitText(ctx, label, PX, room, 400), px: PX } : NO_TEXT;
  }
}

/** @param {Side} side @param {Map<number, number>} blockOf @returns {Stretch[]} */
function stretches(side, blockOf) {
  /** @type {Stretch[]} */
  const found = [];
  let last = /** @type {Stretch|null} */ (null);
  for (let i = 0; i < side.count; i++) {
    const block = blockOf.get(side.nodeId[i]);
    const end = side.start[i] + side.duration[i];
    if (block === undefined) last = null;
    else if (last && last.block === block) last.to = Math.max(last.to, end);
    else {
      last = { from: side.start[i], to: end, block };
      found.push(last);
    }
  }
  return apart(found);
}

/** Stretches beside each other: one that begins while another goes on stands over it until it ends. @param {Stretch[]} found in order of start */
function apart(found) {
  /** @type {Stretch[]} */ const made = [];
  /** Those that have begun, the one on top last. @type {Stretch[]} */ const begun = [];
  let now = 0;
  /** @param {number} until */
  const go = (until) => {
    while (begun.length && now < until) {
      const { to, block } = begun[begun.length - 1], end = Math.min(to, until), last = made.at(-1);
      if (end > now && last?.block === block && last.to === now) last.to = end;
      else if (end > now) made.push({ from: now, to: end, block });
      now = Math.max(now, end);
      if (to <= until) begun.pop();
    }
  };
  for (const stretch of found) {
    go(stretch.from);
    now = stretch.from;
    begun.push(stretch);
  }
  go(Infinity);
  return made;
}
