/** Drawing nodes: pixels far out, blocks in between, cards with name and time near. */
import * as canvas from "../../core/canvas.js";
import * as colours from "../../core/colour.js";
import { penOf } from "../../core/dom.js";
import * as format from "../../core/format.js";
import { fitFold, fitLine, fitWords, isCount } from "./fold_title.js";
import * as dagUnion from "./union.js";
/** @import { Pen, Size, Theme } from "../../core/canvas.js" */
/** @import { Change } from "../overlay/change.js" */
/** @import { Overlay } from "../overlay/overlay.js" */
/** @import { Items } from "../scene/bodies.js" */
/** @import { DagScene } from "../scene/scene.js" */
/** @import { Style } from "./plane.js" */

/** Below this height on screen (CSS pixels) a node is a block without text or corners. */
export const BLOCK = 8;
/** In a narrower one (CSS pixels) no name is written. */
const NARROW = 34;
/** From this height on a node has two lines. */
const TWO_LINES = 31;
/** Height of the strip of a repeat, in the plane; rows are far enough apart for it. */
const STRIP = 7;
/** @type {Record<string, string>} */
const TAGS = {
  MEMCPY: "COPY", MEMSET: "SET", HOST: "HOST", GRAPH: "GRAPH", CONDITIONAL: "COND", EMPTY: "JOIN",
  EVENT_RECORD: "EVENT", WAIT_EVENT: "WAIT", MEM_ALLOC: "ALLOC", MEM_FREE: "FREE",
  BATCH_MEM_OP: "MEMOP", MEMCPY_BATCH: "COPIES",
};

/**
 * Overlays that neither name, tag nor time of a card show, and the word before their value.
 * @type {Record<string, string|undefined>}
 */
const WORDS = {
  p95: "p95", launch: "launch", slack: "slack", nvtx: "", lane: "lane", device: "",
  occupancy: "occupancy",
};

/** Among changes, what is within noise is so much lower than the others. */
export const CALM = 0.5;
/** What is of one graph alone stands out above every step. */
const LONE = 254;
/** From this height on an arrow can be recognised. */
const ARROW = 5;

/**
 * How a node is filled: css colour or hatch, and the ink on it.
 * @param {DagScene} scene @param {number} i @param {Style} style
 */
export function paintOf(scene, i, style) {
  return style.overlay.paint(i, style.theme) || { fill: null, ink: style.theme.muted };
}

/** Of more nodes than this a file keeps no words: they would be most of it. */
const MOST_NAMED = 20000;

/**
 * The words that a pen keeps with the shape of a node, where it does.
 * @param {Pen} ctx @param {DagScene} scene @param {number} i @param {Style} style
 */
export function name(ctx, scene, i, style) {
  if (!ctx.vector || style.unnamed || scene.count > MOST_NAMED) return;
  ctx.about?.(`${scene.wholeNameOf(i)} · ${scene.kindOf(i)} · ${timeOf(scene, i)}`);
}

/**
 * Blocks: one fillRect a node, at least a pixel. In coordinates of the screen.
 * @param {Pen} ctx @param {DagScene} scene @param {Items} nodes @param {Style} style
 */
export function drawBlocks(ctx, scene, nodes, style) {
  const { transform: t } = style;
  const h = Math.max(1, 2 * scene.halfH * t.k);
  /** @type {string|CanvasPattern|null} */ let last = null;
  const { overlay } = style;
  for (const i of nodes) {
    const w = Math.max(1, 2 * scene.halfWidthOf(i) * t.k);
    const { fill } = paintOf(scene, i, style);
    const css = fill || (h < 5 ? style.theme.hatch : style.pattern);
    if (css !== last) ctx.fillStyle = last = css;
    const x = scene.x[i] * t.k + t.x;
    const y = scene.y[i] * t.k + t.y;
    const high = overlay.isChange && overlay.isCalm(i) ? Math.max(1, h * CALM) : h;
    name(ctx, scene, i, style);
    ctx.fillRect(x - w / 2, y - high / 2, w, high);
    const lone = dagUnion.loneOf(scene, overlay, i);
    if (lone) dagUnion.drawBlock(ctx, lone, { x, y, w, h }, style.theme);
    else if (overlay.isChange) drawChange(ctx, overlay, i, { x, y, w, h }, style.theme);
  }
}

/**
 * The mark of a change on a block: a frame around what was added, an arrow on what counts.
 * @param {Pen} ctx @param {Change} overlay @param {number} i
 * @param {{x: number, y: number, w: number, h: number}} given @param {Theme} theme
 */
