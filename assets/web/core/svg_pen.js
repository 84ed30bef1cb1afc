/**
 * The part of CanvasRenderingContext2D that the views draw with, writing SVG: shapes and text
 * stay shapes and text. What a canvas does with pixels is done otherwise here, where the drawing
 * code sees `vector`: no pixel buffers, and hatches are requested by `hatch`.
 *
 * @typedef {Pick<CanvasRenderingContext2D, "fillStyle"|"strokeStyle"|"lineWidth"|"globalAlpha"|"font"|
 *   "textAlign"|"textBaseline"|"globalCompositeOperation">} PenState  of a pen
 * @typedef {{x: number, y: number, w: number, h: number}} Rectangle  on screen
 * @typedef {{path: SvgPath, fill: string, stroke: string}} Shape
 * @typedef {{text: string, at: string, room: string, y: number, fill: string, stroke: string}} Words
 * @typedef {(Shape|Words) & {clip?: Rectangle, title?: string}} Drawn
 * @typedef {{how: string, inside: Item[]}} Together  a group
 * @typedef {Drawn|Together} Item
 */
import * as canvas from "./canvas.js";
import { penOf } from "./dom.js";
import { SvgPath, short } from "./svg_path.js";
/** @import { HatchColours } from "./canvas.js" */
/** @import { Scaling } from "./svg_path.js" */

/** What is no character of XML 1.0, lone surrogates too. */
const NO_CHARACTER = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;
/** @type {Record<string, string>} */
const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
/** @type {PenState} */
const DEFAULTS = {
  fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, globalAlpha: 1, font: "",
  textAlign: "start", textBaseline: "alphabetic", globalCompositeOperation: "source-over",
};

/** @type {Partial<Record<CanvasTextAlign, string>>} */
const ANCHORS = { center: ' text-anchor="middle"', right: ' text-anchor="end"' };

/** What patterns of {@link SvgPen.hatch} stand for. @type {WeakMap<object, HatchColours>} */
const hatches = new WeakMap();

