/** Payloads of the timeline, made by hand: gviz.app.views.payload makes them of recordings. */

/** @import { Payload } from "../../../assets/web/core/payload.js" */
/** @typedef {[lane: number, start: number, duration: number, node: number]} Bar */

const FACTS = {
  mode: "one", total_ns: 1_000, idle_ns: 0, idle_fraction: 0, queued_ns: 0, zero: "first node", launch_count: 1,
  launches: [], order: "ordinal",
};

/**
 * The arrays and facts of a side.
 * @param {string} name @param {Bar[]} bars in order of start @param {object} [facts] @param {object} [more] arrays
 */
export function side(name, bars, facts = {}, more = {}) {
  const lanes = 1 + Math.max(0, ...bars.map(([lane]) => lane));
  const own = {
    node_id: Uint32Array.from(bars, (bar) => bar[3]), name: new Uint32Array(bars.length), type: new Uint8Array(bars.length),
    start_ns: Float64Array.from(bars, (bar) => bar[1]), duration_ns: Float64Array.from(bars, (bar) => bar[2]),
    lane: Uint32Array.from(bars, (bar) => bar[0]), stream: new Int32Array(bars.length), iteration: new Int32Array(bars.length),
    count: new Uint32Array(bars.length).fill(1), ...more,
  };
  const labels = Array.from({ length: lanes }, (_, n) => `lane ${n}`);
  return {
    header: { [name]: { ...FACTS, count: bars.length, lanes: labels, ...facts } },
    arrays: Object.fromEntries(Object.entries(own).map(([key, array]) => [`${name}_${key}`, array])),
  };
}

/** @param {ReturnType<typeof side>[]} sides @param {object} [header] @returns {Payload} */
export function timelinePayload(sides, header = {}) {
  return {
    header: {
      graph_id: 1, graph_name: "graph", kind: "timeline", strings: ["gemm"], labels: {}, kinds: ["KERNEL"],
      scale: { least_ns: 1, most_ns: 100, log: false },
      ...Object.assign({}, ...sides.map((one) => one.header)), ...header,
    },
    ...Object.assign({}, ...sides.map((one) => one.arrays)),
  };
}