export function drawChange(ctx, overlay, i, { x, y, w, h }, theme) {
  if (overlay.isAdded(i)) {
    ctx.strokeStyle = theme.accent;
    ctx.lineWidth = 1;
    ctx.strokeRect(x - w / 2 + 0.5, y - h / 2 + 0.5, Math.max(1, w - 1), Math.max(1, h - 1));
  } else if (h >= ARROW && w >= 2 * h && overlay.arrow(i)) {
    fillArrow(ctx, x, y, h * 0.32, overlay.arrow(i) === "▲", overlay.paint(i, theme)?.ink ?? theme.ink);
  }
}

/**
 * @param {Pen} ctx @param {number} x @param {number} y @param {number} r @param {boolean} up
 * @param {string} ink
 */
function fillArrow(ctx, x, y, r, up, ink) {
  const way = up ? -1 : 1;
  ctx.beginPath();
  ctx.moveTo(x - r, y - way * r * 0.8);
  ctx.lineTo(x + r, y - way * r * 0.8);
  ctx.lineTo(x, y + way * r * 0.8);
  ctx.closePath();
  const before = ctx.fillStyle;
  ctx.fillStyle = ink;
  ctx.fill();
  ctx.fillStyle = before;
}

/**
 * Far out: a pixel buffer in which the node that stands out most wins.
 * @param {Pen} ctx @param {DagScene} scene @param {Items} nodes @param {Style} style
 * @param {Size} size
 */
export function drawFar(ctx, scene, nodes, style, size) {
  lay(ctx, pixelsOf(scene, nodes, style, size), size);
}

/**
 * Pixel on pixel.
 * @param {Pen} ctx @param {HTMLCanvasElement} picture @param {Size} size
 */
function lay(ctx, picture, { ratio }) {
  ctx.drawImage?.(picture, 0, 0, picture.width / ratio, picture.height / ratio);
}

/**
 * Of each scene the last picture of all on screen: a hover or a click changes nothing of it.
 * @type {WeakMap<DagScene, {key: string, picture: HTMLCanvasElement}>}
 */
const kept = new WeakMap();

/**
 * {@link drawFar} of all nodes on screen.
 * @param {Pen} ctx @param {DagScene} scene @param {Items} nodes @param {Style} style
 * @param {Size} size
 */
export function drawAllFar(ctx, scene, nodes, style, size) {
  lay(ctx, farOf(scene, nodes, style, size), size);
}

/** The picture of all nodes on screen. @param {DagScene} scene @param {Items} nodes @param {Style} style @param {Size} size */
export function farOf(scene, nodes, style, size) {
  const { transform: t, theme, overlay } = style;
  const key = [overlay.name, theme.name, t.k, t.x, t.y, size.width, size.height, size.ratio].join(" ");
  const before = kept.get(scene);
  const picture = before?.key === key ? before.picture : pixelsOf(scene, nodes, style, size);
  kept.set(scene, { key, picture });
  return picture;
}

/**
 * A canvas of its own, to be laid over what there is: that may be faded under a selection.
 * @param {DagScene} scene @param {Items} nodes @param {Style} style @param {Size} size
 */
function pixelsOf(scene, nodes, style, size) {
  const { transform: t, theme, overlay } = style;
  const { ratio } = size;
  const columns = Math.ceil(size.width * ratio);
  const rows = Math.ceil(size.height * ratio);
  const layer = Object.assign(document.createElement("canvas"), { width: columns, height: rows });
  const pen = penOf(layer);
  const image = pen.createImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  const most = new Uint8Array(columns * rows);
  const { x: xs, y: ys, halfWidth, halfW, halfH } = scene;
  const { step } = overlay;
  const words = overlay.wordsOf(theme);
  const ranks = Uint8Array.from({ length: 256 }, (_, at) => overlay.rankOf(at));
  const k = t.k * ratio;
  const h = Math.max(1, Math.round(2 * halfH * k));
  for (const i of nodes) {
    const half = halfWidth ? halfWidth[i] : halfW;
    const x0 = Math.round((xs[i] - half) * k + t.x * ratio);
    const y0 = Math.round((ys[i] - halfH) * k + t.y * ratio);
    const x1 = Math.min(columns, x0 + Math.max(1, Math.round(2 * half * k)));
    const y1 = Math.min(rows, y0 + h);
    const lone = overlay.isChange ? overlay.loneWord(i, theme) : 0;
    const rank = lone ? LONE : ranks[step[i]];
    const word = lone || words[step[i]];
    for (let y = Math.max(0, y0); y < y1; y++) {
      for (let at = y * columns + Math.max(0, x0); at < y * columns + x1; at++) {
        if (rank > most[at]) {
          most[at] = rank;
          pixels[at] = word;
        }
      }
    }
  }
  pen.putImageData(image, 0, 0);
  return layer;
}

