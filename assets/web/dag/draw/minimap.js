/** The minimap: the whole plane in a corner, drawn once, with the rectangle that is on screen. */
import { penOf } from "../../core/dom.js";
import { isAlong } from "../scene/scene.js";
import * as dagFrames from "./frames.js";
import * as dagNodes from "./nodes.js";
import { panel } from "./strip.js";
import * as dagTime from "./time.js";
/** @import { Pen, Size } from "../../core/canvas.js" */
/** @import { Box } from "../scene/bodies.js" */
/** @import { DagScene } from "../scene/scene.js" */
/** @import { Style } from "./plane.js" */

const MOST_W = 190;
const MOST_H = 130;
/** It covers no more of the view than this. */
const MOST_PART = 0.025;
const INSET = 6;
const MARGIN = 10;

export class Minimap {
  /** @param {DagScene} scene */
  constructor(scene) {
    this.scene = scene;
    this.key = "";
    /** @type {HTMLCanvasElement|null} */ this.image = null;
    /** @type {{x: number, y: number}|null} */ this.at = null;
    const k = Math.min(MOST_W / scene.width, MOST_H / scene.height);
    // Along time the two axes have nothing to do with each other.
    /** Its scales where there is room. */
    this.most = {
      k: scene.along ? MOST_W / scene.width : k,
      ky: isAlong(scene) ? Math.min(MOST_H, 12 * scene.grid.lanes.length) / scene.height : k,
    };
    this.k = this.most.k;
    this.ky = this.most.ky;
    this.w = 0;
    this.h = 0;
  }

  /** @param {number} part of the size that it has where there is room */
  scale(part) {
    this.k = this.most.k * part;
    this.ky = this.most.ky * part;
    this.w = Math.max(24, this.scene.width * this.k);
    this.h = Math.max(16, this.scene.height * this.ky);
  }

  /** As large as a view has room for. @param {Size} size */
  fit({ width, height }) {
    this.scale(1);
    const covered = (this.w + 2 * INSET) * (this.h + 2 * INSET);
    this.scale(Math.min(1, Math.sqrt((MOST_PART * width * height) / covered)));
  }

  /**
   * Where it stands, or null when the whole plane is on screen anyway.
   * @param {Box} view @param {Size} size
   */
  place(view, size) {
    const { scene } = this;
    const small = size.width < 480 || size.height < 260;
    if (small || scene.isAllIn(view) || scene.count < 12) return null;
    this.fit(size);
    return {
      x: size.width - MARGIN - INSET - this.w,
      y: size.height - MARGIN - INSET - this.h,
    };
  }

  /** @param {Pen} ctx @param {Style} style @param {Box} view @param {Size} size */
  draw(ctx, style, view, size) {
    const at = this.place(view, size);
    this.at = at;
    if (!at) return;
    const { w, h, k, ky } = this;
    panel(
      ctx, style.theme, at.x - INSET, at.y - INSET, w + 2 * INSET, h + 2 * INSET
    );
    if (ctx.vector) this.drawNodes(ctx, style, at);
    else ctx.drawImage?.(this.picture(style, size.ratio), at.x, at.y, w, h);
    const x0 = at.x + Math.max(0, Math.min(w, view.left * k));
    const y0 = at.y + Math.max(0, Math.min(h, view.top * ky));
    const x1 = at.x + Math.max(0, Math.min(w, view.right * k));
    const y1 = at.y + Math.max(0, Math.min(h, view.bottom * ky));
    ctx.strokeStyle = style.theme.accent;
    ctx.lineWidth = 1.5;
    ctx.strokeRect(x0, y0, Math.max(3, x1 - x0), Math.max(3, y1 - y0));
  }

  /**
   * The plane as an image, made anew when theme, colouring or ratio change.
   * @param {Style} style @param {number} ratio
   */
  picture(style, ratio) {
    const key = `${style.theme.name} ${style.overlay.name} ${ratio} ${this.w} ${this.h}`;
    if (this.image && key === this.key) return this.image;
    this.key = key;
    const image = document.createElement("canvas");
    image.width = Math.ceil(this.w * ratio);
    image.height = Math.ceil(this.h * ratio);
    const pen = penOf(image);
    pen.scale(ratio, ratio);
    this.drawNodes(pen, style, { x: 0, y: 0 });
    this.image = image;
    return image;
  }

  /** @param {Pen} ctx @param {Style} style @param {{x: number, y: number}} given */
  drawNodes(ctx, style, { x, y }) {
    const small = { ...style, transform: { k: this.ky, kx: this.k, x, y }, unnamed: true };
    const { bodies } = this.scene;
    const nodes = bodies.closed(style.overlay.inOrder);
    dagFrames.draw(ctx, this.scene, bodies.frames, small, { width: x + this.w, height: y + this.h });
    const { scene } = this;
    if (isAlong(scene)) dagTime.drawBars(ctx, scene, dagTime.barsOf(scene, nodes), small);
    else dagNodes.drawBlocks(ctx, scene, nodes, small);
  }

  /** What it covers; null: nothing. */
  get box() {
    return this.at && { x: this.at.x - INSET, y: this.at.y - INSET, w: this.w + 2 * INSET, h: this.h + 2 * INSET };
  }

  /**
   * The point of the plane under a point of the screen, or null outside.
   * @param {number} x @param {number} y
   */
  toPlane(x, y) {
    if (!this.at) return null;
    const px = x - this.at.x;
    const py = y - this.at.y;
    if (px < -INSET || py < -INSET || px > this.w + INSET || py > this.h + INSET) return null;
    return { x: px / this.k, y: py / this.ky };
  }
}
