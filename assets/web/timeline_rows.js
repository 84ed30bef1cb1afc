/**
 * Where the rows of the timeline stand, top to bottom, before scrolling.
 *
 * @typedef {{kind: "head"|"calls"|"busy"|"lane"|"note", side: string, y: number, h: number,
 *   lane?: number, label?: string}} Row
 */
(function () {
  "use strict";
  const gviz = (window.gviz = window.gviz || {});
  const AXIS = 26;
  const HEAD = 28;
  const CALLS = 13;
  const BUSY = 6;
  const NOTE = 44;
  const BETWEEN = 12;
  const LANE_MOST = 32;
  const LANE_LEAST = 13;
  const WORDS = {
    graph: "No launch of this graph was recorded with node times, so there are no spans to show: launch it inside the profile.",
    stream:
      "No eager run of this work was recorded: run the code once outside the graph inside the profile, and gviz matches it.",
  };

  /**
   * @param {gviz.TimelineScene} scene @param {number} height of the view
   * @returns {{rows: Row[], height: number, laneHeight: number}}
   */
  function arrange(scene, height) {
    const lanes = scene.sides.reduce((sum, s) => sum + s.lanes.length, 0);
    let fixed = AXIS + BETWEEN + 10;
    for (const name of ["graph", "stream"]) {
      const side = scene.side(name);
      fixed += HEAD + (side ? BUSY + 4 + (side.calls.length ? CALLS + 3 : 0) : NOTE);
    }
    const pitch = Math.max(LANE_LEAST, Math.min(LANE_MOST, (height - fixed) / Math.max(1, lanes)));
    const rows = [];
    let y = AXIS;
    for (const name of ["graph", "stream"]) {
      const side = scene.side(name);
      const add = (kind, h, gap, more) => {
        rows.push({ kind, side: name, y, h, ...more });
        y += h + gap;
      };
      add("head", HEAD, 0, {});
      if (!side) add("note", NOTE, BETWEEN, { label: WORDS[name] });
      else {
        if (side.calls.length) add("calls", CALLS, 3, { label: "host calls" });
        side.lanes.forEach((lane, n) => add("lane", pitch - 3, 3, { lane: n, label: lane.label }));
        add("busy", BUSY, BETWEEN + 4, { label: "GPU busy" });
      }
    }
    return { rows, height: y, laneHeight: pitch - 3 };
  }

  gviz.timelineRows = { arrange, AXIS, WORDS };
})();