/** @param {Pen} ctx @param {DagScene} scene @param {number} i @param {number} grow */
function outline(ctx, scene, i, grow) {
  const kind = scene.kindOf(i);
  const round = kind === "MEMCPY" || kind === "MEMSET" || kind === "MEMCPY_BATCH" ? 99 : 7;
  const w = scene.halfWidthOf(i) + grow;
  const h = scene.halfH + grow;
  canvas.roundRect(ctx, scene.x[i] - w, scene.y[i] - h, 2 * w, 2 * h, round);
}

/**
 * Cards: rounded, hatched when there is no time, text when there is room. In the plane.
 * @param {Pen} ctx @param {DagScene} scene @param {Items} nodes @param {Style} style
 */
export function drawCards(ctx, scene, nodes, style) {
  const { transform: t, theme } = style;
  for (const i of nodes) {
    const { fill } = paintOf(scene, i, style);
    const kind = scene.kindOf(i);
    if (scene.isFold(i)) drawPile(ctx, scene, i, style);
    ctx.beginPath();
    outline(ctx, scene, i, 0);
    ctx.fillStyle = fill || style.pattern;
    name(ctx, scene, i, style);
    ctx.fill();
    if (style.overlay.name === "family" && scene.mixOf(i).length > 1) drawMix(ctx, scene, i);
    ctx.lineWidth = 1 / t.k;
    ctx.strokeStyle = fill ? theme.outline : theme.hatch;
    const lone = dagUnion.loneOf(scene, style.overlay, i);
    if (lone) dagUnion.outline(ctx, lone, theme, t.k);
    else ctx.stroke();
    drawStrip(ctx, scene, i, style);
    if (kind === "GRAPH" || kind === "CONDITIONAL") {
      ctx.beginPath();
      outline(ctx, scene, i, -3);
      ctx.stroke();
    }
  }
}

/**
 * Behind the largest family of a fold, which fills it, the others, as wide as their parts of its time.
 * @param {Pen} ctx @param {DagScene} scene @param {number} i
 */
function drawMix(ctx, scene, i) {
  const mix = scene.mixOf(i);
  const { family_slots: slots } = scene.header;
  const [w, h] = [scene.halfWidthOf(i), scene.halfH];
  let x = scene.x[i] - w;
  mix.forEach(([family, part], n) => {
    const wide = 2 * w * part;
    ctx.fillStyle = colours.ofFamily(slots[family]);
    // Only the last one has corners of the card.
    if (n && n === mix.length - 1) {
      ctx.beginPath();
      canvas.roundRect(ctx, x, scene.y[i] - h, wide, 2 * h, 7);
      ctx.fill();
    } else if (n) ctx.fillRect(x, scene.y[i] - h, wide, 2 * h);
    x += wide;
  });
  ctx.beginPath();
  outline(ctx, scene, i, 0);
}

/**
 * Two cards behind a fold: there is more in it.
 * @param {Pen} ctx @param {DagScene} scene @param {number} i @param {Style} style
 */
function drawPile(ctx, scene, i, style) {
  ctx.fillStyle = style.theme.panel;
  ctx.strokeStyle = style.theme.muted;
  ctx.lineWidth = 1 / style.transform.k;
  const [w, h] = [scene.halfWidthOf(i), scene.halfH];
  for (const away of [8, 4]) {
    ctx.beginPath();
    canvas.roundRect(ctx, scene.x[i] - w + away, scene.y[i] - h - away, 2 * w, 2 * h, 7);
    ctx.fill();
    ctx.stroke();
  }
}

/**
 * Under a repeat: a cell for each block, by what a reader has laid on the graph, else from the fastest to the slowest of them.
 * @param {Pen} ctx @param {DagScene} scene @param {number} i @param {Style} style
 */