/** A text as XML may hold it: a control character becomes U+FFFD. @param {string} text */
function escape(text) {
  return text.replace(NO_CHARACTER, "\ufffd").replace(/[&<>"]/g, (c) => ESCAPES[c]);
}

/**
 * A css colour as one without alpha, and its alpha: SVG 1.1 has no rgba().
 * @param {string} css
 * @returns {[string, number]}
 */
function colourOf(css) {
  const [, r, g, b, a] = /^rgba?\((\d+),\s*(\d+),\s*(\d+)(?:,\s*([\d.]+))?\)$/.exec(css) || [];
  if (r === undefined) return [css, 1];
  const hex = [r, g, b].map((v) => Number(v).toString(16).padStart(2, "0")).join("");
  return [`#${hex}`, a === undefined ? 1 : Number(a)];
}

export class SvgPen {
  /** @param {{width: number, height: number}} size CSS pixels */
  constructor(size) {
    this.size = size;
    this.vector = true;
    this.fillStyle = DEFAULTS.fillStyle;
    this.strokeStyle = DEFAULTS.strokeStyle;
    this.lineWidth = DEFAULTS.lineWidth;
    this.globalAlpha = DEFAULTS.globalAlpha;
    this.font = DEFAULTS.font;
    this.textAlign = DEFAULTS.textAlign;
    this.textBaseline = DEFAULTS.textBaseline;
    this.globalCompositeOperation = DEFAULTS.globalCompositeOperation;
    /** @type {object[]} */ this.saved = [];
    /** @type {number[]} */ this.dash = [];
    /** What is drawn so far: shapes and groups of them. @type {Item[]} */ this.items = [];
    /** @type {Map<string, {id: string, markup: string}>} */ this.defs = new Map();
    this.title = "";
    /** @type {Rectangle|undefined} */ this.clipped = undefined;
    /** @type {Scaling} */ this.t = { sx: 1, sy: 1, tx: 0, ty: 0 };
    /** @type {SvgPath} */ this.path = new SvgPath();
    this.probe = penOf(document.createElement("canvas"));
  }

  // -- state --------------------------------------------------------------------------

  save() {
    const names = /** @type {(keyof PenState)[]} */ (Object.keys(DEFAULTS));
    const state = Object.fromEntries(names.map((name) => [name, this[name]]));
    this.saved.push({ ...state, dash: this.dash, t: this.t, clipped: this.clipped });
  }

  restore() {
    Object.assign(this, this.saved.pop());
  }

  /**
   * @param {number} sx @param {number} b @param {number} c @param {number} sy
   * @param {number} tx @param {number} ty
   */
  setTransform(sx, b, c, sy, tx, ty) {
    if (b || c) throw new Error("an SVG pen scales and shifts only");
    this.t = { sx, sy, tx, ty };
  }

  /** @param {number[]} dash */
  setLineDash(dash) {
    this.dash = dash;
  }

  /**
   * The next shape stands for this: readers of the picture see it as a tooltip.
   * @param {string} text
   */
  about(text) {
    this.title = text;
  }

  // -- paths --------------------------------------------------------------------------

  beginPath() {
    this.path = new SvgPath();
  }

  /** @param {number} x @param {number} y */
  moveTo(x, y) {
    this.path.move(x, y, this.t);
  }

  /** @param {number} x @param {number} y */
  lineTo(x, y) {
    this.path.line(x, y, this.t);
  }

  /** @param {...number} xy */
  bezierCurveTo(...xy) {
    this.path.curve(xy, this.t);
  }

  /**
   * @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2
   * @param {number} radius
   */
  arcTo(x1, y1, x2, y2, radius) {
    this.path.corner(x1, y1, x2, y2, radius, this.t);
  }

  /**
   * Whole circles only.
   * @param {number} x @param {number} y @param {number} radius
   */
  arc(x, y, radius) {
    this.path.circle(x, y, radius, this.t);
  }

  closePath() {
    this.path.close();
  }

  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  rect(x, y, w, h) {
    this.path.addBox(this.boxOf(x, y, w, h, 0));
  }

  /**
   * @param {number} x @param {number} y @param {number} w @param {number} h @param {number} radius
   */
  roundRect(x, y, w, h, radius) {
    this.path.addBox(this.boxOf(x, y, w, h, radius));
  }

  /**
   * @param {number} x @param {number} y @param {number} w @param {number} h @param {number} r
   */
  boxOf(x, y, w, h, r) {
    const { sx, sy, tx, ty } = this.t;
    return { x: x * sx + tx, y: y * sy + ty, w: w * sx, h: h * sy, r: r * sx };
  }

  /** Clip to the path, which must be one rectangle, and to what was clipped to before. */
  clip() {
    const { box } = this.path;
    if (!box) throw new Error("an SVG pen clips to rectangles only");
    const before = this.clipped || { x: 0, y: 0, w: this.size.width, h: this.size.height };
    const x = Math.max(box.x, before.x);
    const y = Math.max(box.y, before.y);
    this.clipped = {
      x, y,
      w: Math.max(0, Math.min(box.x + box.w, before.x + before.w) - x),
      h: Math.max(0, Math.min(box.y + box.h, before.y + before.h) - y),
    };
  }

  // -- drawing ------------------------------------------------------------------------

  /** @param {CanvasFillRule} [rule] */
  fill(rule) {
    this.paint(this.path, rule === "evenodd" ? ' fill-rule="evenodd"' : "");
  }

  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  fillRect(x, y, w, h) {
    const path = new SvgPath();
    path.addBox(this.boxOf(x, y, w, h, 0));
    this.paint(path, "");
  }

  /** @param {SvgPath} path @param {string} rule */
  paint(path, rule) {
    if (path.empty) return;
    if (this.globalCompositeOperation === "destination-out") return this.erase(path, rule);
    this.put({ path, fill: this.paintOf("fill", this.fillStyle) + rule, stroke: "" });
  }

  stroke() {
    if (this.path.empty) return;
    const wide = ` stroke-width="${short(this.lineWidth * this.t.sx)}"`;
    const dash = this.dash.map((length) => short(length * this.t.sx)).join(" ");
    const dashed = dash ? ` stroke-dasharray="${dash}"` : "";
    const stroke = this.paintOf("stroke", this.strokeStyle) + wide + dashed;
    const last = this.items[this.items.length - 1];
    // Filled and stroked is one shape.
    if (last && "path" in last && last.path === this.path && !last.stroke) last.stroke = stroke;
    else this.put({ path: this.path, fill: ' fill="none"', stroke });
  }

  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  strokeRect(x, y, w, h) {
    const { path } = this;
    this.beginPath();
    this.rect(x, y, w, h);
    this.stroke();
    this.path = path;
  }

  /** @param {Shape|Words} item */
  put(item) {
    const { title } = this;
    this.title = "";
    // The views measure some things by drawing them where nobody sees it.
    if (!this.beyond(item)) this.items.push({ ...item, clip: this.clipped, title });
  }

  /**
   * Whether a box or a text is outside the picture: a text by its line.
   * @param {Shape|Words} item
   */
  beyond(item) {
    const box = "path" in item ? item.path.box : { x: 0, y: item.y, w: 0, h: 0 };
    if (!box) return false;
    const { width, height } = this.size;
    const slack = this.lineWidth;
    const { x, y, w, h } = box;
    return x + w + slack < 0 || y + h + slack < 0 || x - slack > width || y - slack > height;
  }

  /**
   * "fill" or "stroke" with its opacity.
   * @param {"fill"|"stroke"} name @param {PenState["fillStyle"]} style css, or of {@link hatch}
   * @returns {string}
   */
  paintOf(name, style) {
    const colours = hatches.get(/** @type {object} */ (style));
    const [colour, alpha] = colours ? [this.hatched(colours), 1] : colourOf(String(style));
    const opacity = alpha * this.globalAlpha;
    return ` ${name}="${colour}"${opacity < 1 ? ` ${name}-opacity="${short(opacity)}"` : ""}`;
  }

  /**
   * Take away from all that is drawn so far: the whole by its opacity, a part by a mask.
   * @param {SvgPath} path @param {string} rule
   */
  erase(path, rule) {
    const { width, height } = this.size;
    const { box } = path;
    const all = box && box.x <= 0 && box.y <= 0 && box.x + box.w >= width && box.y + box.h >= height;
    let how = ` opacity="${short(1 - this.globalAlpha)}"`;
    if (!all || this.clipped) {
      const cut = `<path d="${path.data}"${rule} fill-opacity="${short(this.globalAlpha)}"${this.clipping(this.clipped)}/>`;
      const whole = `width="${short(width)}" height="${short(height)}"`;
      const id = this.define(
        "mask",
        `maskUnits="userSpaceOnUse" x="0" y="0" ${whole}`,
        `<rect ${whole} fill="#fff"/>${cut}`,
      );
      how = ` mask="url(#${id})"`;
    }
    this.items = [{ how, inside: this.items }];
  }

  // -- text ---------------------------------------------------------------------------

  /** @param {string} text */
  measureText(text) {
    this.probe.font = this.font;
    return this.probe.measureText(text);
  }

  /** @param {string} text @param {number} x @param {number} y */
  fillText(text, x, y) {
    // A canvas shows every white space as a space.
    const shown = text.replace(/[\t\n\v\f\r]/g, " ");
    if (!shown.trim()) return;
    const { sx, sy, tx, ty } = this.t;
    const [left, line] = [x * sx + tx, (y + this.baseline()) * sy + ty];
    const [weight, px] = (/^(\d+) ([\d.]+)px/.exec(this.font) ?? []).slice(1).map(Number);
    const anchor = ANCHORS[this.textAlign] ?? "";
    // SVG 1.1 knows hundreds only.
    const bold = weight === 400 ? "" : ` font-weight="${100 * Math.round(weight / 100)}"`;
    this.put({
      text: escape(shown),
      y: line,
      at: ` x="${short(left)}" y="${short(line)}"`,
      // Where another font stands in for this one, the text still fits its place.
      room: ` textLength="${short(this.measureText(shown).width * sx)}"`,
      fill: this.paintOf("fill", this.fillStyle),
      stroke: ` font-size="${short(px * sx)}"${bold}${anchor}`,
    });
  }

  /** How far the alphabetic baseline is below the one that is set: not every reader knows "middle". */
  baseline() {
    if (this.textBaseline === "alphabetic") return 0;
    this.probe.font = this.font;
    /** @param {CanvasTextBaseline} baseline */
    const above = (baseline) => {
      this.probe.textBaseline = baseline;
      return this.probe.measureText("x").actualBoundingBoxAscent;
    };
    const shift = above("alphabetic") - above(this.textBaseline);
    this.probe.textBaseline = "alphabetic";
    return shift;
  }

  // -- definitions --------------------------------------------------------------------

  /**
   * The id of a definition, made once.
   * @param {string} tag @param {string} attributes @param {string} inside
   */
  define(tag, attributes, inside) {
    const key = `${tag} ${attributes} ${inside}`;
    const known = this.defs.get(key);
    if (known) return known.id;
    const id = `${tag[0]}${this.defs.size + 1}`;
    this.defs.set(key, { id, markup: `<${tag} id="${id}" ${attributes}>${inside}</${tag}>` });
    return id;
  }

  /** A hatch to fill with; as canvas.hatch. @param {HatchColours} colours */
  hatch(colours) {
    const pattern = /** @type {CanvasPattern} */ ({});
    hatches.set(pattern, colours);
    return pattern;
  }

  /**
   * A pattern moves and grows with what is drawn, as on a canvas.
   * @param {HatchColours} colours
   * @returns {string}
   */
  hatched(colours) {
    const { sx, sy, tx, ty } = this.t;
    const alpha = this.globalAlpha;
    this.globalAlpha = 1;
    const inside =
      `<rect width="6" height="6"${this.paintOf("fill", colours.untimed)}/>` +
      `<path d="M-6 6L0 0M0 6L6 0M6 6L12 0"${this.paintOf("stroke", colours.hatch)} stroke-width="0.9"/>`;
    this.globalAlpha = alpha;
    const moved = `patternTransform="matrix(${[sx, 0, 0, sy, tx, ty].map(short).join(" ")})"`;
    return `url(#${this.define("pattern", `width="6" height="6" patternUnits="userSpaceOnUse" ${moved}`, inside)})`;
  }

  /** @param {Rectangle|undefined} box */
  clipping(box) {
    if (!box) return "";
    const [x, y, w, h] = [box.x, box.y, box.w, box.h].map(short);
    const rect = `<rect x="${x}" y="${y}" width="${w}" height="${h}"/>`;
    return ` clip-path="url(#${this.define("clipPath", "", rect)})"`;
  }

  // -- the file -----------------------------------------------------------------------

  /** @param {Item[]} items @returns {string} */
  write(items) {
    let text = "";
    let open = "";
    for (const item of items) {
      const how = "inside" in item ? item.how : this.clipping(item.clip) + item.fill + item.stroke;
      if (how !== open) {
        text += (open ? "</g>\n" : "") + `<g${how}>\n`;
        open = how;
      }
      text += "inside" in item ? this.write(item.inside) : shapeOf(item);
    }
    return open ? `${text}</g>\n` : text;
  }

  /**
   * The picture as a file.
   * @param {{ground: string, title: string, words: string}} facts
   */
  toString({ ground, title, words }) {
    const { width, height } = this.size;
    const drawn = this.write(this.items);
    const defs = Array.from(this.defs.values(), (made) => made.markup).join("\n");
    const [w, h] = [short(width), short(height)];
    return [
      '<?xml version="1.0" encoding="UTF-8"?>',
      `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" viewBox="0 0 ${w} ${h}" ` +
        `font-family="${escape(canvas.FONT)}" xml:space="preserve">`,
      `<title>${escape(title)}</title>`,
      `<desc>${escape(words)}</desc>`,
      ...(defs ? [`<defs>\n${defs}\n</defs>`] : []),
      `<rect width="${w}" height="${h}" fill="${ground}"/>`,
      `${drawn}</svg>\n`,
    ].join("\n");
  }
}

/** @param {Drawn} item */
function shapeOf(item) {
  if ("text" in item) {
    return `<text${item.at}${item.room} lengthAdjust="spacingAndGlyphs">${item.text}</text>\n`;
  }
  const { path, title } = item;
  const inside = title ? `><title>${escape(title)}</title></` : "";
  const tag = path.box ? "rect" : "path";
  const end = inside ? `${inside}${tag}>\n` : "/>\n";
  if (!path.box) return `<path d="${path.data}"${end}`;
  const { x, y, w, h, r } = path.box;
  const round = r ? ` rx="${short(r)}"` : "";
  return `<rect x="${short(x)}" y="${short(y)}" width="${short(w)}" height="${short(h)}"${round}${end}`;
}
