/**
 * A DAG of two graphs: what was added and removed, on nodes and edges, whatever nodes are coloured by.
 * Added nodes have a broken outline and the word NEW, removed ones a dotted outline, a stroke across
 * and the word GONE; added edges are thick, removed ones dotted. Python side:
 * gviz.app.pages.compare.union_dag.
 */
import { DASH } from "./strip.js";
/** @import { Pen, Theme } from "../../core/canvas.js" */
/** @import { Overlay } from "../overlay/overlay.js" */
/** @import { DagScene } from "../scene/scene.js" */
/** @import { Stroke, Style } from "./plane.js" */
/** @import { Strip } from "./strip.js" */

/** Values of gviz.comparison.union_graph. */
const BEFORE = 1;
const AFTER = 2;
const DOTS = [1.5, 3.5];
/** @type {Record<string, string>} */
const TAGS = { added: "NEW", removed: "GONE" };

/**
 * How edges look: of both graphs, of the one before, of the one after.
 * @type {{name: string, width: number, dash: number[]|null, ink: "edge"|"muted"|"accent"}[]}
 */
const EDGES = [
  { name: "edge of both", width: 1.25, dash: null, ink: "edge" },
  { name: "removed", width: 1.75, dash: [1.5, 4], ink: "muted" },
  { name: "added", width: 2.75, dash: null, ink: "accent" },
];

/** @param {DagScene} scene */
export function isUnion(scene) {
  return !!scene.payload.edge_origin;
}

/**
 * What an item is to one graph alone: "added", "removed", or "".
 * @param {DagScene} scene @param {Overlay} overlay @param {number} i
 */
export function loneOf(scene, overlay, i) {
  if (!isUnion(scene)) return "";
  const verdict = scene.header.change.verdicts[scene.payload.verdict[i]];
  return TAGS[verdict] ? verdict : "";
}

/** @param {string} lone */
export function tagOf(lone) {
  return TAGS[lone];
}

/**
 * Stroke the path of a lone node's card.
 * @param {Pen} ctx @param {string} lone @param {Theme} theme
 * @param {number} scale of the context's plane
 */
export function outline(ctx, lone, theme, scale) {
  const dash = lone === "added" ? DASH : DOTS;
  ctx.strokeStyle = lone === "added" ? theme.accent : theme.muted;
  ctx.lineWidth = 2 / scale;
  ctx.setLineDash(dash.map((length) => length / scale));
  ctx.stroke();
  ctx.setLineDash([]);
}

/**
 * The mark of a lone node that is a block: a frame, and a stroke across what is gone.
 * @param {Pen} ctx @param {string} lone @param {{x: number, y: number, w: number, h: number}} given
 * @param {Theme} theme
 */
export function drawBlock(ctx, lone, { x, y, w, h }, theme) {
  ctx.strokeStyle = lone === "added" ? theme.accent : theme.muted;
  ctx.lineWidth = 1;
  const [left, top] = [x - w / 2 + 0.5, y - h / 2 + 0.5];
  ctx.strokeRect(left, top, Math.max(1, w - 1), Math.max(1, h - 1));
  if (lone === "added") return;
  ctx.beginPath();
  ctx.moveTo(left, top + Math.max(1, h - 1));
  ctx.lineTo(left + Math.max(1, w - 1), top);
  ctx.stroke();
}

/**
 * Stroke edges, whose they are by their look.
 * @param {DagScene} scene @param {number[]} edges @param {Style} style @param {Stroke} stroke
 * @param {string|null} colour in place of each's own
 */
export function drawEdges(scene, edges, style, stroke, colour = null) {
  /** @type {number[][]} */
  const lists = [[], [], []];
  for (const e of edges) lists[scene.payload.edge_origin[e]].push(e);
  const { k } = style.transform;
  const thin = k > 0.3 ? 1 : Math.max(0.4, 3 * k);
  lists.forEach((list, at) => {
    const { width, dash, ink } = EDGES[at];
    if (list.length) stroke(list, colour || style.theme[ink], width * thin, dash);
  });
}

/**
 * What lines and outlines mean, as a sentence.
 * @param {{added: number, gone: number}} given
 */
export function sentence({ added, gone }) {
  return ` ${added} added (broken outline, NEW), ${gone} removed (dotted outline, GONE). Edges: thick ones were added, dotted ones removed.`;
}

/** The room of a sample. */
const SAMPLE = 26;

/** What one graph alone has. @param {{added: number, gone: number}} counts */
function samplesOf({ added, gone }) {
  /** @type {{count: number, what: string, dash: number[], ink: "accent"|"muted"}[]} */
  const all = [
    { count: added, what: "added", dash: DASH, ink: "accent" }, { count: gone, what: "removed", dash: DOTS, ink: "muted" },
  ];
  return all.filter(({ count }) => count > 0).map((one) => ({ ...one, text: `${one.count} ${one.what}` }));
}

/** The room that nodes of one graph alone take in the legend. @param {Strip} strip @param {{added: number, gone: number}} counts */
export const widthOf = (strip, counts) =>
  samplesOf(counts).reduce((sum, { text }) => sum + SAMPLE + strip.widthOf(text), 0);

/**
 * What is in one of two graphs only, in the legend.
 * @param {Strip} strip @param {{theme: Theme, overlay: Overlay}} given
 * @param {{added: number, gone: number}} counts
 */
export function legend(strip, { theme, overlay }, counts) {
  for (const { text, what, dash, ink } of samplesOf(counts)) {
    strip.x += 4;
    strip.swatch(what === "added" && !overlay.isChange ? theme.panel : theme.ground, dash, theme[ink]);
    strip.text(text, 400, theme.ink);
  }
}

/** Edges of one graph only, as far as there is room. @param {Strip} strip @param {number} room */
export function edgeLegend(strip, room) {
  for (const look of EDGES.slice(1)) {
    const text = `edge ${look.name}`;
    if (strip.x + 41 + strip.widthOf(text) > room) return;
    strip.x += 4;
    strip.line(look);
    strip.text(text);
  }
}

/**
 * For tests: nodes by what they are, and how many edges are whose.
 * @param {DagScene} scene @param {Overlay} overlay
 */
export function state(scene, overlay) {
  if (!isUnion(scene)) return undefined;
  const edges = { both: 0, removed: 0, added: 0 };
  /** @type {Record<string, number[]>} */
  const nodes = { added: [], removed: [] };
  for (let i = 0; i < scene.count; i++) {
    const lone = loneOf(scene, overlay, i);
    if (lone) nodes[lone].push(scene.nodeId[i]);
  }
  for (const origin of scene.payload.edge_origin) {
    edges[origin === BEFORE ? "removed" : origin === AFTER ? "added" : "both"] += 1;
  }
  return { ...nodes, edges };
}
