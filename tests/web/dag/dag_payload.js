/** A payload of the DAG, made by hand: gviz.app.views.payload makes them of recordings. */

/** @import { Payload } from "../../../assets/web/core/payload.js" */

/**
 * Nodes in rows of one, at (0, 100 * n) unless said otherwise, joined by edges.
 * @param {[number, number][]} edges from and to, by place
 * @param {{count?: number, x?: number[], y?: number[], names?: string[], more?: object, header?: object}} [what]
 * @returns {Payload}
 */
export function dagPayload(edges, { count = 5, x = [], y = [], names = [], more = {}, header = {} } = {}) {
  const places = Array.from({ length: count }, (_, n) => n);
  const strings = places.map((n) => names[n] ?? `node ${n}`);
  return {
    header: {
      graph_id: 1, graph_name: "graph", kind: "dag", layout: "structure", strings, labels: {}, kinds: ["KERNEL"],
      node_width: 100, node_height: 40, width: 1_000, height: 100 * count, edges_known: true, overlays: {},
      ...header,
    },
    node_id: Uint32Array.from(places, (n) => 10 + n),
    x: Float32Array.from(places, (n) => x[n] ?? 0),
    y: Float32Array.from(places, (n) => y[n] ?? 100 * n),
    type: new Uint8Array(count),
    name: Uint32Array.from(places),
    median_ns: Float32Array.from(places, (n) => 1_000 * (n + 1)),
    p95_ns: Float32Array.from(places, (n) => 1_100 * (n + 1)),
    body_ns: new Float32Array(count).fill(NaN),
    share: new Float32Array(count).fill(0.1),
    reason: new Int32Array(count).fill(-1),
    edge_from: Uint32Array.from(edges, ([from]) => from),
    edge_to: Uint32Array.from(edges, ([, to]) => to),
    edge_type: new Uint8Array(edges.length),
    route_offset: new Uint32Array(edges.length + 1),
    route_x: new Float32Array(0),
    route_y: new Float32Array(0),
    critical: Uint32Array.of(0),
    critical_edge: new Uint32Array(0),
    ...more,
  };
}

/** A diamond, and a node that nothing waits for: 0 before 1 and 2, both before 3. @type {[number, number][]} */
export const DIAMOND = [[0, 1], [0, 2], [1, 3], [2, 3]];
