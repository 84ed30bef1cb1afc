/** Kept findings about a side, for frames that show the same times in the same colours. */
/** @import { Size } from "../../core/canvas.js" */
/** @import { TimeStyle } from "../draw.js" */

/**
 * A selection or the pointer changes what stands over a hundred thousand spans, but not which of
 * these share a pixel.
 */
export class SameTimes {
  constructor() {
    /** @type {Map<object, Map<unknown, {look: unknown[], found: any}>>} */ this.now = new Map();
    this.before = this.now;
  }

  /** A frame begins: what the last one did not draw is forgotten. */
  begin() {
    this.before = this.now;
    this.now = new Map();
  }

  /**
   * What was found of a thing, unless the times in view or the colours have changed since.
   * @template T
   * @param {object} thing @param {unknown} part of what is found of it @param {TimeStyle} style @param {Size} size @param {() => T} find
   * @returns {T}
   */
  of(thing, part, style, size, find) {
    const { transform, theme, colour, laid } = style;
    const look = [transform.k, transform.x, theme.name, colour, laid?.laid, size.width];
    const known = this.now.get(thing)?.get(part) ?? this.before.get(thing)?.get(part);
    const kept = known && known.look.every((value, n) => value === look[n]) ? known : { look, found: find() };
    if (!this.now.has(thing)) this.now.set(thing, new Map());
    this.now.get(thing)?.set(part, kept);
    return kept.found;
  }
}
