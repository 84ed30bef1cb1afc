/**
 * Names of regions, where nodes are too small for names of their own: neighbours that are mostly of one phase and category
 * have their names together, those of many say how many nodes they are.
 *
 * @typedef {{categories: Categories, phases: number[], phaseOf: (i: number) => number}} Names  of regions: categories, and
 *   strings of phases, -1 for none
 * @typedef {{at: number|null, phase: string, count: number, left: number, right: number, x: number, y: number}} Region  `at`: the place of its
 *   category, null: none takes most; nodes; of the longest row of its cells the ends and the middle of its nodes, on screen
 */
import * as canvas from "../../core/canvas.js";
import * as format from "../../core/format.js";
import { fitWords } from "./fold_title.js";
/** @import { Pen, Size } from "../../core/canvas.js" */
/** @import { Overlay, Categories } from "../overlay/overlay.js" */
/** @import { Items } from "../scene/bodies.js" */
/** @import { DagScene } from "../scene/scene.js" */
/** @import { Style, Transform } from "./plane.js" */

/** A cell has room for a name (px). */
const WIDE = 96;
const HIGH = 40;
/** A category names a cell from this part of its time on. */
const MOST = 0.25;
/** A cell of fewer nodes than this is no region. */
const FEW = 2;
const SIZE = 11;
const PLATE = 16;
const SWATCH = 8;
const PAD = 5;
/** Of a cell without a category that takes most. */
const MIXED = -1;

/** The categories that regions are named by: those of the colours, else kernel families. @param {DagScene} scene @param {Overlay} overlay */
export const categoriesOf = (scene, overlay) => /** @type {Categories} */ (overlay.isRamp ? scene.overlay("family") : overlay);

/** What regions are named by: categories, and phases. @param {DagScene} scene @param {Overlay} overlay @returns {Names} */
function namesOf(scene, overlay) {
  const categories = categoriesOf(scene, overlay);
  /** @type {Int32Array|undefined} */ const own = categories.name === "phase" ? undefined : scene.payload.phase;
  const phases = own ? Array.from(new Set(own)) : [-1];
  const places = new Map(phases.map((phase, n) => [phase, n]));
  return { categories, phases, phaseOf: (i) => (own ? places.get(own[i]) ?? 0 : 0) };
}

/** Cells over the plane, which stay where they are while it moves. @param {Transform} t @param {Size} size */
function gridOf(t, size) {
  const w = 2 ** Math.ceil(Math.log2(WIDE / t.kx)), h = 2 ** Math.ceil(Math.log2(HIGH / t.k));
  const first = Math.floor(-t.x / t.kx / w), top = Math.floor(-t.y / t.k / h);
  const columns = Math.floor((size.width - t.x) / t.kx / w) - first + 1;
  const rows = Math.floor((size.height - t.y) / t.k / h) - top + 1;
  return { w, h, first, top, columns, rows };
}

/**
 * What takes most in each cell on screen, and how many nodes are in it.
 * @param {DagScene} scene @param {Items} nodes @param {Names} names @param {ReturnType<typeof gridOf>} grid
 */
function fill(scene, nodes, { categories, phases, phaseOf }, { w, h, first, top, columns, rows }) {
  const cells = columns * rows, kinds = categories.categories.length * phases.length;
  const spent = new Float64Array(cells * kinds), all = new Float64Array(cells), count = new Int32Array(cells);
  const items = new Float64Array(cells), x = new Float64Array(cells), y = new Float64Array(cells);
  for (const i of nodes) {
    const column = Math.floor(scene.x[i] / w) - first, row = Math.floor(scene.y[i] / h) - top;
    if (column < 0 || row < 0 || column >= columns || row >= rows) continue;
    const cell = row * columns + column;
    // What has no time counts as well, for next to nothing.
    const ns = scene.timed(i) ? scene.median[i] + 1 : 1;
    all[cell] += ns;
    count[cell] += scene.payload.item_offset ? scene.nodesOf(i).length : 1;
    items[cell] += 1;
    x[cell] += scene.x[i];
    y[cell] += scene.y[i];
    if (categories.hasValue(i)) spent[cell * kinds + categories.placeOf(i) * phases.length + phaseOf(i)] += ns;
  }
  const most = new Int32Array(cells).fill(MIXED);
  for (let cell = 0; cell < cells; cell++) {
    for (let at = 0; at < kinds; at++) {
      const own = spent[cell * kinds + at];
      if (own >= MOST * all[cell] && own > (most[cell] < 0 ? 0 : spent[cell * kinds + most[cell]])) most[cell] = at;
    }
  }
  return { most, count, items, x, y };
}

/**
 * The regions on screen: cells beside each other that have one name.
 * @param {DagScene} scene @param {Items} nodes @param {Style} style @param {Size} size @returns {Region[]}
 */
