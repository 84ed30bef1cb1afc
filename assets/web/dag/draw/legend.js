/** The legend of an overlay: the ramp with its ends, or the categories, drawn on the canvas. */
import * as canvas from "../../core/canvas.js";
import * as colour from "../../core/colour.js";
import * as dagData from "./data_edges.js";
import { HEIGHT, MARGIN, SIZE, drawStrip, hasStrips } from "./strip.js";
import * as dagUnion from "./union.js";
/** @import { Pen, Size } from "../../core/canvas.js" */
/** @import { Change, Changes } from "../overlay/change.js" */
/** @import { Categories, Overlay, Ramp } from "../overlay/overlay.js" */
/** @import { Style } from "./plane.js" */
/** @import { Strip } from "./strip.js" */

/** A category's name is cut to this. */
const MOST_NAME = 108;
/** Categories cover no more of the view than this. */
const MOST_PART = 0.06;
/** The ramp where much stands beside it. */
const SHORT_BAR = 48;
/** A sample, with the room around it. */
const SWATCH = 26;

/** What stands behind the label of a ramp takes so much room at most (px). */
const ENDS = 280;

/** A ramp of its usual length has room beside its words from here on (px). */
const WIDE = 440;

/** @param {Strip} strip @param {Style} style @param {Ramp} overlay @param {number} room @param {boolean} isShort much stands beside it, or it has little room */
function values(strip, style, overlay, room, isShort) {
  const { scale } = overlay;
  strip.text(canvas.fitText(strip.ctx, overlay.label, SIZE, Math.max(MOST_NAME, room - ENDS), 600), 600, style.theme.ink);
  if (scale.most === null) strip.text("none above zero");
  else {
    strip.text(overlay.reversed ? "none: critical path" : overlay.lowest);
    strip.ramp(overlay.table(style.theme).css, overlay.reversed, isShort ? SHORT_BAR : undefined);
    strip.text(overlay.text(scale.most));
    if (scale.log && strip.x + strip.widthOf("· log") <= room) strip.text("· log");
  }
  if (!overlay.unknown || !overlay.missing) return;
  if (strip.x + SWATCH + strip.widthOf(overlay.missing) > room) return;
  strip.x += 8;
  strip.swatch(style.pattern);
  strip.text(overlay.missing);
}

/**
 * Changes: both ends with the arrows of what is more than noise, and none in the middle.
 * @param {Strip} strip @param {Style} style @param {Change} overlay @param {number} room
 */
function changes(strip, style, overlay, room) {
  const { theme } = style;
  const { most, log } = overlay.scale;
  const [faster, slower] = overlay.changes.untested ? ["", ""] : ["▼ ", "▲ "];
  strip.text(overlay.label, 600, theme.ink);
  if (most === null) return strip.text("none");
  strip.text(faster + overlay.text(-most));
  strip.ramp(colour.changes(theme.name).css, false, SHORT_BAR);
  strip.text(slower + overlay.text(most));
  if (log && strip.x + strip.widthOf("· log") <= room) strip.text("· log");
}

/**
 * What else is known of changes, as far as there is room.
 * @param {Strip} strip @param {Style} style @param {Change} overlay @param {number} room
 */
function calm(strip, { theme, pattern }, overlay, room) {
  const { changes: { untested }, unknown, missing } = overlay;
  /** @type {[string|CanvasPattern|null, string][]} */
  const samples = [untested ? [null, "not tested for noise"] : [colour.changes(theme.name).css[128], "within noise"]];
  if (unknown) samples.push([pattern, missing]);
  for (const [fill, text] of samples) {
    if (strip.x + SWATCH + strip.widthOf(text) > room) return;
    if (fill !== null) {
      strip.x += 4;
      strip.swatch(fill);
    }
    strip.text(text);
  }
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
 * Draw the legend as a strip into the upper left corner; returns what it covers, null where there is no room.
 * @param {Pen} ctx @param {Style} style @param {Size} size
 * @param {Changes} [compared] of two graphs in one picture
 */
export function draw(ctx, style, size, compared) {
  if (!hasStrips(size)) return null;
  const { overlay } = style;
  const room = size.width - size.buttons - MARGIN;
  const most = MARGIN + (MOST_PART * size.width * size.height) / HEIGHT;
  return drawStrip(ctx, style, 0, (strip) => {
    const rest = compared ? dagUnion.widthOf(strip, compared) : 0;
    if (overlay.isChange) changes(strip, style, overlay, room - rest);
    else if (overlay.isRamp) values(strip, style, overlay, room - rest, rest > 0 || room < WIDE);
    else categories(strip, style, overlay, Math.min(most, room - rest));
    if (compared) dagUnion.legend(strip, style, compared);
    if (overlay.isChange) calm(strip, style, overlay, room);
    if (compared) dagUnion.edgeLegend(strip, room);
  });
}

/**
 * What edges look like by what they carry, as the last strip.
 * @param {Pen} ctx @param {Style} style @param {Size} size
 */
export function drawEdges(ctx, style, size) {
  if (!hasStrips(size)) return;
  drawStrip(ctx, style, 1, (strip) => {
    strip.text("Ends have", 600, style.theme.ink);
    for (const look of dagData.STYLES.toReversed()) {
      strip.line(look);
      strip.text(look.name);
      strip.x += 6;
    }
    strip.x -= 6;
  });
}
