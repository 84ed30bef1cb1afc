import assert from "node:assert/strict";
import { test } from "node:test";

import { arrange, decode, readMembers, unversioned } from "../../../assets/web/core/payload.js";

/** A payload as gviz.app.views.wire writes it. @param {object} header @param {ArrayBuffer} arrays */
function encode(header, arrays) {
  let text = JSON.stringify(header);
  text += " ".repeat((4 - (text.length % 8) + 8) % 8);
  const bytes = new Uint8Array(4 + text.length + arrays.byteLength);
  new DataView(bytes.buffer).setUint32(0, text.length, true);
  bytes.set(new TextEncoder().encode(text), 4);
  bytes.set(new Uint8Array(arrays), 4 + text.length);
  return bytes.buffer;
}

test("arrays are read where the header says, repeated ones filled", () => {
  const arrays = new ArrayBuffer(24);
  new Float64Array(arrays, 0, 2).set([1.5, -2]);
  new Uint32Array(arrays, 16, 1).set([7]);
  const header = {
    version: 1,
    arrays: {
      x: { dtype: "f8", offset: 0, length: 2 },
      id: { dtype: "u4", offset: 16, length: 3, repeated: true },
    },
  };
  const payload = decode(encode(header, arrays));
  assert.deepEqual(payload.x, Float64Array.of(1.5, -2));
  assert.deepEqual(payload.id, Uint32Array.of(7, 7, 7));
  assert.deepEqual(arrange(header, arrays, 0).x, payload.x);
});

test("another version is refused", () => {
  assert.throws(() => decode(encode({ version: 2, arrays: {} }, new ArrayBuffer(0))), /payload version 2, expected 1/);
});

test("an address is that of its file whatever the version", () => {
  assert.equal(unversioned("/payload/dag/a@0f3c/1?x=1"), "/payload/dag/a/1?x=1");
  assert.equal(unversioned("/payload/compared/dag?a=b@12&y"), "/payload/compared/dag?a=b&y");
});

/** @param {string} text */
const members = (text) => readMembers(new TextEncoder().encode(text).buffer);

test("an object is read by its lines", async () => {
  const text = '{"key":[1,2],\n"name":{"values":["a,\\n}"],"codes":[0,0]},\n"none":null}';
  assert.deepEqual(await members(text), JSON.parse(text));
});

test("an object without lines, or without members, is read too", async () => {
  assert.deepEqual(await members('{"a":1,"b":[2]}'), { a: 1, b: [2] });
  assert.deepEqual(await members("{}"), {});
});

test("what is no JSON is refused", async () => {
  await assert.rejects(members('{"a":1,\n"b":}'), SyntaxError);
});

test("the page has its turn between long lines", async () => {
  const column = JSON.stringify(Array.from({ length: 400_000 }, (_, n) => n * 1.37));
  let turns = 0, isThere = false;
  const count = () => {
    turns += 1;
    if (!isThere) setImmediate(count);
  };
  setImmediate(count);
  const found = await members(`{"a":${column},\n"b":${column},\n"c":${column}}`);
  isThere = true;
  assert.equal(found.c.length, 400_000);
  assert.ok(turns >= 2, `${turns} turns`);
});
