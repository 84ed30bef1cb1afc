import assert from "node:assert/strict";
import { test } from "node:test";

import { DataUses } from "../../../../assets/web/dag/scene/uses.js";

test("a use of a node that the scene lacks is of no item", () => {
  const payload = /** @type {any} */ ({
    use_node: Uint32Array.of(5, 9, 7), use_place: Uint32Array.of(0, 0, 0), use_reach: Uint32Array.of(1, 1, 1),
    use_access: Uint8Array.of(0, 0, 0), use_bytes: Float64Array.of(8, 8, 8), use_order: Uint32Array.of(0, 1, 2),
    place_low: Uint32Array.of(0x100),
  });
  const scene = /** @type {any} */ ({ index: new Map([[5, 0], [7, 1]]), count: 2 });
  const uses = new DataUses(payload, scene);
  assert.deepEqual([0, 1].map((item) => Array.from(uses.usesOf(item))), [[0], [2]]);
  assert.deepEqual(uses.itemsOf([0, 1, 2]), [0, 1]);
});
