import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import * as format from "../../../assets/web/core/format.js";

/** The table that Python's formatter is held against too. @type {Record<string, [number|null, string][]>} */
const TABLE = JSON.parse(readFileSync(new URL("../../quantities.json", import.meta.url), "utf-8"));

/** Texts, and the parts that Python finds in them too. @type {[string, string[]][]} */
const IN_TEXT = JSON.parse(readFileSync(new URL("../../quantities_in_text.json", import.meta.url), "utf-8"));

/** @type {Record<string, (value: number|null|undefined) => string>} */
const FORMS = {
  rounded: format.rounded, integer: format.integer, duration: format.duration, microseconds: format.microseconds,
  byte_size: format.byteSize, percent: format.percent, multiple: format.multiple,
  signed_duration: format.signedDuration, signed_percent: format.signedPercent,
};

test("all forms of the table are known", () => {
  assert.deepEqual(Object.keys(TABLE).sort(), Object.keys(FORMS).sort());
});

for (const [name, form] of Object.entries(FORMS)) {
  test(`${name} is as in the table`, () => {
    for (const [value, text] of TABLE[name]) assert.equal(form(value), text, `${value}`);
    assert.equal(form(undefined), format.MISSING);
    assert.equal(form(NaN), format.MISSING);
  });
}

test("cells of changes have a sign", () => {
  assert.equal(format.signedMicroseconds(1_234), "+1.23");
  assert.equal(format.signedMicroseconds(-1_000_000), "−1,000");
  assert.equal(format.signedMicroseconds(0), "±0");
  assert.equal(format.signedMicroseconds(null), format.MISSING);
});

test("numbers with units are found in a text", () => {
  for (const [whole, parts] of IN_TEXT) assert.deepEqual(format.atQuantities(whole), parts);
});

test("one is not several", () => {
  assert.equal(format.counted(1, "node"), "1 node");
  assert.equal(format.counted(1_234, "node"), "1,234 nodes");
  assert.equal(format.counted(2, "address", "addresses"), "2 addresses");
});

test("an axis takes the greatest unit its steps reach", () => {
  assert.deepEqual([1, 999, 1_000, 5e6, 1e9].map((step) => format.axisUnit(step)[1]), ["ns", "µs", "µs", "ms", "s"]);
});
