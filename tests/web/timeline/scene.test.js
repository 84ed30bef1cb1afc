import assert from "node:assert/strict";
import { test } from "node:test";

import { headFacts } from "../../../assets/web/timeline/head.js";
import { TimelineScene } from "../../../assets/web/timeline/scene.js";
import { firstAfter, firstFrom, launchOf } from "../../../assets/web/timeline/search.js";
import { side, timelinePayload } from "./timeline_payload.js";

const BARS = /** @type {import("./timeline_payload.js").Bar[]} */ ([[0, 0, 100, 7], [1, 50, 20, 8], [0, 200, 50, 7], [1, 300, 10, 0xffffffff]]);

test("a side has its lanes, and its spans by node", () => {
  const scene = new TimelineScene(timelinePayload([side("graph", BARS)]));
  const graph = scene.present("graph");
  assert.deepEqual(graph.lanes.map(({ items }) => Array.from(items)), [[0, 2], [1, 3]]);
  assert.deepEqual(graph.itemsOf(7), [0, 2]);
  // What matches no node of the graph is of none.
  assert.deepEqual(graph.itemsOf(0xffffffff), []);
  assert.equal(scene.side("stream"), undefined);
  assert.deepEqual(scene.names, ["graph", "stream"]);
});

test("spans of a node in a body belong to the nodes around it too", () => {
  const payload = timelinePayload([side("graph", BARS)]);
  Object.assign(payload, { nested_node: Uint32Array.of(8, 5), nested_parent: Uint32Array.of(5, 4) });
  const graph = new TimelineScene(payload).present("graph");
  assert.deepEqual([8, 5, 4].map((id) => graph.itemsOf(id)), [[1], [1], [1]]);
  assert.deepEqual(Array.from(graph.byNode.keys()).sort(), [4, 5, 7, 8]);
  assert.ok(!graph.byNode.has(6));
});

test("spans of a node that holds others are in order, its own among theirs", () => {
  const payload = timelinePayload([side("graph", BARS)]);
  Object.assign(payload, { nested_node: Uint32Array.of(8), nested_parent: Uint32Array.of(7) });
  const graph = new TimelineScene(payload).present("graph");
  assert.deepEqual(graph.itemsOf(7), [0, 1, 2]);
  assert.deepEqual(graph.itemsOf(8), [1]);
});

test("eager work that is closed is not sorted by lanes, calls and nodes", () => {
  const scene = new TimelineScene(timelinePayload([side("graph", BARS), side("stream", BARS)]));
  scene.showEager(false);
  const { eager } = scene;
  assert.ok(eager && !eager.madeLanes && !eager.madeStep && !eager.madeCalls && !eager.madeByNode);
  scene.showEager(true);
  assert.deepEqual(scene.present("stream").lanes.map(({ items }) => Array.from(items)), [[0, 2], [1, 3]]);
});

test("the gap at a time", () => {
  const gaps = { gap_start_ns: Float64Array.of(100, 250), gap_end_ns: Float64Array.of(200, 300) };
  const graph = new TimelineScene(timelinePayload([side("graph", BARS, {}, gaps)])).present("graph");
  assert.deepEqual(graph.gapAt(150), [100, 200]);
  assert.deepEqual(graph.gapAt(250), [250, 300]);
  assert.equal(graph.gapAt(50), null);
  assert.equal(graph.gapAt(1_000), null);
});

test("host calls are in order, those of the driver among those of operations", () => {
  const calls = {
    host_start_ns: Float64Array.of(10, 30, NaN, 5), host_duration_ns: Float64Array.of(1, 1, NaN, 1),
    call_start_ns: Float64Array.of(20), call_end_ns: Float64Array.of(28), call_name: Uint32Array.of(0),
  };
  const stream = new TimelineScene(timelinePayload([side("stream", BARS, {}, calls)])).present("stream");
  assert.deepEqual(stream.calls.map(({ start, item }) => [start, item]), [[5, 3], [10, 0], [20, -1], [30, 1]]);
});

test("the same launches of a recording that has grown are the same picture", () => {
  const one = (/** @type {object} */ facts) => new TimelineScene(timelinePayload([side("graph", BARS, facts)]));
  assert.ok(one({ ordinal: 3 }).shows(one({ ordinal: 3, count: 99 })));
  assert.ok(!one({ ordinal: 3 }).shows(one({ ordinal: 4 })));
  assert.ok(!one({ mode: "median" }).shows(one({ mode: "one" })));
});

