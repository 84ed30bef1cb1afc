import assert from "node:assert/strict";
import { test } from "node:test";

import { element, unbroken } from "../../../assets/web/core/parts.js";
import { all, standIn } from "../dom.js";

standIn();

/** The texts that are kept in one line, and how. @param {any} made */
const unbrokenOf = (made) =>
  all(made).filter((one) => one.attributes.class?.split(" ").includes("gv-nowrap")).map((one) => [one.tag, one.textContent]);

test("a number stays in one line with its unit", () => {
  const made = element("p", { class: "gv-muted" }, "at most 297 µs, then ", element("b", {}, "7.07 ms"), ".");
  assert.equal(made.textContent, "at most 297 µs, then 7.07 ms.");
  assert.deepEqual(unbrokenOf(made), [["span", "297 µs"], ["b", "7.07 ms"]]);
});

test("a quantity alone needs no element of its own, and keeps its class", () => {
  const made = /** @type {any} */ (element("dd", { class: "gv-value" }, "7.07 ms"));
  assert.equal(made.attributes.class, "gv-value gv-nowrap");
  assert.deepEqual(unbrokenOf(made), [["dd", "7.07 ms"]]);
});

test("other texts stay as they are", () => {
  const made = /** @type {any} */ (element("p", {}, "14 launches"));
  assert.deepEqual([made.children, made.attributes], [["14 launches"], {}]);
  assert.deepEqual(unbroken("14 launches"), ["14 launches"]);
});

test("an option has its text alone", () => {
  const made = /** @type {any} */ (element("option", {}, "launch 3, 7.07 ms"));
  assert.deepEqual(made.children, ["launch 3, 7.07 ms"]);
});

test("each text is searched for quantities once", (t) => {
  const split = t.mock.method(String.prototype, "split");
  for (const text of ["7.07 ms", "14 launches", "at most 297 µs, then 7.07 ms"]) {
    split.mock.resetCalls();
    element("p", {}, text);
    assert.deepEqual(split.mock.calls.map((call) => String(call.this)), [text]);
  }
  split.mock.resetCalls();
  element("option", {}, "launch 3, 7.07 ms");
  assert.equal(split.mock.callCount(), 0);
});
