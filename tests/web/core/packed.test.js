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

test("the page has its turn between long pieces", async (t) => {
  const [short, long] = [1_000, 2_700_001].map((length) => gzipSync(Buffer.alloc(length, 7), { level: 0 }).toString("base64"));
  /** @type {(() => void)[]} */ const waiting = [];
  const { MessageChannel: own } = globalThis;
  t.after(() => Object.assign(globalThis, { MessageChannel: own }));
  Object.assign(globalThis, { MessageChannel: class {
    port1 = { close: () => {}, onmessage: () => {} };
    port2 = { postMessage: () => waiting.push(() => this.port1.onmessage()) };
  } });
  assert.equal((await unpack(short)).byteLength, 1_000);
  let isThere = false;
  const done = unpack(long).then(() => (isThere = true));
  for (let turns = 0; turns < 3; turns++) {
    for (const begin = performance.now(); performance.now() < begin + 100;) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isThere, false, `after ${turns}`);
    waiting.shift()?.();
  }
  while (!isThere) {
    waiting.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await done;
});