test("the first that reaches is found, whatever the place", () => {
  for (let count = 0; count < 20; count++) {
    for (let first = 0; first <= count; first++) assert.equal(firstFrom(count, (at) => at >= first), first);
  }
});

test("the first span that ends after a time", () => {
  const graph = new TimelineScene(timelinePayload([side("graph", BARS)])).present("graph");
  const { items } = graph.lanes[0];
  assert.deepEqual([0, 100, 101, 250, 251].map((ns) => firstAfter(graph, items, ns)), [0, 0, 1, 1, 2]);
});

test("a lane of a stack is of one launch", () => {
  const launches = [{ ordinal: 4 }, { ordinal: 9 }];
  const stack = new TimelineScene(timelinePayload([side("graph", BARS, { mode: "all", depth: 2, launches })])).present("graph");
  assert.deepEqual([0, 1, 2, 3].map((lane) => launchOf(stack, lane)?.ordinal), [4, 4, 9, 9]);
  const alone = new TimelineScene(timelinePayload([side("graph", BARS)])).present("graph");
  assert.equal(launchOf(alone, 0), null);
});

test("eager work that is opened has a scale of its own, on which it is as wide as the launch", () => {
  const scene = new TimelineScene(timelinePayload([side("graph", BARS), side("stream", BARS, { total_ns: 4_000 })]));
  scene.showEager(true);
  assert.equal(scene.total, 1_000);
  assert.deepEqual(["graph", "stream"].map((name) => scene.scaleOf(name)), [1, 0.25]);
  const t = { k: 0.5, x: -20 };
  assert.deepEqual(scene.transformOf("stream", t), { k: 0.125, x: -20 });
  assert.deepEqual(scene.transformOf("graph", t), t);
  scene.showEager(false);
  assert.equal(scene.isApart("stream"), false);
});

test("eager work alone, and launches that are compared, share the axis", () => {
  const alone = new TimelineScene(timelinePayload([side("stream", BARS, { total_ns: 4_000 })]));
  alone.showEager(true);
  assert.deepEqual([alone.total, alone.scaleOf("stream")], [4_000, 1]);
  const two = timelinePayload([side("graph", BARS), side("stream", BARS, { total_ns: 4_000 })],
    { sides: { graph: { title: "A", missing: "", letter: "A" }, stream: { title: "B", missing: "", letter: "B", against: "A" } } });
  const compared = new TimelineScene(two);
  compared.showEager(true);
  assert.deepEqual([compared.total, compared.scaleOf("stream")], [4_000, 1]);
});

test("the head of eager work says no multiple: that is the verdict's", () => {
  const scene = new TimelineScene(timelinePayload([side("graph", BARS), side("stream", BARS, { total_ns: 4_000 })]));
  scene.showEager(true);
  const words = headFacts(scene, scene.present("stream")).join(" ");
  assert.match(words, /4\.00 µs/);
  assert.doesNotMatch(words, /×/);
});

test("the head of an event copy says that gaps are its own, and no idle time", () => {
  const copy = { total_ns: 4_000, idle_ns: undefined, idle_fraction: undefined };
  const scene = new TimelineScene(timelinePayload([side("graph", BARS, copy)]));
  const words = headFacts(scene, scene.present("graph")).join(" ");
  assert.match(words, /^event copy: gaps are its own /);
  assert.doesNotMatch(words, /idle/);
});

test("the head of a copy that times a slice of the nodes says how many", () => {
  /** @param {object} facts */
  const wordsOf = (facts) => {
    const copy = { idle_ns: undefined, idle_fraction: undefined, timed_count: 2_307, ...facts };
    const scene = new TimelineScene(timelinePayload([side("graph", BARS, copy)]));
    return headFacts(scene, scene.present("graph"))[0];
  };
  assert.equal(wordsOf({ count: 1_153 }), "event copy: 1,153 of 2,307 nodes");
  assert.equal(wordsOf({ mode: "median", count: 2_307, launch_count: 10 }), "10 event copies, part by part");
});
