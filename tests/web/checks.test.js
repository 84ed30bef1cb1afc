/** The checks themselves: what they are there to find is found. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BIN = join(ROOT, "tools", "node_modules", ".bin");

/** @param {string} tool @param {string[]} given @param {string} [input] */
function run(tool, given, input = "") {
  const done = spawnSync(join(BIN, tool), given, { cwd: ROOT, input, encoding: "utf-8" });
  return { code: done.status, said: done.stdout + done.stderr };
}

/** What tsc says of a module. @param {string} text */
function typesOf(text) {
  const folder = mkdtempSync(join(tmpdir(), "gviz-types-"));
  try {
    writeFileSync(join(folder, "planted.js"), text);
    const config = { extends: join(ROOT, "tools", "tsconfig.json"), include: ["planted.js"] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    return run("tsc", ["-p", folder]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What eslint says of a module. @param {string} text @param {string} [name] */
function styleOf(text, name = "assets/web/core/planted.js") {
  const given = ["-c", "tools/eslint.config.mjs", "--stdin", "--stdin-filename", name];
  return run("eslint", given, text);
}

test("a module as it should be passes", () => {
  const text = "/** @param {number} n */\nexport function twice(n) {\n  return 2 * n;\n}\n";
  assert.deepEqual(typesOf(text), { code: 0, said: "" });
  assert.deepEqual(styleOf(text), { code: 0, said: "" });
});

for (const [what, text, fault] of [
  ["a wrong type", "/** @param {number} n */\nexport const size = (n) => n.length;\n", "TS2339"],
  ["a type that is not said", "export const size = (n) => 2 * n;\n", "TS7006"],
  ["a value that may be missing", 'export const text = document.getElementById("a").textContent;\n', "TS2531"],
  ["a name that is not there", "export const text = nothing;\n", "TS2304"],
]) {
  test(`${what} is refused`, () => {
    const { code, said } = typesOf(text);
    assert.notEqual(code, 0);
    assert.match(said, new RegExp(`error ${fault}`));
  });
}

for (const [what, text, fault] of [
  ["a default export", "export default 1;\n", "export by name"],
  ["an export that changes", "export let count = 1;\ncount += 1;\n", "an export is a constant"],
  ["a list of exports", "const one = 1;\nexport { one };\n", "export where it is declared"],
  ["an import for its effect", 'import "./bus.js";\n', "does nothing when it is imported"],
  ["an import at another time", 'export const load = () => import("./bus.js");\n', "import at the top"],
  ["an effect of importing", "export const one = 1;\nconsole.log(one);\n", "does nothing when it is imported"],
  ["what is not used", "const one = 1;\n", "no-unused-vars"],
  ["a name within a name", "export const one = 1;\nexport const two = () => {\n  const one = 2;\n  return one;\n};\n", "no-shadow"],
]) {
  test(`${what} is refused`, () => {
    const { code, said } = styleOf(text);
    assert.equal(code, 1);
    assert.match(said, new RegExp(fault));
  });
}

test("what begins may do something", () => {
  assert.equal(styleOf('import { listen } from "./keys.js";\n\nlisten();\n', "assets/web/dash/main.js").code, 0);
});
