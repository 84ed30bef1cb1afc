import assert from "node:assert/strict";
import { test } from "node:test";
import { copied } from "../../../assets/web/inspector/copied.js";
import { nodeParts } from "../../../assets/web/inspector/node.js";
import { operationFacts } from "../../../assets/web/inspector/node_facts.js";
import { recordOf } from "../../../assets/web/inspector/records.js";
import { bars, timeFacts } from "../../../assets/web/inspector/times.js";
import { valueOf } from "../../../assets/web/table/coded.js";
import { Nodes } from "../../../assets/web/table/nodes.js";
import { all, standIn } from "../dom.js";

standIn();
/** Two nodes: a kernel and a copy. As gviz.app.inspector.node_records has them. */
const RECORDS = {
  run: "a run", timed_count: 4, inflation: "Node times make launches slower",
  levels: [{
    graph: "step", place: null, at: 0, drawn: true, edges_unknown: null, edges_note: null, memory_unknown: false, count: 2, key: [7, 9],
    node: {
      graph_id: { same: 1 }, node_id: { values: [7, 9] }, type: { values: [0, 1] }, name: { values: ["gemm<float>", "MEMCPY HtoD"] },
      function_id: { values: [3, null] }, grid_x: { values: [80, null] }, grid_y: { values: [2, null] }, block_x: { values: [256, null] },
      shared_mem_bytes: { values: [0, null] }, occupancy_fraction: { values: [0.5, null] }, bytes: { values: [null, 1048576] },
      source_address: { large: true, values: [null, "9223372036854775809"] }, created_ns: { large: true, values: ["1790000000000000001", null] },
      stack_id: { values: [5, null] }, stack_reason: { values: [null, "captured in C"] }, match_class: { values: [null, 2] },
    },
    kind: { values: ["KERNEL", "MEMCPY"] }, label: { values: ["GEMM f32", "MEMCPY HtoD"] }, direction: { values: [null, "host to device"] },
    functions: { 3: { function_id: 3, name: "gemm<float>(float*)", registers: 64 } },
    statistics: { count: { values: [4, 8] }, total_ns: { values: [8000, 800] }, median_ns: { values: [2000, 100] }, p5_ns: { values: [1900, 90] },
      p95_ns: { values: [2100, 110] }, min_ns: { values: [1900, 90] }, max_ns: { values: [2100, 110] }, mad_ns: { values: [50, 2] } },
    share: { values: [0.25, null] }, untimed: { same: null }, nvtx: { values: ["forward", null] }, nvtx_from: { values: ["capture", null] }, module: { values: ["Encoder › Layer 3", null] },
    spread: { counts: [[1, 0, 3], null], shortest: [1900, null], longest: [2200, null], median: [2000, null], interval: [[1950, 2050], null] },
    arguments: { position: { values: [0, 1] }, size_bytes: { values: [4, 4] }, value: { values: ["01000000", "02000000"] } },
    argument_words: { text: { values: ["int n = 1", "4 B"] }, number: { values: ["1", null] }, known_by: { values: ["Triton", null] } },
    argument_count: { values: [2, 0] }, parameters: {}, values: {}, forward: { same: null }, forward_exact: { same: false }, operations: [],
    stacks: { 5: { frames: [{ file: "m.py", line: 3, function: "f", source: " y = x @ w" }], own: 0, line: "f:3" } },
    eager: { 0: [3, 2500] }, called: { 0: "step › linear" }, bodies: {}, released: {},
    dependencies: { count: { values: [0, 20] }, keys: [[], [7]] }, dependents: { count: { values: [1, 0] }, keys: [[9], []] },
  }],
};
const NODES = new Nodes({ key: [7, 9], name: ["gemm<float>", "MEMCPY HtoD"], label: ["GEMM f32", "MEMCPY HtoD"], kind: ["KERNEL", "MEMCPY"], median_ns: [2000, null], parent: [null, null] });

/** @param {any[][]} facts */
const words = (facts) => facts.map(([label, value]) => `${label}: ${value}`);

test("a column has one value, values that are pointed to, or a value each", () => {
  assert.deepEqual([0, 1].map((at) => valueOf({ values: ["a", null], codes: [1, 0] }, at)), [null, "a"]);
  assert.equal(valueOf({ same: 3 }, 8), 3);
  assert.equal(valueOf({ large: true, same: "9007199254740993" }, 0), 9007199254740993n);
  assert.equal(valueOf(undefined, 0), null);
});

