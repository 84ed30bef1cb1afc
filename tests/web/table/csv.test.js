import assert from "node:assert/strict";
import { test } from "node:test";

import * as csv from "../../../assets/web/table/csv.js";

test("texts that would be taken for formulas get an apostrophe", () => {
  for (const text of ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"]) assert.equal(csv.cell(text), `'${text}`);
  for (const text of ["gemm", "a=b", "5-3", ""]) assert.equal(csv.cell(text), text);
});

test("negative numbers stay numbers", () => {
  assert.equal(csv.cell(-5), -5);
  assert.equal(csv.cell(0), 0);
});

test("what is not there is empty", () => {
  assert.equal(csv.cell(null), "");
  assert.equal(csv.cell(undefined), "");
});

test("names of files are plain and short", () => {
  assert.equal(csv.nameOf("step <1> / ä"), "step-1-");
  assert.equal(csv.nameOf("x".repeat(200)).length, 80);
});

test("a file quotes all it holds", () => {
  const rows = [{ name: 'a "b", c', ns: -5 }, { name: "=x\ny", ns: null }];
  assert.equal(csv.textOf(["name", "ns"], rows), '"name","ns"\r\n"a ""b"", c","-5"\r\n"\'=x\ny",""');
});
