/** A picture of the DAG: frames, edges, nodes, selection over a veil, as the zoom allows. */
import * as canvas from "../../core/canvas.js";
import { isAlong } from "../scene/scene.js";
import * as dagBuffers from "./buffers.js";
import * as dagData from "./data_edges.js";
import * as dagEdges from "./edges.js";
import * as dagFrames from "./frames.js";
import { MOST_RINGS, drawNearFrames, kinOf } from "./kin.js";
import * as dagNodes from "./nodes.js";
import { viewOf } from "./plane.js";
import * as dagRegions from "./regions.js";
import * as dagSections from "./sections.js";
import * as dagTime from "./time.js";
import * as dagUnion from "./union.js";
/** @import { Pen, Size } from "../../core/canvas.js" */
/** @import { Box, Items } from "../scene/bodies.js" */
/** @import { DagScene } from "../scene/scene.js" */
/** @import { Marks, Stroke, Style } from "./plane.js" */

/** Below this height (CSS pixels) nodes go to the pixel buffer, where there are pixels. */
const FAR = 1.6;
/** Edges are left out when rows are closer than this on screen. */
const EDGE_ROW = 2.5;
/** Of a selection, so many edges on screen are drawn; more would show nothing. */
const MOST_EDGES = 6000;

/**
 * Whether a node is on screen; an open one is not: its frame is drawn.
 * @param {DagScene} scene @param {Box} view
 */
function testerOf(scene, view) {
  const { halfW, halfH } = scene;
  return (/** @type {number} */ i) =>
    !scene.bodies.isOpen(i) &&
    scene.x[i] + halfW >= view.left &&
    scene.x[i] - halfW <= view.right &&
    scene.y[i] + halfH >= view.top &&
    scene.y[i] - halfH <= view.bottom;
}

/**
 * Nodes on screen, by colour when many are.
 * @param {DagScene} scene @param {Box} view @param {Int32Array} order
 * @returns {Items}
 */
function visibleNodes(scene, view, order) {
  if (scene.isAllIn(view)) return scene.bodies.closed(order);
  const { halfW, halfH } = scene;
  const whole = scene.width * scene.height;
  const seen = (view.right - view.left) * (view.bottom - view.top);
  const inside = testerOf(scene, view);
  /** @type {number[]} */
  const found = [];
  if (seen < whole / 4) {
    /** @param {number} i */
    const take = (/** @type {number} */ i) => inside(i) && found.push(i);
    const { left, top, right, bottom } = view;
    scene.grid.visit(left - halfW, top - halfH, right + halfW, bottom + halfH, take);
  } else {
    for (const i of order) if (inside(i)) found.push(i);
  }
  return found;
}

/** @param {Pen} ctx @param {Style} style @param {Size} size */
function toPlane(ctx, style, size) {
  const { k, x, y } = style.transform;
  const r = size.ratio;
  ctx.setTransform(k * r, 0, 0, k * r, x * r, y * r);
}

/** @param {Pen} ctx @param {Size} size */
function toScreen(ctx, size) {
  ctx.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
}

/**
 * @param {Pen} ctx @param {DagScene} scene @param {Items} nodes @param {Style} style
 * @param {Size} size
 */
function drawNodes(ctx, scene, nodes, style, size) {
  if (2 * scene.halfH * style.transform.k < dagNodes.BLOCK) {
    dagNodes.drawBlocks(ctx, scene, nodes, style);
    return;
  }
  toPlane(ctx, style, size);
  dagNodes.drawCards(ctx, scene, nodes, style);
  toScreen(ctx, size);
  if (!style.faded) dagNodes.drawTexts(ctx, scene, nodes, style);
}

/**
 * @param {Pen} ctx @param {DagScene} scene @param {number[]} edges @param {Style} style
 * @param {Size} size @param {string} colour @param {number} width @param {number[]|null} [dash]
 */
