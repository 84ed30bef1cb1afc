import assert from "node:assert/strict";
import { test } from "node:test";

import { unpack } from "../../../assets/web/core/packed.js";
import { carry } from "../../../assets/web/overlay/carry.js";
/** @import { Source } from "../../../assets/web/overlay/overlays.js" */

const BEFORE = '<html><head><title>Größe</title></head><body>\n';
const AFTER = '<script type="application/gzip" id="blob-file">H4sI</script>\n<script>start()</script></body></html>';

/** @param {string} name @param {string} text @param {"A"|"B"} [side] @returns {Source} */
const sourceOf = (name, text, side) => ({ name, side, open: async () => new Blob([text]).stream() });

/** @param {string} text of a file @param {string} name of data in it */
const dataOf = async (text, name) => new TextDecoder().decode(await unpack(
  new RegExp(`<script type="application/gzip" id="blob-${name}">([^<]*)</script>\n`).exec(text)?.[1] ?? ""));

test("a saved file has tables before its own data, and a list of them", async () => {
  // More than is packed in one go, and nothing that gzip makes small.
  const long = Array.from({ length: 200_000 }, (_, n) => `${n},${(n * 7919) % 1_000_003}\n`).join("");
  const file = new Blob([BEFORE, AFTER], { type: "text/html" });
  const text = await (await carry(file, [sourceOf("a.csv", `node,x\n${long}`), sourceOf("</script>.csv", "node,é\n1,2\n", "B")])).text();
  assert.ok(text.startsWith(`${BEFORE}<script`) && text.endsWith(AFTER));
  assert.deepEqual(JSON.parse(await dataOf(text, "overlays")),
    [{ name: "a.csv", source: "overlay-0" }, { name: "</script>.csv", source: "overlay-1", side: "B" }]);
  assert.equal(await dataOf(text, "overlay-0"), `node,x\n${long}`);
  assert.equal(await dataOf(text, "overlay-1"), "node,é\n1,2\n");
});

test("without a table a file is as it was, and what is no saved file is refused", async () => {
  const file = new Blob([BEFORE, AFTER]);
  assert.equal(await carry(file, []), file);
  await assert.rejects(carry(new Blob(["no data"]), [sourceOf("a.csv", "")]), /has no data/);
});
