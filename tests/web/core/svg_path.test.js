import assert from "node:assert/strict";
import { test } from "node:test";

import { SvgPath, short } from "../../../assets/web/core/svg_path.js";

const SAME = { sx: 1, sy: 1, tx: 0, ty: 0 };

test("numbers are as short as a hundredth of a pixel allows", () => {
  assert.deepEqual([1, 1.5, 1.005, -0.001, 100].map(short), ["1", "1.5", "1", "0", "100"]);
});

test("coordinates go through the transform of the moment", () => {
  const path = new SvgPath();
  path.move(1, 2, { sx: 2, sy: 3, tx: 10, ty: 20 });
  path.line(2, 2, SAME);
  path.close();
  assert.equal(path.data, "M12 26L2 2Z");
  assert.ok(!path.empty);
});

test("a single box is known as one", () => {
  const path = new SvgPath();
  assert.ok(path.empty);
  const box = { x: 1, y: 2, w: 3, h: 4, r: 0 };
  path.addBox(box);
  assert.deepEqual(path.box, box);
  assert.equal(path.data, "M1 2h3v4h-3Z");
  path.move(0, 0, SAME);
  assert.equal(path.box, null);
});

test("an arc touches both sides of its corner", () => {
  const path = new SvgPath();
  path.move(0, 0, SAME);
  path.corner(10, 0, 10, 10, 4, SAME);
  assert.equal(path.data, "M0 0L6 0A4 4 0 0 1 10 4");
});

test("a corner without room is a line", () => {
  const path = new SvgPath();
  path.move(0, 0, SAME);
  path.corner(10, 0, 20, 0, 4, SAME);
  assert.equal(path.data, "M0 0L10 0");
});