function drawEdges(ctx, scene, edges, style, size, colour, width, dash = null) {
  const { k } = style.transform;
  toPlane(ctx, style, size);
  dagEdges.draw(ctx, scene, edges, { scale: k, colour, width, dash });
  if (k > 0.42) dagEdges.drawHeads(ctx, scene, edges, colour);
  toScreen(ctx, size);
}

/** Whether nodes go to the pixel buffer. @param {Pen} ctx @param {DagScene} scene @param {Items} nodes @param {Style} style */
const areFar = (ctx, scene, nodes, { transform: t }) => 2 * scene.halfH * t.k < FAR && nodes.length > 5000 && !ctx.vector;

/**
 * What a picture of many nodes needs and is kept, in parts.
 * @param {Pen} ctx @param {DagScene} scene @param {Style} style @param {Size} size
 */
export function stages(ctx, scene, style, size) {
  if (isAlong(scene)) return [];
  const nodes = visibleNodes(scene, viewOf(style.transform, size), style.overlay.inOrder);
  const far = areFar(ctx, scene, nodes, style) ? [() => dagNodes.farOf(scene, nodes, style, size)] : [];
  if (dagNodes.areNamed(scene, style) || style.overlay.isChange) return far;
  return [...far, () => dagRegions.categoriesOf(scene, style.overlay), () => dagRegions.knownOf(scene, nodes, style, size)];
}

/**
 * Draw the DAG.
 * @param {Pen} ctx @param {DagScene} scene @param {Style} style @param {Marks} marks
 * @param {Size} size
 * @returns {{level: string, visible: number, labels?: number, regions?: string[]}}
 */
export function draw(ctx, scene, style, marks, size) {
  if (isAlong(scene)) return dagTime.draw(ctx, scene, style, marks, size);
  const { k } = style.transform;
  const view = viewOf(style.transform, size);
  const nodes = visibleNodes(scene, view, style.overlay.inOrder);
  const height = 2 * scene.halfH * k;
  const far = areFar(ctx, scene, nodes, style);
  const veiled = marks.selected.length > 0 || marks.buffers.length > 0;
  let labels = 0;
  if (far) dagNodes.drawAllFar(ctx, scene, nodes, style, size);
  else {
    const faded = veiled ? { ...style, faded: true } : style;
    const seen = 2 * scene.halfH * k >= EDGE_ROW ? dagEdges.visible(scene, view) : [];
    dagSections.drawGrounds(ctx, scene.sections, style);
    for (const { frames, edges } of scene.bodies.layers(scene, seen)) {
      dagFrames.draw(ctx, scene, frames, faded, size);
      if (edges.length) labels += drawAllEdges(ctx, scene, edges, style, size);
    }
    if (marks.edge >= 0) drawEdges(ctx, scene, [marks.edge], style, size, style.theme.accent, 3);
    if (style.overlay.name === "slack") {
      drawEdges(ctx, scene, scene.criticalEdges, style, size, style.theme.accent, 2);
    }
    // Fills fade under a selection, names do not: they are drawn over the veil.
    drawNodes(ctx, scene, nodes, faded, size);
  }
  const regions = dagNodes.areNamed(scene, style) ? [] : dagRegions.drawNames(ctx, scene, nodes, style, size);
  if (veiled) drawSelection(ctx, scene, style, marks, { nodes, far, view }, size);
  if (marks.hovered >= 0 && !marks.selected.includes(marks.hovered)) {
    drawRings(ctx, scene, [marks.hovered], style, size, { colour: style.theme.ink, width: 1.5 });
  }
  if (!far) dagSections.drawHeads(ctx, scene, style, size);
  const level = far ? "far" : height < dagNodes.BLOCK ? "blocks" : "cards";
  return { level, visible: nodes.length, labels, regions };
}

/**
 * Edges alike, or by what they carry; returns how many are labelled.
 * @param {Pen} ctx @param {DagScene} scene @param {number[]} edges @param {Style} style
 * @param {Size} size
 */