test("facts of a kernel and of a copy", () => {
  const [kernel, copy] = [0, 1].map((at) => recordOf(RECORDS, at));
  assert.deepEqual(words(operationFacts(kernel)), ["Grid: 80 × 2", "Block: 256", "Threads: 40,960", "Dynamic shared: 0 B", "Registers: 64 a thread", "Occupancy: 50.0%"]);
  assert.deepEqual(words(operationFacts(copy)), ["Direction: host to device", "Size: 1.00 MiB", "From: 0x8000000000000001"]);
  assert.deepEqual(kernel.arguments.map((argument) => argument.value), ["01000000", "02000000"]);
});

test("times say how often a node runs in a launch, and what it takes eagerly", () => {
  const [kernel, copy] = [0, 1].map((at) => words(timeFacts(recordOf(RECORDS, at))));
  assert.deepEqual(kernel.slice(-3), ["Share of time: 25.0%", "Eager: 2.50 µs", "Graph vs eager: −20.0%"]);
  assert.ok(copy.includes("A launch: 200 ns in 2 iterations"));
  assert.ok(!kernel.some((text) => text.startsWith("A launch")));
  assert.ok(kernel.includes("95% interval: 1.95 µs – 2.05 µs"));
  assert.ok(!copy.some((text) => text.startsWith("95% interval")));
  // Of spans that are kept in part the interval is not that of the median.
  const record = recordOf(RECORDS, 0);
  const kept = { ...record, statistics: { ...record.statistics, streamed_count: 3 } };
  assert.ok(!words(timeFacts(kept)).some((text) => text.startsWith("95% interval")));
});

test("a histogram says each bar's ends, also of nodes that always take as long", () => {
  const found = bars({ shortest: 1000, longest: 4000, median: 2000, counts: [1, 0, 2] }, "k");
  assert.deepEqual(found.bars.map(({ title }) => title), ["1.00 µs – 2.00 µs: 1 span", "2.00 µs – 3.00 µs: 0 spans", "3.00 µs – 4.00 µs: 2 spans"]);
  assert.equal(found.label, "Histogram of k: 3 spans, median 2.00 µs, at most 2 in a bar");
  assert.deepEqual(bars({ shortest: 7, longest: 7, median: 7, counts: [0, 5] }, "k").ends, ["7 ns", "8 ns"]);
});

test("what is said of a node, from its name to its neighbours", () => {
  const text = nodeParts(recordOf(RECORDS, 0), NODES, []).textContent ?? "";
  for (const part of ["KERNELnode 7", "GEMM f32", "gemm<float>(float*)", "f:3", "y = x @ w", "Node times make launches slower",
    "forward (by time: open on the capturing thread", "step › linear", "Encoder › Layer 3", "Parameters (2)", "gemm<float>(int n = 1, 4 B)", "2 guess", "Bytes", "Nothing: a root node.", "Dependents (1)"]) {
    assert.ok(text.includes(part), part);
  }
});

test("what memory a node is given is shown once it is known, or why it is not", async () => {
  const [given, refused] = [Promise.resolve([]), Promise.reject(new Error("gviz does not answer"))];
  const shown = [given, refused].map((memory) => nodeParts(recordOf(RECORDS, 0), NODES, memory));
  for (const parts of shown) assert.ok(parts.textContent?.includes("Being looked up…"));
  await Promise.allSettled([given, refused]);
  assert.ok(!shown[0].textContent?.includes("Memory"));
  assert.ok(shown[1].textContent?.includes("Memorygviz does not answer"));
});

test("a node without a stack says why, one with many neighbours how many more", () => {
  const parts = nodeParts(recordOf(RECORDS, 1), NODES, []), text = parts.textContent ?? "";
  for (const part of ["No Python stack: captured in C.", "Exchangeable (class 2)", "Depends on (20)", "and 19 more"]) assert.ok(text.includes(part), part);
  const [button] = all(parts).filter((element) => element.attributes["data-node"]);
  assert.equal(button.textContent, "GEMM f322.00 µs");
});

test("all that is recorded is taken away as JSON, numbers to the last digit", () => {
  const text = copied(recordOf(RECORDS, 0));
  assert.ok(text.includes('"created_ns": 1790000000000000001'));
  const found = JSON.parse(text);
  assert.deepEqual([found.node.name, found.node.kind, found.nvtx, found.statistics.median_ns], ["gemm<float>", "KERNEL", "forward", 2000]);
  assert.deepEqual([found.arguments.length, found.stack[0].line, found.kernel_function.registers], [2, 3, 64]);
  assert.equal(found.signature, "gemm<float>(int n = 1, 4 B)");
  assert.ok(!("parameters" in found) && !("bytes" in found.node));
});