function drawStrip(ctx, scene, i, style) {
  const times = scene.stripOf(i);
  if (times.length < 2) return;
  const { overlay, theme } = style;
  const fills = (overlay.isChange ? null : overlay.blocks?.fills(i, theme)) ?? timeFills(times, theme);
  const half = scene.halfWidthOf(i);
  const w = (2 * half) / times.length;
  const top = scene.y[i] + scene.halfH + 2;
  fills.forEach((fill, n) => {
    ctx.fillStyle = fill ?? theme.untimed;
    ctx.fillRect(scene.x[i] - half + n * w, top, w > 3 ? w - 0.6 : w, STRIP);
  });
}

/** The colours of some times, from the least to the most; null: not timed. @param {ArrayLike<number>} times @param {Theme} theme */
function timeFills(times, theme) {
  const known = Array.from(times).filter((t) => t === t);
  const least = Math.min(...known);
  const span = Math.max(...known) - least;
  const { css } = colours.ramp(theme.name);
  return Array.from(times, (t) => (t === t ? css[Math.round((span > 0 ? (t - least) / span : 0) * (css.length - 1))] : null));
}

/** Whether nodes have names of their own. @param {DagScene} scene @param {Style} style */
export const areNamed = ({ halfW, halfH }, { transform: t }) => 2 * halfH * t.k >= BLOCK && 2 * halfW * t.kx >= NARROW;

/**
 * Names, and times when two lines fit. In coordinates of the screen, so text stays crisp.
 * @param {Pen} ctx @param {DagScene} scene @param {Items} nodes @param {Style} style
 */
export function drawTexts(ctx, scene, nodes, style) {
  const { transform: t, theme } = style;
  const h = 2 * scene.halfH * t.k;
  if (h < BLOCK) return;
  const two = h >= TWO_LINES;
  const px = two ? Math.min(17, Math.max(11, h * 0.3)) : Math.min(12, Math.max(8, h * 0.6));
  ctx.textBaseline = "middle";
  for (const i of nodes) {
    const w = 2 * scene.halfWidthOf(i) * t.k;
    if (w < NARROW) continue;
    const { ink, fill } = paintOf(scene, i, style);
    const pen = style.faded ? theme.ink : ink;
    const left = scene.x[i] * t.k + t.x - w / 2;
    const middle = scene.y[i] * t.k + t.y;
    const pad = Math.min(12, Math.max(4, w * 0.055));
    if (!fill && !style.faded) {
      // Text on a hatch needs quiet ground.
      ctx.fillStyle = theme.untimed;
      ctx.fillRect(left + pad - 3, middle - h * 0.38, w - 2 * pad + 6, h * 0.76);
    }
    const tag = tagOf(scene, i, style.overlay, w);
    const room = w - 2 * pad - (tag ? drawTag(ctx, tag, left + w - pad, middle, px, pen) : 0);
    ctx.textAlign = "left";
    ctx.fillStyle = pen;
    const weight = two ? 600 : 500;
    const title = fitName(ctx, scene, i, px, room, weight);
    ctx.font = canvas.font(px, weight);
    ctx.fillText(title, left + pad, two ? middle - h * 0.17 : middle);
    if (two) drawTime(ctx, scene, i, { x: left + pad, y: middle + h * 0.21, px, room }, style.overlay);
  }
}

/**
 * The mark at the right of a card: the arrow of a change, or the kind in a word where the name does
 * not say it; of a node that holds bodies, which its title says, that there is more.
 * @param {DagScene} scene @param {number} i @param {Overlay} overlay @param {number} w
 */
function tagOf(scene, i, overlay, w) {
  if (overlay.isChange && overlay.arrow(i)) return overlay.arrow(i);
  const lone = dagUnion.loneOf(scene, overlay, i);
  if (lone) return dagUnion.tagOf(lone);
  if (w <= 96) return undefined;
  if (scene.bodies.parents.has(i)) return "▸";
  const kind = scene.kindOf(i);
  return scene.nameOf(i) === kind ? undefined : TAGS[kind];
}

/**
 * What a node is called: WHILE for CONDITIONAL WHILE, and a child graph's by that word.
 * @param {DagScene} scene @param {number} i
 */
export function shortName(scene, i) {
  const whole = scene.nameOf(i);
  if (!scene.bodies.parents.has(i)) return whole;
  return whole === "GRAPH" ? "child graph" : whole.replace(/^CONDITIONAL (?=.)/, "");
}

/**
 * As much of what a node is called as there is room for.
 * @param {Pen} ctx @param {DagScene} scene @param {number} i @param {number} px @param {number} room @param {number} weight
 */
