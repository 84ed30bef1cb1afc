/** The legend of an overlay: the ramp with its ends, or the categories, drawn on the canvas. */
import * as canvas from "../../core/canvas.js";
import * as colour from "../../core/colour.js";
import * as dagData from "./data_edges.js";
import { BAR, DASH, MARGIN, SIZE, drawStrip } from "./strip.js";
import * as dagUnion from "./union.js";
/** @import { Pen, Size } from "../../core/canvas.js" */
/** @import { Baseline, Change } from "../overlay/change.js" */
/** @import { Categories, Overlay, Ramp } from "../overlay/overlay.js" */
/** @import { Style } from "./plane.js" */
/** @import { Strip } from "./strip.js" */

/** A category's name is cut to this. */
const MOST_NAME = 108;

/** @param {Strip} strip @param {Style} style @param {Ramp} overlay */
function values(strip, style, overlay) {
  const { scale } = overlay;
  strip.text(overlay.label, 600, style.theme.ink);
  if (scale.most === null) strip.text("none above zero");
  else {
    const least = scale.log && !overlay.reversed ? scale.least : 0;
    strip.text(overlay.reversed ? "none: critical path" : overlay.text(least));
    strip.ramp(colour.ramp(style.theme.name).css, overlay.reversed);
    strip.text(overlay.text(scale.most));
    if (scale.log) strip.text("· log");
  }
  if (!overlay.unknown || !overlay.missing) return;
  strip.x += 8;
  strip.swatch(style.pattern);
  strip.text(overlay.missing);
}

/**
 * Changes: both ends, and none in the middle. The baseline is named where there is room.
 * @param {Strip} strip @param {Style} style @param {Change} overlay @param {number} room
 */
function changes(strip, style, overlay, room) {
  const { theme } = style;
  const { scale } = overlay;
  const name = canvas.fitText(strip.ctx, overlay.baseline.name, SIZE, MOST_NAME, 600);
  const title = `${overlay.label} against ${name}`;
  const { most, log } = scale;
  const some = most !== null;
  const ends = some ? [overlay.text(-most), overlay.text(most) + (log ? " · log" : "")] : ["none"];
  /** @param {string} text @param {number} weight */
  const width = (text, weight) => canvas.textWidth(strip.ctx, text, SIZE, weight) + 8;
  const rest = ends.reduce((sum, text) => sum + width(text, 400), some ? BAR + 9 : 0);
  const fits = strip.x + width(title, 600) + rest <= room;
  strip.text(fits ? title : overlay.label, 600, theme.ink);
  strip.text(ends[0]);
  if (!some) return;
  strip.ramp(colour.changes(theme.name).css, false);
  strip.text(ends[1]);
}

/**
 * What is marked among changes, as a second strip.
 * @param {Strip} strip @param {Style} style @param {Change} overlay
 */
function changeMarks(strip, style, overlay) {
  const { theme, pattern } = style;
  const { added, gone, untested } = overlay.baseline;
  if (untested) strip.text("not tested for noise", 600, theme.ink);
  else {
    strip.text("▲ slower  ▼ faster", 600, theme.ink);
    strip.x += 4;
    strip.swatch(colour.changes(theme.name).css[128]);
    strip.text("within noise");
  }
  // Of two graphs in one picture a strip of its own explains it: dag/draw/union.js.
  if (added && !overlay.baseline.union) {
    strip.x += 4;
    strip.swatch(theme.ground, DASH, theme.accent);
    strip.text(`${added} added`);
  }
  if (gone && !overlay.baseline.union) {
    strip.x += 4;
    strip.text(`${gone} gone`, 400, theme.ink);
  }
  if (!overlay.unknown) return;
  strip.x += 4;
  strip.swatch(pattern);
  strip.text(overlay.missing);
}

/** @param {Strip} strip @param {Style} style @param {Categories} overlay @param {number} room */
function categories(strip, style, overlay, room) {
  const { theme } = style;
  const { categories: all } = overlay;
  strip.text(overlay.label, 600, theme.ink);
  for (let at = 0; at < all.length; at++) {
    // Lanes alternate in colour: one round shows it.
    const rest = all.length - at;
    const last = overlay.isRest(at);
    const text = last ? `${rest} more` : wordsOf(overlay, all[at].text);
    const cut = canvas.fitText(strip.ctx, text, SIZE, MOST_NAME, 400);
    // With room for how many more there are.
    if (strip.x + (rest > 1 ? 72 : 40) + canvas.textWidth(strip.ctx, cut, SIZE) > room) {
      strip.text(`+${rest}`);
      return;
    }
    strip.swatch(overlay.css(at, theme));
    strip.text(cut);
    strip.x += 6;
    if (last) return;
  }
  if (!overlay.unknown) return;
  strip.swatch(style.pattern);
  strip.text("none");
}

/** @param {Overlay} overlay @param {string} text */
function wordsOf(overlay, text) {
  return overlay.name === "kind" ? text.toLowerCase().replace(/_/g, " ") : text;
}

/**
 * Draw the legend as strips into the upper left corner.
 * @param {Pen} ctx @param {Style} style @param {Size} size
 */
export function draw(ctx, style, size) {
  if (size.width < 440) return;
  const { overlay } = style;
  const room = size.width - size.buttons - MARGIN;
  drawStrip(ctx, style, 0, (strip) => {
    if (overlay.isChange) changes(strip, style, overlay, room);
    else if (overlay.isRamp) values(strip, style, overlay);
    else categories(strip, style, overlay, room);
  });
  if (overlay.isChange) drawStrip(ctx, style, 1, (strip) => changeMarks(strip, style, overlay));
}

/**
 * What edges look like by what they carry, as the last strip.
 * @param {Pen} ctx @param {Style} style @param {Size} size
 */
export function drawEdges(ctx, style, size) {
  if (size.width < 440) return;
  drawStrip(ctx, style, style.overlay.isChange ? 2 : 1, (strip) => {
    strip.text("Ends have", 600, style.theme.ink);
    for (const look of dagData.STYLES.toReversed()) {
      strip.line(look);
      strip.text(look.name);
      strip.x += 6;
    }
    strip.x -= 6;
  });
}

/**
 * What is in one of two graphs only, as the last strip.
 * @param {Pen} ctx @param {Style} style @param {Size} size @param {Baseline} baseline of the header
 */
export function drawUnion(ctx, style, size, baseline) {
  if (size.width < 440) return;
  drawStrip(ctx, style, style.overlay.isChange ? 2 : 1, (strip) =>
    dagUnion.legend(strip, style, baseline));
}