export function regionsOf(scene, nodes, { overlay, transform: t }, size) {
  const grid = gridOf(t, size), { columns, rows } = grid;
  const names = namesOf(scene, overlay), { phases } = names;
  const { most, count, items, x, y } = fill(scene, nodes, names, grid);
  const seen = new Uint8Array(columns * rows);
  /** @type {Region[]} */ const found = [];
  for (let begin = 0; begin < seen.length; begin++) {
    if (seen[begin] || count[begin] < FEW) continue;
    const cells = spread(begin, seen, columns, (cell) => count[cell] >= FEW && most[cell] === most[begin]);
    const run = longestRun(cells, columns);
    const left = (grid.first + (run.from % columns)) * grid.w * t.kx + t.x;
    const sum = (/** @type {Float64Array} */ of) => of.subarray(run.from, run.from + run.length).reduce((a, b) => a + b, 0);
    const at = most[begin] === MIXED ? null : Math.floor(most[begin] / phases.length);
    found.push({
      at, phase: at === null ? "" : scene.header.strings[phases[most[begin] % phases.length]] ?? "", count: cells.reduce((all, cell) => all + count[cell], 0),
      left, right: left + run.length * grid.w * t.kx, x: (sum(x) / sum(items)) * t.kx + t.x, y: (sum(y) / sum(items)) * t.k + t.y,
    });
  }
  return found;
}

/** Cells that hang together with one. @param {number} begin @param {Uint8Array} seen @param {number} columns @param {(cell: number) => boolean} belongs */
function spread(begin, seen, columns, belongs) {
  const found = [begin];
  seen[begin] = 1;
  for (const cell of found) {
    const column = cell % columns;
    for (const next of [column ? cell - 1 : -1, column + 1 < columns ? cell + 1 : -1, cell - columns, cell + columns]) {
      if (next < 0 || next >= seen.length || seen[next] || !belongs(next)) continue;
      seen[next] = 1;
      found.push(next);
    }
  }
  return found.sort((a, b) => a - b);
}

/** The longest row of cells, of equal ones that nearest to the middle. @param {number[]} cells in order @param {number} columns */
function longestRun(cells, columns) {
  /** @type {{from: number, length: number}[]} */ const runs = [];
  for (const cell of cells) {
    const last = runs.at(-1);
    if (last && last.from + last.length === cell && cell % columns) last.length += 1;
    else runs.push({ from: cell, length: 1 });
  }
  const most = Math.max(...runs.map(({ length }) => length));
  const longest = runs.filter(({ length }) => length === most);
  return longest[Math.floor(longest.length / 2)];
}

/**
 * Draw their names; returns what was written. Where nodes have changed the changes are looked at: names would cover them.
 * @param {Pen} ctx @param {DagScene} scene @param {Items} nodes @param {Style} style @param {Size} size
 */
export function drawNames(ctx, scene, nodes, style, size) {
  if (style.overlay.isChange) return [];
  const categories = categoriesOf(scene, style.overlay);
  return knownOf(scene, nodes, style, size).map((region) => write(ctx, region, categories, style, size)).filter(Boolean);
}

/** The last regions of each scene: a hover or a click changes nothing of them. @type {WeakMap<DagScene, {overlay: Overlay, key: string, regions: Region[]}>} */
const known = new WeakMap();

/** The regions on screen, found once. @param {DagScene} scene @param {Items} nodes @param {Style} style @param {Size} size */
export function knownOf(scene, nodes, style, size) {
  const { overlay, transform: { k, kx, x, y } } = style;
  const key = [k, kx, x, y, size.width, size.height].join(" ");
  const before = known.get(scene);
  if (before?.key === key && before.overlay === overlay) return before.regions;
  const regions = regionsOf(scene, nodes, style, size);
  known.set(scene, { overlay, key, regions });
  return regions;
}

/** @param {Pen} ctx @param {Region} region @param {Categories} names @param {Style} style @param {Size} size */
function write(ctx, { at, phase, count, left, right, x: middle, y }, names, { theme, overlay }, size) {
  const from = Math.max(left, 2), room = Math.min(right, size.width - 2) - from;
  const css = at !== null && overlay === names ? names.css(at, theme) : null;
  const beside = 2 * PAD + (css ? SWATCH + PAD : 0);
  const fits = (/** @type {string} */ words) => canvas.textWidth(ctx, words, SIZE, 600) + beside <= room;
  const name = at === null ? `${format.counted(count, "node")}, mixed` : names.categories[at].text;
  const text = phase ? fitBoth(phase, name, fits) : fitWords(name, fits);
  if (!text) return "";
  const w = canvas.textWidth(ctx, text, SIZE, 600) + beside;
  const x = Math.max(from, Math.min(from + room - w, middle - w / 2)), top = y - PLATE / 2;
  ctx.beginPath();
  canvas.roundRect(ctx, x, top, w, PLATE, 4);
  ctx.fillStyle = theme.panel;
  ctx.fill();
  if (css) {
    ctx.fillStyle = css;
    ctx.fillRect(x + PAD, top + (PLATE - SWATCH) / 2, SWATCH, SWATCH);
  }
  ctx.font = canvas.font(SIZE, 600);
  ctx.fillStyle = theme.ink;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.fillText(text, x + beside - PAD, top + PLATE / 2 + 0.5);
  return text;
}

/** A phase and as much of the name in it as fits, else the phase alone. @param {string} phase @param {string} name @param {(text: string) => boolean} fits */
function fitBoth(phase, name, fits) {
  const part = fitWords(name, (text) => fits(`${phase}: ${text}`));
  return part ? `${phase}: ${part}` : fitWords(phase, fits);
}
