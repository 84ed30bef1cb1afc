/** Strips of a legend: words and samples on a panel, drawn on the canvas. */
import * as canvas from "../../core/canvas.js";
/** @import { Pen, Theme } from "../../core/canvas.js" */
/** @import { Style } from "./plane.js" */

const BAR = 120;
const PAD = 10;
export const MARGIN = 8;
export const HEIGHT = 24;
export const SIZE = 11;
/** Between strips. */
const GAP = 4;
/** A narrower view has no strips: they would be cut (px). */
const LEAST_WIDTH = 440;
/** And a lower one, which the graph itself has all of (px). */
const LEAST_HEIGHT = 150;
/** The outline of what was added. */
export const DASH = [4, 3];

/**
 * A ground with rounded corners.
 * @param {Pen} ctx @param {Theme} theme @param {number} x @param {number} y @param {number} w
 * @param {number} h
 */
export function panel(ctx, theme, x, y, w, h) {
  ctx.beginPath();
  canvas.roundRect(ctx, x, y, w, h, 8);
  ctx.fillStyle = theme.panel;
  ctx.fill();
  ctx.strokeStyle = theme.line;
  ctx.lineWidth = 1;
  ctx.stroke();
}

/** Lays words and samples out from left to right; `width` grows as they are added. */
export class Strip {
  /** @param {Pen} ctx @param {Theme} theme @param {number} y */
  constructor(ctx, theme, y) {
    this.ctx = ctx;
    this.theme = theme;
    this.y = y;
    this.x = MARGIN + PAD;
    this.middle = y + HEIGHT / 2 + 0.5;
  }

  /** @param {string} text @param {number} [weight] @param {string} [ink] */
  text(text, weight = 400, ink = this.theme.muted) {
    this.ctx.font = canvas.font(SIZE, weight);
    this.ctx.fillStyle = ink;
    this.ctx.textAlign = "left";
    this.ctx.textBaseline = "middle";
    this.ctx.fillText(text, this.x, this.middle);
    this.x += this.widthOf(text, weight);
  }

  /** How wide a text is, with the room behind it. @param {string} text @param {number} [weight] */
  widthOf(text, weight = 400) {
    return canvas.textWidth(this.ctx, text, SIZE, weight) + 8;
  }

  /** @param {string[]} css @param {boolean} reversed @param {number} [width] */
  ramp(css, reversed, width = BAR) {
    for (let i = 0; i < width; i++) {
      const at = Math.floor((i / width) * css.length);
      this.ctx.fillStyle = css[reversed ? css.length - 1 - at : at];
      this.ctx.fillRect(this.x + i, this.y + HEIGHT / 2 - 4, 1.5, 8);
    }
    this.x += width + 9;
  }

  /** @param {{width: number, dash: number[]|null, ink: "edge"|"muted"|"accent"}} given */
  line({ width, dash, ink }) {
    const { ctx } = this;
    ctx.beginPath();
    ctx.moveTo(this.x, this.middle);
    ctx.lineTo(this.x + 30, this.middle);
    ctx.strokeStyle = this.theme[ink];
    ctx.lineWidth = width;
    ctx.setLineDash(dash || []);
    ctx.stroke();
    ctx.setLineDash([]);
    this.x += 37;
  }

  /**
   * A sample of a node; `dash` breaks its outline.
   * @param {string|CanvasPattern} fill @param {number[]} [dash] @param {string} [ink]
   */
  swatch(fill, dash = [], ink = this.theme.outline) {
    const { ctx } = this;
    ctx.beginPath();
    canvas.roundRect(ctx, this.x, this.y + HEIGHT / 2 - 5, 16, 10, 3);
    ctx.fillStyle = fill;
    ctx.fill();
    ctx.strokeStyle = ink;
    ctx.lineWidth = 1;
    ctx.setLineDash(dash);
    ctx.stroke();
    ctx.setLineDash([]);
    this.x += 22;
  }
}

/**
 * Draw a strip, the n-th from the top; `fill` puts words and samples into it. Returns what it covers.
 * @param {Pen} ctx @param {Style} style @param {number} n @param {(strip: Strip) => void} fill
 */
export function drawStrip(ctx, style, n, fill) {
  const top = MARGIN + n * (HEIGHT + GAP);
  // Once to learn the width (far above the canvas), once over the panel.
  const strip = new Strip(ctx, style.theme, -1000);
  fill(strip);
  const box = { x: MARGIN, y: top, w: strip.x - MARGIN + PAD - 8, h: HEIGHT };
  panel(ctx, style.theme, box.x, box.y, box.w, box.h);
  fill(new Strip(ctx, style.theme, top));
  return box;
}

/** Whether a view is high enough for strips. @param {number} height */
export const isHigh = (height) => height > LEAST_HEIGHT;

/** Whether a view has strips. @param {{width: number, height: number}} size */
export const hasStrips = ({ width, height }) => width >= LEAST_WIDTH && isHigh(height);

/**
 * The room at the top: of the colours, of edges.
 * @param {boolean} edges whether they differ
 */
export function space(edges) {
  const strips = 1 + (edges ? 1 : 0);
  return MARGIN + strips * (HEIGHT + GAP) - GAP;
}
