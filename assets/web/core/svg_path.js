/**
 * A path as SVG writes it, built by the calls of CanvasRenderingContext2D. Coordinates are put
 * through the transform of the moment: scales and shifts, which is all that the views use.
 *
 * @typedef {{sx: number, sy: number, tx: number, ty: number}} Scaling
 * @typedef {{x: number, y: number, w: number, h: number, r: number}} Box
 */

/** A number as short as a hundredth of a pixel allows. @param {number} value */
export function short(value) {
  const text = value.toFixed(2).replace(/\.?0+$/, "");
  return text === "-0" ? "0" : text;
}

export class SvgPath {
  constructor() {
    /** Each subpath: a box, or the text of a "d" attribute. @type {(Box|string)[]} */
    this.parts = [];
    this.open = "";
    this.x = this.y = 0;
  }

  get empty() {
    return !this.parts.length && !this.open;
  }

  /** The box that this path is, or null where it is anything else. */
  get box() {
    const alone = !this.open && this.parts.length === 1 && this.parts[0];
    return alone && typeof alone !== "string" ? alone : null;
  }

  /** The "d" attribute. */
  get data() {
    return this.parts.map((part) => (typeof part === "string" ? part : boxData(part))).join("") + this.open;
  }

  end() {
    if (this.open) this.parts.push(this.open);
    this.open = "";
  }

  /** @param {string} letter @param {number[]} xy coordinates in pairs @param {Scaling} t */
  add(letter, xy, t) {
    const points = xy.map((v, n) => short(n % 2 ? v * t.sy + t.ty : v * t.sx + t.tx));
    this.open += letter + points.join(" ");
    [this.x, this.y] = xy.slice(-2);
  }

  /** @param {number} x @param {number} y @param {Scaling} t */
  move(x, y, t) {
    this.end();
    this.add("M", [x, y], t);
  }

  /** @param {number} x @param {number} y @param {Scaling} t */
  line(x, y, t) {
    this.add(this.open ? "L" : "M", [x, y], t);
  }

  /** @param {number[]} xy @param {Scaling} t */
  curve(xy, t) {
    this.add("C", xy, t);
  }

  close() {
    if (this.open) this.open += "Z";
    this.end();
  }

  /** @param {Box} box on screen */
  addBox(box) {
    this.end();
    this.parts.push(box);
  }

  /** @param {number} x @param {number} y @param {number} r @param {Scaling} t */
  circle(x, y, r, t) {
    const [cx, cy, rx] = [x * t.sx + t.tx, y * t.sy + t.ty, r * t.sx];
    /** @param {number} to */
    const half = (to) => `A${short(rx)} ${short(rx)} 0 1 1 ${short(to)} ${short(cy)}`;
    this.end();
    this.parts.push(`M${short(cx + rx)} ${short(cy)}${half(cx - rx)}${half(cx + rx)}Z`);
  }

  /**
   * A line towards a corner and an arc that touches both its sides.
   * Reference: HTML standard, CanvasPath.arcTo.
   * @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2
   * @param {number} radius @param {Scaling} t
   */
  corner(x1, y1, x2, y2, radius, t) {
    const [ax, ay, bx, by] = [this.x - x1, this.y - y1, x2 - x1, y2 - y1];
    const [a, b] = [Math.hypot(ax, ay), Math.hypot(bx, by)];
    const cross = ax * by - ay * bx;
    if (!a || !b || !radius || Math.abs(cross) < 1e-9 * a * b) return this.line(x1, y1, t);
    const angle = Math.acos(Math.max(-1, Math.min(1, (ax * bx + ay * by) / (a * b))));
    const away = radius / Math.tan(angle / 2);
    this.line(x1 + (ax / a) * away, y1 + (ay / a) * away, t);
    const [x, y] = [x1 + (bx / b) * away, y1 + (by / b) * away];
    const round = `${short(radius * t.sx)} ${short(radius * t.sy)}`;
    this.open += `A${round} 0 0 ${cross < 0 ? 1 : 0} `;
    this.add("", [x, y], t);
  }
}

/** @param {Box} box */
function boxData({ x, y, w, h, r }) {
  if (!r) return `M${short(x)} ${short(y)}h${short(w)}v${short(h)}h${short(-w)}Z`;
  /** @param {number} dx @param {number} dy */
  const turn = (dx, dy) => `a${short(r)} ${short(r)} 0 0 1 ${short(dx)} ${short(dy)}`;
  const [across, down] = [w - 2 * r, h - 2 * r];
  return [
    `M${short(x + r)} ${short(y)}h${short(across)}`, turn(r, r), `v${short(down)}`, turn(-r, r),
    `h${short(-across)}`, turn(-r, -r), `v${short(-down)}`, turn(r, -r), "Z",
  ].join("");
}