function drawAllEdges(ctx, scene, edges, style, size) {
  const { k } = style.transform;
  /** @type {Stroke} */
  const stroke = (list, ...look) => drawEdges(ctx, scene, list, style, size, ...look);
  if (dagUnion.isUnion(scene)) {
    dagUnion.drawEdges(scene, edges, style, stroke);
    return 0;
  }
  if (!scene.uses) {
    stroke(edges, style.theme.edge, k > 0.3 ? 1.25 : Math.max(0.5, 4 * k));
    return 0;
  }
  dagData.draw(scene, edges, style, stroke);
  return dagData.drawLabels(ctx, scene, edges, style);
}

/**
 * A ring around items: nodes, and frames of open ones.
 * @param {Pen} ctx @param {DagScene} scene @param {number[]} items @param {Style} style
 * @param {Size} size @param {{colour: string, width: number, halo?: string|null}} given
 */
function drawRings(ctx, scene, items, style, size, { colour, width, halo = null }) {
  toPlane(ctx, style, size);
  const ring = { scale: style.transform.k, colour, width, halo };
  dagNodes.drawRings(ctx, scene, scene.bodies.closed(items), ring);
  toScreen(ctx, size);
  dagFrames.drawRings(ctx, scene, scene.bodies.opened(items), style, colour, width);
}

/**
 * Fade everything, then draw the selection with what it waits for and what waits for it.
 * @param {Pen} ctx @param {DagScene} scene @param {Style} style @param {Marks} marks
 * @param {{nodes: Items, far: boolean, view: Box}} seen nodes on screen, and how @param {Size} size
 */
function drawSelection(ctx, scene, style, marks, { nodes, far, view }, size) {
  const { k } = style.transform;
  const kin = kinOf(scene, marks.selected);
  const users = new Set(marks.users);
  /** @param {number} i */
  const near = (i) => kin.shown[i] || users.has(i);
  canvas.fade(ctx, size);
  const onScreen = testerOf(scene, view);
  const others = Array.from(users).filter((i) => !kin.shown[i]);
  const shown = [...kin.list.shown, ...others].filter(onScreen);
  if (!far) {
    const away = Array.from(nodes).filter((i) => !near(i));
    dagNodes.drawTexts(ctx, scene, away, { ...style, faded: true });
  }
  const width = k > 0.3 ? 2 : 1.3;
  /** @type {Stroke} */
  const stroke = (list, ...look) => drawEdges(ctx, scene, list, style, size, ...look);
  drawNearFrames(ctx, scene, near, style, size);
  /** @param {number[]} edges */
  const visible = (edges) => dagEdges.visible(scene, view, edges);
  stroke(visible(kin.list.within), style.theme.edge, width / 2);
  /** @type {number[]} */
  const drawn = [];
  /** @type {[number[], string][]} */
  const ways = [[kin.list.up, style.theme.upstream], [kin.list.down, style.theme.downstream]];
  for (const [edges, colour] of ways) {
    const chosen = visible(edges);
    if (chosen.length > MOST_EDGES) continue;
    if (scene.uses) dagData.draw(scene, chosen, style, stroke, colour);
    else if (dagUnion.isUnion(scene)) dagUnion.drawEdges(scene, chosen, style, stroke, colour);
    else stroke(chosen, colour, width);
    for (const e of chosen) drawn.push(e);
  }
  if (far && shown.length > MOST_RINGS) dagNodes.drawFar(ctx, scene, shown, style, size);
  else drawNodes(ctx, scene, shown, style, size);
  const frames = scene.bodies.frames.map((frame) => frame.item);
  const ringed = [...marks.selected.filter(onScreen), ...frames.filter((i) => kin.selected[i])];
  const { accent, halo } = style.theme;
  // Of more, their colour among the faded ones says it; rings would run into each other.
  const rings = ringed.length > MOST_RINGS ? [] : ringed;
  drawRings(ctx, scene, rings, style, size, { colour: accent, width: 2.5, halo });
  if (scene.uses) dagData.drawLabels(ctx, scene, drawn, style);
  dagBuffers.draw(ctx, scene, marks, style, size);
}

