import assert from "node:assert/strict";
import { test } from "node:test";
import { allocation, guess, hexadecimal, sixDigits } from "../../../assets/web/inspector/argument_value.js";

/** An argument of these bytes. @param {Uint8Array} bytes @param {Record<string, any>} [more] */
const argument = (bytes, more) => ({ position: 0, size_bytes: bytes.length, value: Buffer.from(bytes).toString("hex"), ...more });

/** @param {"Int32"|"Float32"|"Float64"|"BigUint64"} kind @param {any} value */
function packed(kind, value) {
  const view = new DataView(new ArrayBuffer(kind.endsWith("32") ? 4 : 8));
  /** @type {any} */ (view)[`set${kind}`](0, value, true);
  return new Uint8Array(view.buffer);
}

test("a guess follows the bytes", () => {
  /** @type {[Uint8Array, string|null][]} */
  const cases = [
    [packed("Int32", -1), "−1"],
    [packed("Int32", 4096), "4,096"],
    [packed("Float32", 1e-5), "1e-05 (32-bit float)"],
    [packed("Float64", 0.1), "0.1 (64-bit float)"],
    [packed("Float64", -123456789.5), "-1.23457e+08 (64-bit float)"],
    [Uint8Array.from([0, 0x3c]), "15,360"], // small enough for an integer
    [packed("BigUint64", 0x7f1234567890n), null],
    [new Uint8Array(12), null],
  ];
  for (const [bytes, guessed] of cases) assert.equal(guess(argument(bytes)), guessed);
  assert.equal(guess(argument(packed("BigUint64", 4096n), { allocation_address: 4096 })), null, "a pointer is not guessed at");
});

test("six significant digits are those of C", () => {
  assert.deepEqual([1, 0.1, 100000, 1000000, 1.5e-7, 123456.7, 0.0001234567, 1e9].map(sixDigits),
    ["1", "0.1", "100000", "1e+06", "1.5e-07", "123457", "0.000123457", "1e+09"]);
});

test("a long argument is cut, a short one is a number", () => {
  assert.equal(hexadecimal(argument(Uint8Array.from([255, 0]))), "0x00ff");
  assert.equal(hexadecimal(argument(packed("BigUint64", 0xfedcba9876543210n))), "0xfedcba9876543210");
  assert.equal(hexadecimal(argument(Uint8Array.from({ length: 10 }, (_, i) => i))), "0001 02030405 06070809");
  assert.match(hexadecimal(argument(new Uint8Array(40))), /^00000000 .* 00000000 …$/);
});

test("a pointer says where in its allocation it points", () => {
  const start = 2n ** 60n + 1n; // as records have it: no exact number
  const at = (/** @type {bigint} */ value) => allocation(argument(packed("BigUint64", value), { allocation_address: start, allocation_bytes: 4096 }));
  assert.equal(at(start), "start of 4.00 KiB at 0x1000000000000001");
  assert.equal(at(start + 512n), "512 B into 4.00 KiB at 0x1000000000000001");
  assert.equal(allocation(argument(packed("Int32", 1))), null);
});
