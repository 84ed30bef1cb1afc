/**
 * A DAG of two graphs: what came and what went, on nodes and edges, whatever nodes are coloured by.
 * Added nodes have a broken outline and the word NEW, removed ones a dotted outline, a stroke across
 * and the word GONE; added edges are thick, removed ones dotted. Python side:
 * gviz.app.compare.union_dag.
 */
import { DASH } from "./strip.js";

/** Values of gviz.comparison.union_graph. */
const BEFORE = 1;
const AFTER = 2;
const DOTS = [1.5, 3.5];
const TAGS = { added: "NEW", removed: "GONE" };

/** How edges look: of both graphs, of the one before, of the one after. */
const EDGES = [
  { name: "edge of both", width: 1.25, dash: null, ink: "edge" },
  { name: "removed", width: 1.75, dash: [1.5, 4], ink: "muted" },
  { name: "added", width: 2.75, dash: null, ink: "accent" },
];

export function isUnion(scene) {
  return !!scene.payload.edge_origin;
}

/** What an item is to one graph alone: "added", "removed", or "". */
export function loneOf(scene, overlay, i) {
  if (!overlay.isChange && !isUnion(scene)) return "";
  const verdict = scene.header.baseline.verdicts[scene.payload.verdict[i]];
  return TAGS[verdict] ? verdict : "";
}

export function tagOf(lone) {
  return TAGS[lone];
}

/** Stroke the path of a lone node's card. @param {{scale: number}} style of the context's plane */
export function outline(ctx, lone, theme, scale) {
  const dash = lone === "added" ? DASH : DOTS;
  ctx.strokeStyle = lone === "added" ? theme.accent : theme.muted;
  ctx.lineWidth = 2 / scale;
  ctx.setLineDash(dash.map((length) => length / scale));
  ctx.stroke();
  ctx.setLineDash([]);
}

/** The mark of a lone node that is a block: a frame, and a stroke across what is gone. */
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

/** Stroke edges, whose they are by their look. @param {string|null} colour in place of each's own */
export function drawEdges(scene, edges, style, stroke, colour = null) {
  const lists = [[], [], []];
  for (const e of edges) lists[scene.payload.edge_origin[e]].push(e);
  const { k } = style.transform;
  const thin = k > 0.3 ? 1 : Math.max(0.4, 3 * k);
  lists.forEach((list, at) => {
    const { width, dash, ink } = EDGES[at];
    if (list.length) stroke(list, colour || style.theme[ink], width * thin, dash);
  });
}

/** What lines and outlines mean, as a sentence. */
export function sentence({ added, gone }) {
  return ` ${added} added (broken outline, NEW), ${gone} removed (dotted outline, GONE). Edges: thick ones were added, dotted ones removed.`;
}

/** The same as a strip of the legend. */
export function legend(strip, { theme, overlay }, { added, gone }) {
  strip.swatch(overlay.isChange ? theme.ground : theme.panel, DASH, theme.accent);
  strip.text(`${added} added`, 400, theme.ink);
  strip.x += 4;
  strip.swatch(theme.ground, DOTS, theme.muted);
  strip.text(`${gone} removed`, 400, theme.ink);
  for (const look of EDGES.slice(1)) {
    strip.x += 4;
    strip.line(look);
    strip.text(`edge ${look.name}`);
  }
}

/** What tests ask: nodes by what they are, and how many edges are whose. */
export function state(scene, overlay) {
  if (!isUnion(scene)) return undefined;
  const found = { added: [], removed: [], edges: { both: 0, removed: 0, added: 0 } };
  for (let i = 0; i < scene.count; i++) {
    const lone = loneOf(scene, overlay, i);
    if (lone) found[lone].push(scene.nodeId[i]);
  }
  for (const origin of scene.payload.edge_origin) {
    found.edges[origin === BEFORE ? "removed" : origin === AFTER ? "added" : "both"] += 1;
  }
  return found;
}
