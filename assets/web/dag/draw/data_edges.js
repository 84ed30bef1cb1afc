/**
 * Edges of the DAG by what they carry: how they are drawn, named and pointed at.
 * What a selection has in common with other nodes is in dag/buffers.js.
 */
import * as canvas from "../../core/canvas.js";
import * as format from "../../core/format.js";
import * as dataWords from "../scene/uses.js";
/** @import { Pen } from "../../core/canvas.js" */
/** @import { Box } from "../scene/bodies.js" */
/** @import { DagScene } from "../scene/scene.js" */
/** @import { DataUses } from "../scene/uses.js" */
/** @import { Stroke, Style, Transform } from "./plane.js" */

/** Values of gviz.model.memory.edge_data.Common. */
const COMMON = { NOTHING: 0, ALLOCATION: 1, LOOKS: 2, ADDRESS: 3 };
/** From this zoom on edges are labelled, while no more than this many are on screen. */
const LABEL_ZOOM = 0.7;
const MOST_LABELS = 600;
const LABEL = 10;
const DASH = [7, 4];
const DOTS = [1.2, 4];

/**
 * What an edge is drawn as: dots, dashes or a thick line; never by colour alone.
 * @type {{name: string, width: number, dash: number[]|null, ink: "edge"|"muted"}[]}
 */
export const STYLES = [
  { name: "order only", width: 1, dash: DOTS, ink: "edge" },
  { name: "same allocation", width: 1.25, dash: DASH, ink: "muted" },
  { name: "same address", width: 2.5, dash: null, ink: "muted" },
];

/** @param {number} common */
function lookOf(common) {
  return common >= COMMON.LOOKS ? 2 : common;
}

/**
 * Edges apart by how they look: three lists, the thick ones last.
 * @param {DagScene} scene @param {number[]} edges
 */
function sort(scene, edges) {
  /** @type {number[][]} */
  const lists = [[], [], []];
  for (const e of edges) lists[lookOf(scene.payload.data_common[e])].push(e);
  return lists;
}

/**
 * Draw edges, `stroke(list, colour, width, dash)` drawing each list.
 * @param {DagScene} scene @param {number[]} edges @param {Style} style @param {Stroke} stroke
 * @param {string|null} colour in place of each look's own
 */
export function draw(scene, edges, style, stroke, colour = null) {
  const { k } = style.transform;
  const thin = scene.along || k > 0.3 ? 1 : Math.max(0.4, 3 * k);
  sort(scene, edges).forEach((list, at) => {
    const { width, dash, ink } = STYLES[at];
    if (list.length) stroke(list, colour || style.theme[ink], width * thin, dash);
  });
}

/**
 * What an edge carries, short: for its label. "" for nothing.
 * @param {DagScene} scene @param {number} e
 */
function labelOf(scene, e) {
  const { data_common: common, data_bytes: bytes, data_count: count } = scene.payload;
  if (common[e] === COMMON.NOTHING) return "";
  const name = nameOf(scene, e);
  if (Number.isFinite(bytes[e])) return [name, format.byteSize(bytes[e])].filter(Boolean).join(", ");
  const size = sizeOf(scene, e);
  if (common[e] === COMMON.ALLOCATION) return `same allocation of ${size}`;
  const what = count[e] > 1 ? `${count[e]} addresses` : name || "same address";
  return size ? `${what}, in ${size}` : what;
}

/**
 * The name of the first buffer that an edge carries: its elements, and what a kernel calls it. "" where neither is known.
 * @param {DagScene} scene @param {number} e
 */
function nameOf({ payload, header }, e) {
  const { data_place: place, place_name: name } = payload;
  return header.strings[name[place[e]] ?? -1] ?? "";
}

/**
 * The size of the allocation around what an edge carries.
 * @param {DagScene} scene @param {number} e
 */
function sizeOf(scene, e) {
  const { data_allocation: at, allocation_bytes: bytes } = scene.payload;
  return at[e] < 0 ? "" : format.byteSize(bytes[at[e]]);
}

/**
 * What an edge carries, in full: rows of a tooltip.
 * @param {DagScene} scene @param {number} e
 */
export function describe(scene, e) {
  const uses = /** @type {DataUses} */ (scene.uses);
  const { data_common: common, data_count: count, data_bytes: bytes, data_place: place } =
    scene.payload;
  const names = [scene.from[e], scene.to[e]].map((i) => scene.nameOf(i));
  const rows = [[names.join(" → ")]];
  if (common[e] === COMMON.NOTHING) {
    rows.push(["in common", "no recorded address"]);
  } else if (common[e] === COMMON.ALLOCATION) {
    const { data_allocation: at } = scene.payload;
    rows.push(["in common", "an allocation, at different addresses"]);
    rows.push(["allocation", uses.allocationText(at[e])]);
  } else {
    rows.push(["in common", format.counted(count[e], "address", "addresses")]);
    const name = nameOf(scene, e);
    if (name) rows.push([count[e] > 1 ? "first buffer" : "buffer", name]);
    if (Number.isFinite(bytes[e])) rows.push(["moved there", format.byteSize(bytes[e])]);
    rows.push([names[0], wordsOf(scene.payload.data_source[e])]);
    rows.push([names[1], wordsOf(scene.payload.data_target[e])]);
    rows.push([count[e] > 1 ? "first of them" : "address", uses.whereOf(place[e])]);
    rows.push(["allocation", uses.aroundOf(place[e]) || "none recorded"]);
    if (common[e] === COMMON.LOOKS) rows.push(["known by", "its looks, inside structures"]);
  }
  if (scene.edgeType[e] === 1) rows.push(["dependency", "programmatic"]);
  if (scene.edgeType[e] === 255) rows.push(["dependency", "inferred from stream order"]);
  return rows;
}

