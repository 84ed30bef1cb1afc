/** The tooltip over a canvas: at the pointer, or pinned to a thing that the keyboard stands on. */
import { append } from "./dom.js";
/** @import { Frame, Point } from "./frame.js" */

export class Tooltip {
  /** @param {Frame} frame */
  constructor(frame) {
    this.frame = frame;
    this.box = append("div", "gviz-canvas-tooltip", frame.box);
    this.box.hidden = true;
    /** Where it hangs on that the keyboard has opened. @type {(() => Point|null)|null} */
    this.pinned = null;
  }

  /**
   * At the pointer; it is put away where there are no rows.
   * @param {string[][]|null} rows first the title @param {number} [x] @param {number} [y]
   */
  show(rows, x, y) {
    if (!rows && this.pinned) return;
    this.pinned = null;
    this.frame.canvas.classList.toggle("gviz-canvas-over", !!rows);
    this.fill(rows);
    if (rows) this.hang({ x: x ?? 0, y: y ?? 0 });
  }

  /**
   * At a thing, for the keyboard; it moves with the thing.
   * @param {string[][]|null} rows @param {(() => Point|null)|null} spot
   */
  pin(rows, spot = null) {
    if (!rows && !this.pinned) return;
    this.pinned = rows ? spot : null;
    this.fill(rows);
    this.frame.redraw();
  }

  /** Stay beside the thing that it is pinned to. */
  follow() {
    if (this.pinned) this.hang(this.pinned());
  }

  /** @param {string[][]|null} rows  first the title, then names and values */
  fill(rows) {
    this.box.hidden = !rows;
    if (!rows) return;
    this.box.replaceChildren();
    const [title, ...rest] = rows;
    append("div", "gviz-canvas-tooltip-title", this.box).textContent = title[0];
    for (const [name, value] of rest) {
      const line = append("div", "gviz-canvas-tooltip-line", this.box);
      append("span", "gviz-canvas-tooltip-name", line).textContent = name;
      append("span", "gviz-canvas-tooltip-value", line).textContent = value;
    }
  }

  /**
   * Beside a point of the canvas, where there is room.
   * @param {Point|null} spot
   */
  hang(spot) {
    this.box.hidden = !spot;
    if (!spot) return;
    const { x, y } = spot;
    const { width, height } = this.frame.size;
    const { offsetWidth: w, offsetHeight: h } = this.box;
    const left = x + 16 + w > width ? x - 12 - w : x + 16;
    const top = y + 16 + h > height ? y - 12 - h : y + 16;
    this.box.style.left = `${Math.max(4, left)}px`;
    this.box.style.top = `${Math.max(4, top)}px`;
  }
}
