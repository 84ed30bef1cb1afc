/** Choice of the layout of a graph. Python side: gviz.layout.choice. */
import { placeLanes, placeTable } from "./lanes.js";
import { countDummies, placeLayers } from "./layers.js";
/** @import { Cover, Edges } from "./cover.js" */
/** @import { Placement } from "./lanes.js" */

/** Nodes and rows passed by long edges up to which layers are chosen, and drawn where they are requested. */
const LAYERS_MOST = 4_000;
const LAYERS_REQUESTED_MOST = 40_000;

/** Whether a graph can be drawn in layers in bearable time. @param {Edges} graph @param {Cover} cover */
export function layersFit(graph, { row }, most = LAYERS_REQUESTED_MOST) {
  return graph.count <= most && graph.count + countDummies(graph, row) <= most;
}

/**
 * In layers where it is small enough, else in lanes; a table without edges.
 * @param {Edges} graph @param {Cover} cover @param {boolean|null} layers layers or lanes; null: what suits its size
 * @returns {Placement}
 */
export function placeGraph(graph, cover, layers) {
  if (!graph.from.length) return placeTable(graph.count);
  const most = layers === null ? LAYERS_MOST : LAYERS_REQUESTED_MOST;
  return layers !== false && layersFit(graph, cover, most) ? placeLayers(graph, cover) : placeLanes(graph, cover);
}