/** Edges of a node that a tooltip shows, each way. */
const MOST_SHOWN = 4;

/**
 * What the edges of a node carry: rows of its tooltip.
 * @param {DagScene} scene @param {number} i
 */
export function rowsOf(scene, i) {
  /** @param {Int32Array} edges @param {string} word @param {Uint32Array} end */
  const describeAll = (edges, word, end) => {
    const carrying = Array.from(edges).filter((e) => labelOf(scene, e));
    const rows = carrying
      .slice(0, MOST_SHOWN)
      .map((e) => [`${word} ${scene.nameOf(end[e])}`, labelOf(scene, e)]);
    const more = carrying.length - rows.length;
    return more > 0 ? [...rows, [word, `${more} more`]] : rows;
  };
  return [...describeAll(scene.edgesTo(i), "from", scene.from), ...describeAll(scene.edgesFrom(i), "to", scene.to)];
}

/** What lines mean, as a sentence. */
export function legend() {
  return " Edges: thick where both ends have the same address, dashed the same allocation, dotted order only: nothing recorded in common.";
}

/**
 * What a node does at an address: bits of gviz.model.memory.uses.Access.
 * @param {number} bits
 */
function wordsOf(bits) {
  const words = dataWords.ACCESS.filter((_, access) => bits & (1 << access));
  return Array.from(new Set(words)).map((word) => `${word} it`).join(", ");
}

/**
 * The middle of an edge in the plane.
 * @param {DagScene} scene @param {number} e
 */
function middleOf(scene, e) {
  const [first, last] = [scene.routeOffset[e], scene.routeOffset[e + 1]];
  if (last > first) {
    const at = (first + last - 1) >> 1;
    return { x: scene.routeX[at], y: scene.routeY[at] };
  }
  const [a, b] = [scene.from[e], scene.to[e]];
  return { x: (scene.x[a] + scene.x[b]) / 2, y: (scene.y[a] + scene.y[b]) / 2 };
}

/**
 * Labels at the middles of edges, where neither a node nor another label stands.
 * @param {Pen} ctx @param {DagScene} scene @param {number[]} edges @param {Style} style
 */
export function drawLabels(ctx, scene, edges, style) {
  const { transform: t, theme } = style;
  if (scene.along || t.k < LABEL_ZOOM || edges.length > MOST_LABELS) return 0;
  /** @type {Box[]} */
  const taken = [];
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  for (const e of edges) {
    const text = labelOf(scene, e);
    if (!text) continue;
    const at = middleOf(scene, e);
    const [x, y] = [at.x * t.k + t.x, at.y * t.k + t.y];
    const w = canvas.textWidth(ctx, text, LABEL, 500) / 2 + 4;
    const box = { left: x - w, right: x + w, top: y - 7, bottom: y + 7 };
    if (taken.some((other) => meet(box, other)) || covers(scene, box, t)) continue;
    taken.push(box);
    ctx.fillStyle = theme.panel;
    ctx.fillRect(box.left, box.top, 2 * w, 14);
    ctx.font = canvas.font(LABEL, 500);
    ctx.fillStyle = theme.ink;
    ctx.fillText(text, x, y + 0.5);
  }
  return taken.length;
}

/** @param {Box} a @param {Box} b */
function meet(a, b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

/**
 * Whether a box on screen lies over a node.
 * @param {DagScene} scene @param {Box} box @param {Transform} t
 */
function covers(scene, box, t) {
  const [left, right] = [box.left, box.right].map((x) => (x - t.x) / t.k);
  const [top, bottom] = [box.top, box.bottom].map((y) => (y - t.y) / t.k);
  let hit = false;
  const { halfW: w, halfH: h } = scene;
  scene.grid.visit(left - w, top - h, right + w, bottom + h, (i) => {
    const away = Math.abs(scene.x[i] - (left + right) / 2) - (right - left) / 2;
    const above = Math.abs(scene.y[i] - (top + bottom) / 2) - (bottom - top) / 2;
    hit = hit || (away < w && above < h);
  });
  return hit;
}

/**
 * How many edges carry what: for tests.
 * @param {DagScene} scene
 */
export function countsOf(scene) {
  const counts = [0, 0, 0, 0];
  for (const common of scene.payload.data_common) counts[common] += 1;
  return counts;
}
