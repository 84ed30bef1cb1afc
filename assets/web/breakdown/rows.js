/**
 * Rows of blocks as elements: places by percent, so that they follow the window; arrow keys go from
 * block to block. A double click, or "z", gives a block the whole width; on a block around it, back.
 */
import * as format from "../core/format.js";
import { element } from "../core/parts.js";
import { step } from "./blocks.js";
/** @import { Blocks, Piece } from "./blocks.js" */

/** Height of a row of the strip, and the least of one of all rows, which fill the room there is (px). */
const HEIGHT = 22;
const OPEN_HEIGHT = 30;
/** Narrower neighbours are one piece, and a narrower piece has no text (px). */
const NARROW = 3;
const LEAST_TEXT = 18;
/** Of a layer that has less room (px) the number is enough. */
const NUMBER_ONLY = 70;
const NUMBER = /\d+$/;

export class Rows {
  /** @param {(nodes: number[], more: boolean) => void} select @param {() => void} showIdle */
  constructor(select, showIdle) {
    this.select = select;
    this.showIdle = showIdle;
    this.box = element("div", { class: "gv-blocks", role: "group", "aria-label": "Breakdown of a launch" });
    this.tip = element("div", { class: "gv-block-tip", role: "tooltip" });
    this.tip.hidden = true;
    /** @type {Blocks|null} */ this.blocks = null;
    /** @type {Piece[]} */ this.pieces = [];
    /** @type {HTMLElement[]} */ this.items = [];
    /** @type {number|null} */ this.root = null;
    this.isOpen = false;
    /** Which item Tab leads to. */
    this.current = 0;
    /** @type {Set<number>} */ this.selected = new Set();
    /** The nodes that keep their colour; null: all. @type {number[]|null} */ this.kept = null;
    this.watching = new ResizeObserver(() => this.fit());
    this.watching.observe(this.box);
    this.width = 0;
    this.height = HEIGHT;
    /** Focus that is moved here says nothing of its own. */
    this.isQuiet = false;
    this.listen();
  }

  /** @param {Blocks} blocks @param {boolean} isOpen all rows, higher ones */
  show(blocks, isOpen) {
    this.blocks = blocks;
    this.isOpen = isOpen;
    this.root = null;
    this.current = 0;
    this.draw();
  }

  /** Another width may have other pieces. */
  fit() {
    const width = this.box.clientWidth;
    if (width && width !== this.width) {
      this.width = width;
      this.draw();
    }
  }

  draw() {
    const { blocks } = this;
    if (!blocks) return;
    const width = this.width || this.box.clientWidth || 1;
    this.height = this.isOpen ? this.openHeight(blocks.rowNames.length) : HEIGHT;
    this.pieces = blocks.pieces(this.root, NARROW / width);
    this.items = this.pieces.map((piece) => this.item(piece, width));
    this.box.style.height = `${this.height * blocks.rowNames.length}px`;
    const idle = this.root === null && blocks.idleNs > 0 ? [this.idle(blocks)] : [];
    this.box.replaceChildren(...this.items, ...idle, this.tip);
    this.current = Math.min(this.current, Math.max(0, this.items.length - 1));
    if (this.items.length) this.items[this.current].tabIndex = 0;
    this.mark(this.selected, this.kept);
  }

  /** @param {number} rows */
  openHeight(rows) {
    const { parentElement } = this.box;
    const room = parentElement ? parentElement.clientHeight - this.box.offsetTop : 0;
    return heightOf(room, rows);
  }

  /** @param {Piece} piece @param {number} width */
  item(piece, width) {
    const { height } = this;
    const blocks = /** @type {Blocks} */ (this.blocks);
    const { row, first, end, start } = piece;
    const isOne = end === first + 1;
    const room = piece.width * width;
    const lines = blocks.describe(first, end);
    const item = element("button", {
      type: "button", tabindex: "-1", class: isOne ? "gv-block" : "gv-block gv-block-many",
      "aria-pressed": "false",
      "aria-label": lines.map(([name, value], at) => (at ? `${name}: ${value}` : `${name} ${value}`)).join(", "),
    }, isOne && room >= LEAST_TEXT ? textOf(blocks, first, room) : "");
    const { style } = item;
    style.left = `${100 * start}%`;
    style.width = `${100 * piece.width}%`;
    style.top = `${row * height}px`;
    style.height = `${height}px`;
    style.setProperty("--gv-block", blocks.colourOf(first));
    return item;
  }

  /** @param {Blocks} blocks */
  idle(blocks) {
    const share = blocks.idleNs / blocks.launchNs;
    const text = `idle ${format.duration(blocks.idleNs)}`;
    const box = element("button", {
      type: "button", class: "gv-block-idle", "aria-label": `${text}, ${format.percent(share)} of the launch`,
      title: `Nothing of the launch ran: ${format.duration(blocks.idleNs)}, ${format.percent(share)} of it. Look at the longest gap`,
    }, text);
    box.addEventListener("click", () => this.showIdle());
    box.style.width = `${100 * share}%`;
    box.style.lineHeight = `${this.height}px`;
    return box;
  }

