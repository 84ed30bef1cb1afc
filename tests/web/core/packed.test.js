import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { unpack } from "../../../assets/web/core/packed.js";

test("data longer than what is read at a time come whole", async () => {
  const bytes = Uint8Array.from({ length: 2_700_001 }, (_, at) => (at * 2654435761) >>> 24);
  const text = gzipSync(bytes, { level: 0 }).toString("base64");
  assert.ok(text.length > 3 * 2 ** 20);
  assert.deepEqual(Buffer.from(await unpack(text)), Buffer.from(bytes));
  assert.equal((await unpack(gzipSync(Buffer.alloc(0)).toString("base64"))).byteLength, 0);
});
