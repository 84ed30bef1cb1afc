import assert from "node:assert/strict";
import { test } from "node:test";

import { AXIS } from "../../../assets/web/core/axis.js";
import { eagerWords } from "../../../assets/web/timeline/head.js";
import { arrange, byLane } from "../../../assets/web/timeline/rows.js";
import { TimelineScene } from "../../../assets/web/timeline/scene.js";
import { side, timelinePayload } from "./timeline_payload.js";

/** @param {number} lanes */
const bars = (lanes) => Array.from({ length: lanes }, (_, n) => /** @type {import("./timeline_payload.js").Bar} */ ([n, n, 1, n]));

/** @param {import("../../../assets/web/timeline/rows.js").Row[]} rows */
function checkOrder(rows) {
  rows.forEach((row, n) => {
    const before = rows[n - 1];
    if (before) assert.ok(row.y >= before.y + before.h - 1e-9, `${row.kind} ${n}`);
  });
}

test("both sides fit when they can, and none of their rows lies on another", () => {
  const scene = new TimelineScene(timelinePayload([side("graph", bars(3)), side("stream", bars(2))]));
  for (const height of [200, 300, 400, 900]) {
    const { rows, height: bottom } = arrange(scene, height);
    assert.equal(rows[0].y, AXIS);
    checkOrder(rows);
    if (height >= 300) assert.ok(bottom <= height, `${height}: ${bottom}`);
    assert.deepEqual(rows.filter((row) => row.kind === "lane").map((row) => [row.side, row.lane]),
      [["graph", 0], ["graph", 1], ["graph", 2], ["stream", 0], ["stream", 1]]);
  }
});

test("lanes grow with the view, up to a part of a screen", () => {
  const scene = new TimelineScene(timelinePayload([side("graph", bars(2)), side("stream", bars(2))]));
  const heights = [150, 220, 3_000].map((height) => arrange(scene, height).rows.find((row) => row.kind === "lane")?.h ?? 0);
  assert.equal(heights[0], 13 - 3);
  assert.ok(heights[0] < heights[1] && heights[1] < heights[2]);
  assert.equal(heights[2], 400 - 3);
});

test("eager work under a launch is a line until it is opened, and the launch has the room", () => {
  const scene = new TimelineScene(timelinePayload([side("graph", bars(2)), side("stream", bars(2), { total_ns: 3_000 })]));
  assert.deepEqual(arrange(scene, 400).rows.filter((row) => row.kind === "axis").map((row) => row.side), ["stream"]);
  scene.showEager(false);
  assert.equal(scene.total, 1_000);
  assert.match(eagerWords(scene), /^Eager, the same work: 3\.00 µs in this iteration, GPU idle 0/);
  const { rows, height } = arrange(scene, 400, ["phase", "layer"]);
  checkOrder(rows);
  assert.equal(height, 400);
  assert.deepEqual(rows.map((row) => row.kind), ["head", "track", "track", "lane", "lane", "busy", "eager"]);
  scene.showEager(true);
  assert.equal(scene.sides.length, 2);
  assert.ok(!arrange(scene, 400).rows.some((row) => row.kind === "eager"));
});

test("eager work alone is not closed", () => {
  const scene = new TimelineScene(timelinePayload([side("stream", bars(2))]));
  scene.showEager(false);
  assert.deepEqual([scene.sides.length, scene.canCloseEager], [1, false]);
});

test("rows fill the pane of a screen, whatever there is none of", () => {
  /** @type {[string[], object][]} */
  const cases = [[["layer"], {}], [[], { idle_ns: undefined }], [["phase", "layer", "module"], { idle_ns: undefined }]];
  for (const [tracks, facts] of cases) {
    for (const sides of [[side("graph", bars(1), facts)], [side("graph", bars(1), facts), side("stream", bars(2), { total_ns: 3_000 })]]) {
      const scene = new TimelineScene(timelinePayload(sides));
      scene.showEager(false);
      for (const height of [300, 440]) assert.ok(Math.abs(arrange(scene, height, tracks).height - height) < 1e-6);
    }
  }
});

test("a side that is missing is said in its place", () => {
  const { rows } = arrange(new TimelineScene(timelinePayload([side("graph", bars(1))])), 300);
  const note = rows.find((row) => row.kind === "note");
  assert.equal(note?.side, "stream");
  assert.match(note?.label ?? "", /No eager run of this work was recorded/);
});

test("lanes of one launch of a stack stand closer than launches", () => {
  const launches = [{ ordinal: 0 }, { ordinal: 1 }, { ordinal: 2 }];
  const stack = side("graph", bars(6), { mode: "all", depth: 2, launches });
  const { rows } = arrange(new TimelineScene(timelinePayload([stack])), 400);
  const found = byLane(rows).graph;
  checkOrder(found);
  assert.equal(found.length, 6);
  const within = found[1].y - found[0].y;
  assert.ok(found[2].y - found[1].y > within);
  assert.equal(found[2].y - found[0].y, found[4].y - found[2].y);
});