export function fitName(ctx, scene, i, px, room, weight) {
  const fits = (/** @type {string} */ text) => canvas.textWidth(ctx, text, px, weight) <= room;
  if (scene.isFold(i)) return fitFold(scene.nameOf(i), fits);
  const whole = shortName(scene, i);
  return fitWords(whole, fits) || canvas.fitText(ctx, whole, px, room, weight);
}

/**
 * @param {Pen} ctx @param {string} tag @param {number} right @param {number} middle
 * @param {number} px @param {string} ink
 */
function drawTag(ctx, tag, right, middle, px, ink) {
  const size = Math.max(7.5, px * 0.7);
  ctx.font = canvas.font(size, 700);
  ctx.textAlign = "right";
  ctx.fillStyle = ink;
  ctx.fillText(tag, right, middle);
  return canvas.textWidth(ctx, tag, size, 700) + 8;
}

/**
 * The second line of a node: its time and share of the launch; Σ: summed over what is in it.
 * @param {DagScene} scene @param {number} i
 */
function timeOf(scene, i) {
  const { duration, percent } = format;
  const share = Number.isFinite(scene.share[i]) ? ` · ${percent(scene.share[i])}` : "";
  if (!scene.timed(i)) return "not timed";
  const sum = scene.bodies.parents.has(i) ? "Σ " : "";
  return sum + duration(scene.median[i]) + share;
}

/**
 * The same with the range that most launches are in, for a parent node.
 * @param {DagScene} scene @param {number} i
 */
export function spreadOf(scene, i) {
  const parent = scene.bodies.parents.get(i);
  if (scene.isFold(i) && scene.timed(i)) return countOf(scene, i) + eachOf(scene, i) + timeOf(scene, i);
  if (!parent || !scene.timed(i)) return timeOf(scene, i);
  const [low, high] = [parent.p5, parent.p95].map(format.duration);
  const sum = `Σ ${format.duration(scene.median[i])}`;
  return timeOf(scene, i).replace(sum, `${sum} (${low} to ${high})`);
}

/** How many nodes a repeat has, unless its name says so: "24 × 15 nodes · ". @param {DagScene} scene @param {number} i */
function countOf(scene, i) {
  const blocks = scene.stripOf(i).length;
  if (!blocks || isCount(scene.nameOf(i))) return "";
  return `${format.integer(blocks)} × ${format.counted(scene.nodesOf(i).length / blocks, "node")} · `;
}

/** What one of the blocks of a repeat takes: "178 to 180 µs each · ". @param {DagScene} scene @param {number} i */
function eachOf(scene, i) {
  const known = Array.from(scene.stripOf(i)).filter((ns) => ns === ns);
  if (known.length < 2) return "";
  const [least, most] = [Math.min(...known), Math.max(...known)].map(format.duration);
  return `${least === most ? least : `${least} to ${most}`} each · `;
}

/**
 * The second line: time and share, or else what the node is coloured by.
 * @param {DagScene} scene @param {number} i @param {Overlay} overlay
 */
function lineOf(scene, i, overlay) {
  if (overlay.isChange) return `${timeOf(scene, i).split(" · ")[0]} · ${overlay.line(i)}`;
  const before = WORDS[overlay.name];
  if (before === undefined) return timeOf(scene, i);
  return `${before} ${overlay.describe(i)}`.trim();
}

/**
 * @param {Pen} ctx @param {DagScene} scene @param {number} i
 * @param {{x: number, y: number, px: number, room: number}} given @param {Overlay} overlay
 */
function drawTime(ctx, scene, i, { x, y, px, room }, overlay) {
  const small = px * 0.92;
  const line = lineOf(scene, i, overlay);
  const isTime = line === timeOf(scene, i);
  ctx.font = canvas.font(small);
  ctx.fillText(isTime ? fitLine(spreadOf(scene, i), line, (text) => canvas.textWidth(ctx, text, small) <= room)
    : canvas.fitText(ctx, line, small, room), x, y);
}

/**
 * A ring around nodes, in the plane.
 * @param {Pen} ctx @param {DagScene} scene @param {Items} nodes
 * @param {{scale: number, colour: string, width: number, halo: string|null}} given
 */
export function drawRings(ctx, scene, nodes, { scale, colour, width, halo }) {
  for (const { stroke, extra } of [{ stroke: halo, extra: 3 }, { stroke: colour, extra: 0 }]) {
    if (!stroke) continue;
    ctx.strokeStyle = stroke;
    ctx.lineWidth = (width + extra) / scale;
    ctx.beginPath();
    for (const i of nodes) outline(ctx, scene, i, (width / 2 + 1) / scale);
    ctx.stroke();
  }
}