  /** @param {Set<number>} selected @param {number[]|null} kept the nodes that keep their colour; null: all */
  mark(selected, kept) {
    this.selected = selected;
    this.kept = kept;
    const { blocks } = this;
    if (!blocks) return;
    const chosen = countsOf(blocks, selected);
    const left = kept && countsOf(blocks, new Set(kept));
    this.items.forEach((item, at) => {
      const { first, end } = this.pieces[at];
      const [from, to] = [blocks.first[first], blocks.end[end - 1]];
      const count = chosen[to] - chosen[from];
      item.ariaPressed = count === 0 ? "false" : count === to - from ? "true" : "mixed";
      item.classList.toggle("gv-block-out", left !== null && left[to] === left[from]);
    });
    // The ring is around what is selected as a whole, not around each block in it.
    const whole = new Set(this.pieces.filter((_, at) => this.items[at].ariaPressed === "true").map(({ first }) => first));
    this.items.forEach((item, at) => item.classList.toggle("gv-block-inner", whole.has(blocks.parent[this.pieces[at].first])));
    this.box.classList.toggle("gv-blocks-marked", selected.size > 0);
  }

  // -- gestures -----------------------------------------------------------------------

  listen() {
    const { box } = this;
    box.addEventListener("click", (event) => {
      const at = this.placeOf(event);
      // The second click of two would take back what the first one selected.
      if (at < 0 || event.detail > 1) return;
      this.goTo(at);
      this.choose(at, event.shiftKey);
    });
    box.addEventListener("dblclick", (event) => this.zoom(this.placeOf(event)));
    box.addEventListener("keydown", (event) => this.key(event));
    box.addEventListener("pointerover", (event) => this.point(this.placeOf(event)));
    box.addEventListener("pointerleave", () => this.point(-1));
    box.addEventListener("focusin", (event) => this.isQuiet || this.point(this.placeOf(event)));
    box.addEventListener("focusout", () => this.point(-1));
  }

  /** The item that an event happened at; -1: none. @param {Event} event */
  placeOf({ target }) {
    return this.items.findIndex((item) => item.contains(/** @type {Node|null} */ (target)));
  }

  /** @param {number} at @param {boolean} more */
  choose(at, more) {
    const { first, end } = this.pieces[at];
    this.select(/** @type {Blocks} */ (this.blocks).nodesOf(first, end), more);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = this.placeOf(event);
    if (at < 0) return;
    if (event.key === "z") {
      this.zoom(at);
      this.focus();
    } else {
      const next = step(this.pieces, at, event.key);
      if (next < 0) return;
      this.goTo(next);
      this.items[next].focus();
    }
    event.preventDefault();
  }

  /** Tab leads here from now on. @param {number} at */
  goTo(at) {
    if (this.items[this.current]) this.items[this.current].tabIndex = -1;
    this.current = at;
    this.items[at].tabIndex = 0;
  }

  focus() {
    this.isQuiet = true;
    this.items[this.current]?.focus();
    this.isQuiet = false;
  }

  /** Give a block the whole width; a block that has it gives it back. @param {number} at */
  zoom(at) {
    if (at < 0 || !this.isOpen) return;
    const { first, end } = this.pieces[at];
    const blocks = /** @type {Blocks} */ (this.blocks);
    // Of several narrow ones the block around them.
    const wanted = end === first + 1 ? first : blocks.parent[first];
    this.root = wanted === this.root || wanted < 0 ? null : wanted;
    this.draw();
    this.goTo(Math.max(0, this.pieces.findIndex((piece) => piece.first === first)));
  }

  /** Say what a block is. @param {number} at */
  point(at) {
    this.tip.hidden = at < 0;
    if (at < 0) return;
    const { first, end, row, start, width } = this.pieces[at];
    const blocks = /** @type {Blocks} */ (this.blocks);
    const [[, title], ...lines] = blocks.describe(first, end);
    this.tip.replaceChildren(element("b", {}, title), ...lines.map(([name, value]) =>
      element("div", {}, element("span", { class: "gv-muted" }, name), element("span", {}, value))));
    const { style } = this.tip;
    style.top = `${tipTop(row, this.height, this.isOpen ? this.box.clientHeight - this.tip.offsetHeight : Infinity)}px`;
    // Under the middle of the block, within the box.
    const middle = (start + width / 2) * this.box.clientWidth;
    style.left = `${Math.max(0, Math.min(this.box.clientWidth - this.tip.offsetWidth, middle - this.tip.offsetWidth / 2))}px`;
  }

  destroy() {
    this.watching.disconnect();
  }
}

/** The height of each of some rows that fill a room (px). @param {number} room @param {number} rows */
export const heightOf = (room, rows) => Math.max(OPEN_HEIGHT, Math.floor(room / rows));

/** Where a tip stands under a row, but no lower than `most` (px). @param {number} row @param {number} height @param {number} most */
export const tipTop = (row, height, most) => Math.min((row + 1) * height + 4, most);

/** How many of the nodes before each place are among some. @param {Blocks} blocks @param {Set<number>} some */
function countsOf(blocks, some) {
  const { node } = blocks;
  const before = new Uint32Array(node.length + 1);
  // Of a large graph a set takes 5 ms to be asked about every node: one node is compared alone.
  const [one] = some.size === 1 ? some : [null];
  for (let at = 0; some.size && at < node.length; at++) {
    before[at + 1] = before[at] + ((one === null ? some.has(node[at]) : node[at] === one) ? 1 : 0);
  }
  return before;
}

/** The text of a block that has some room (px). @param {Blocks} blocks @param {number} i @param {number} room */
export function textOf(blocks, i, room) {
  // What a block is the rest of stands above it.
  const label = blocks.labels[i] || "rest";
  const isLayer = blocks.rowKeys[blocks.row[i]] === "layer";
  const number = isLayer && room < NUMBER_ONLY && NUMBER.exec(label);
  if (number) return number[0];
  return `${label} ${blocks.write(blocks.widthNs[i])}`;
}
