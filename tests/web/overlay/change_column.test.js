import assert from "node:assert/strict";
import { test } from "node:test";

import { theme } from "../../../assets/web/core/canvas.js";
import * as colour from "../../../assets/web/core/colour.js";
import { lay } from "../../../assets/web/dag/overlay/laid.js";
import { changesOf } from "../../../assets/web/overlay/change_column.js";
import { readOverlay } from "../../../assets/web/overlay/reading.js";
import { Targets } from "../../../assets/web/overlay/read/targets.js";
import { aboutSide } from "../../../assets/web/stores/compared_side.js";
import { Nodes } from "../../../assets/web/table/nodes.js";
/** @import { Side } from "../../../assets/web/overlay/overlays.js" */

// Nodes 11 and 12 before are 1 and 3 after; 13 before is gone, 2 after is new. On the page of both 13 is number 4.
const BOTH = new Nodes({ key: [1, 3, 2, 4], key_a: [11, 12, null, 13], node_b: [1, 3, 2, null] });
const own = (/** @type {number[]} */ keys, /** @type {string[]} */ names) => new Nodes({
  key: keys, node: keys, name: names, label: names, kernel: names, nvtx: keys.map(() => null),
});
const SIDES = { A: own([11, 12, 13], ["gemm", "add", "copy"]), B: own([1, 2, 3], ["gemm", "fused", "add"]) };

/** A breakdown of one row with one layer of some nodes. @param {number[]} nodes */
const layersOf = (nodes) => /** @type {any} */ ({
  header: { whole: ["layer"], strings: ["layer 7"] }, whole_node: Uint32Array.from(nodes), whole_row: Uint8Array.of(0),
  whole_first: Uint32Array.of(0), whole_end: Uint32Array.of(nodes.length), whole_label: Uint32Array.of(0), whole_parent: Uint32Array.of(0),
  whole_executions: Uint32Array.of(1), whole_total_ns: Float64Array.of(1), whole_cover_ns: Float64Array.of(1), whole_width_ns: Float64Array.of(1),
  whole_slot: Uint8Array.of(255),
});

/** @param {"A"|"B"} side @param {string} text */
async function lie(side, text) {
  const about = aboutSide(side, BOTH, SIDES[side], layersOf(side === "A" ? [11, 13] : [2]));
  const source = { name: `${side}.csv`, open: async () => new Blob([text]).stream() };
  return readOverlay({ source, side, title: `${source.name} on ${side}` }, new Targets(about.nodes, about.groups));
}

test("rows are about the nodes of their side, by the numbers of the page of both", async () => {
  const before = await lie("A", "node,x\n11,5\n13,7\n1,9\n");
  assert.deepEqual([1, 2, 3, 4].map((id) => before.columns[0].of(id)), [5, null, null, 7]);
  assert.deepEqual([before.columns[0].label, before.matchedCount], ["x A", 2]);
  const after = await lie("B", "kernel,x\nfused,4\nadd,2\n");
  assert.deepEqual([1, 2, 3, 4].map((id) => after.columns[0].of(id)), [null, 4, 2, null]);
  const layers = await lie("A", "layer,x\n7,6\n");
  assert.deepEqual([1, 2, 3, 4].map((id) => layers.columns[0].of(id)), [6, null, null, 6]);
});

test("columns of one name and unit on both sides have a change, of what has a value in both", async () => {
  const list = [await lie("A", "kernel,mJ_x [mJ],s,rate\ngemm,5,1,50\nadd,2,1,20\ncopy,9,1,1\n"), await lie("B", "kernel,mJ_x [mJ],s [MB],rate\ngemm,3,1,60\nadd,2,1,10\nfused,8,1,1\n")];
  const [energy, rate, ...others] = changesOf(list);
  assert.deepEqual([others, energy.label, energy.id, rate.isSummed], [[], "mJ_x, B − A", "overlay:change:mJ_x", false]);
  assert.deepEqual([1, 2, 3, 4].map((id) => energy.of(id)), [-2, null, 0, null]);
  assert.deepEqual([energy.over([1, 2, 3, 4]), energy.over([2, 4]), rate.over([1, 3])], [-2, null, 0]);
  assert.deepEqual([-2, 0, 1.5].map(energy.write), ["−2 mJ", "0 mJ", "+1.50 mJ"]);
  // A table that lies on both sides says nothing of a change.
  const { source } = list[0];
  const same = await readOverlay({ source, side: /** @type {Side} */ ("B"), title: "" }, new Targets(SIDES.B, []));
  assert.deepEqual(changesOf([list[0], same]), []);
});

test("less and more are coloured to both sides of no change", async () => {
  const [change] = changesOf([await lie("A", "kernel,x\ngemm,5\nadd,2\n"), await lie("B", "kernel,x\ngemm,3\nadd,3\n")]);
  const drawn = lay(change, 2, new Map([[1, 0], [3, 1]]), () => []);
  assert.ok(drawn.isRamp);
  const { css } = colour.changes("light");
  assert.deepEqual([0, 1].map((i) => drawn.paint(i, theme("light"))?.fill), [css[0], css[128 + 64]]);
  assert.deepEqual([drawn.lowest, drawn.text(2), drawn.table(theme("light")).css], ["−2", "+2", css]);
});

/** Of five blocks of two nodes. */
test("blocks of a repeat are coloured from the least of them to the most", () => {
  const laid = /** @type {any} */ ({ id: "", label: "", isNumber: true, places: new Map(), write: String,
    of: () => 1, shade: () => 1, over: (/** @type {number[]} */ [node]) => (node > 8 ? null : 100 + node) });
  const blocks = [[1, 2], [3, 4], [5, 6], [9, 10]];
  const fills = lay(laid, 1, new Map([[1, 0]]), () => blocks).blocks?.fills(0, theme("dark"));
  const { css } = colour.ramp("dark");
  assert.deepEqual(fills, [css[0], css[128], css[255], null]);
});
