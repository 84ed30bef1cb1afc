/** Places of the items of the DAG, as arrays: by structure, in lanes, or along time. Python side: gviz.app.views.dag.dag_places. */
import { layersFit, placeGraph } from "./choice.js";
import { nestLevels } from "./nested.js";
import { stackLevels } from "./nested_time.js";
import { NODE_HEIGHT } from "./sizes.js";
import { placeTime } from "./timed.js";
/** @import { Cover, Edges } from "./cover.js" */
/** @import { Placement } from "./lanes.js" */
/** @import { Box, Parent } from "./nested.js" */
/** @import { Routes } from "./routes.js" */
/** @import { Bars, Ran, TimePlacement } from "./timed.js" */

/**
 * @typedef {{graph: Edges, cover: Cover, ran: Ran|null, parent: Parent}} Shape  items of a level as a layout needs them
 * @typedef {{untimed: string, large: string}} Notes  why a layout is not the one that is requested
 * @typedef {{header: Record<string, any>, arrays: Record<string, any>}} Places  as gviz.app.views.dag.place_arrays
 */

/** @param {Shape[]} shapes @param {string|null} layout @param {Notes} notes @returns {Places} */
export function placeItems(shapes, layout, notes) {
  if (layout !== "time") return inPlane(shapes, layout, null, notes);
  if (shapes[0].ran?.start.some(Number.isFinite)) return alongTime(shapes);
  return inPlane(shapes, null, notes.untimed, notes);
}

/** @param {Shape[]} shapes @param {string|null} layout @param {string|null} note @param {Notes} notes @returns {Places} */
function inPlane(shapes, layout, note, notes) {
  const layers = layout === "structure" ? true : layout === "lanes" ? false : null;
  /** Equal bodies stand in the same way. @type {Map<string, Placement>} */ const known = new Map();
  const levels = shapes.map(({ graph, cover, parent }) => {
    if (layers && !layersFit(graph, cover)) note = notes.large;
    const key = shapes.length > 1 ? `${graph.count} ${graph.from} ${graph.to} ${cover.breaks ?? []}` : "";
    const place = known.get(key) ?? placeGraph(graph, cover, layers);
    known.set(key, place);
    return { place, graph, parent };
  });
  const placed = nestLevels(levels), first = placed[0].place;
  const places = placed.map((level) => level.place);
  const header = {
    layout: first.style, layout_note: note, width: first.width, height: first.height,
    node_width: Math.max(...places.map((p) => p.node_width)), node_height: first.node_height,
  };
  /** @type {Record<string, any>} */
  const arrays = { x: floats(places.map((p) => p.x)), y: floats(places.map((p) => p.y)), ...joinedRoutes(places) };
  if (shapes.length > 1) {
    arrays.half_width = floats(placed.map((level) => level.half_width));
    arrays.half_height = floats(placed.map((level) => level.half_height));
    Object.assign(arrays, boxArrays(placed.slice(1).map((level) => level.box)));
  }
  return { header, arrays };
}

/** Several arrays one after the other, as f4. @param {ArrayLike<number>[]} parts */
function floats(parts) {
  const found = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    found.set(part, at);
    at += part.length;
  }
  return found;
}

/** Offsets of arrays that stand one after the other. @param {Uint32Array[]} parts each with the end behind its last one */
function cuts(parts) {
  const found = new Uint32Array(parts.reduce((sum, part) => sum + part.length - 1, 1));
  let at = 0, base = 0;
  for (const part of parts) {
    for (let k = 0; k < part.length - 1; k++) found[at++] = base + part[k];
    base += part[part.length - 1];
  }
  found[at] = base;
  return found;
}

/** @param {Routes[]} places */
function joinedRoutes(places) {
  return {
    route_offset: cuts(places.map((p) => p.route_offset)),
    route_x: floats(places.map((p) => p.route_x)), route_y: floats(places.map((p) => p.route_y)),
  };
}

/** @param {Box[]} boxes */
function boxArrays(boxes) {
  return {
    body_left: Float32Array.from(boxes, (b) => b.left), body_top: Float32Array.from(boxes, (b) => b.top),
    body_right: Float32Array.from(boxes, (b) => b.right), body_bottom: Float32Array.from(boxes, (b) => b.bottom),
  };
}

/** @param {Shape[]} shapes @returns {Places} */
function alongTime(shapes) {
  /** @type {TimePlacement[]} */ const places = [];
  for (const { graph, cover, ran, parent } of shapes) {
    const floor = parent ? places[parent[0]].start[parent[1]] : 0;
    places.push(placeTime(graph, cover, /** @type {Ran} */ (ran), floor));
  }
  const stacked = stackLevels(places.map((place, at) => ({ place, parent: shapes[at].parent })));
  let width = 1;
  for (const { end } of places) for (const at of end) width = Math.max(width, at);
  const header = { layout: "time", layout_note: null, width, height: stacked[0].bottom, node_width: 1, node_height: NODE_HEIGHT };
  /** @type {Record<string, any>} */
  const arrays = {
    x: floats(places.map((p) => middles(p.start, p.end))), y: floats(stacked.map((s) => s.y)),
    half_width: floats(places.map((p) => halves(p.start, p.end))),
    route_offset: new Uint32Array(shapes.reduce((sum, s) => sum + s.graph.from.length, 1)),
    route_x: new Float32Array(0), route_y: new Float32Array(0),
  };
  if (places.some((p) => p.bars.node.length > p.start.length)) {
    arrays.bar_offset = cuts(places.map((p) => Uint32Array.from([...p.first, p.bars.node.length])));
    arrays.bar_x = floats(places.map(({ bars }) => middles(bars.start, bars.end)));
    arrays.bar_y = floats(stacked.map((s) => s.bar_y));
    arrays.bar_half_width = floats(places.map(({ bars }) => halves(bars.start, bars.end)));
  }
  if (shapes.length > 1) {
    const half = floats(stacked.map((s) => s.half_height));
    arrays.half_height = half.map((value) => (Number.isNaN(value) ? NODE_HEIGHT / 2 : value));
    const boxes = shapes.slice(1).map(({ parent }, k) => {
      const [level, item] = parent ?? [0, 0], { top, bottom } = stacked[k + 1];
      return { left: places[level].start[item], top, right: places[level].end[item], bottom };
    });
    Object.assign(arrays, boxArrays(boxes));
  }
  return { header, arrays };
}

/** @param {Float64Array} start @param {Float64Array} end */
const middles = (start, end) => start.map((at, k) => (at + end[k]) / 2);
/** @param {Float64Array} start @param {Float64Array} end */
const halves = (start, end) => start.map((at, k) => (end[k] - at) / 2);
