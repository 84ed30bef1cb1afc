"""Types, style and unit tests of the viewer's JavaScript: what breaches them is refused."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from places import ROOT

TOOLS = ROOT / "tools"
#: ``make check`` installs node there.
PATH = os.pathsep.join([str(ROOT / "build" / "check-venv" / "bin"), os.environ.get("PATH", "")])
MODULE = """
export const double = (/** @type {number} */ a) => a * 2;

export const half = (/** @type {number} */ a) => double(a) / 4;
"""
TEST = """
import assert from "node:assert";
import { test } from "node:test";
import { double } from "../../assets/web/numbers.js";

test("double", () => assert.equal(double(2), 4));
"""
#: Appended to the module or to its test: what refuses it, and its words.
BREACHES = {
    "tsc": ("module", 'export const text = double("2");\n', "not assignable to parameter"),
    "strict": ("module", "export const same = a => a;\n", "implicitly has an 'any' type"),
    "eslint": ("module", "const unused = 1;\n", "'unused' is assigned a value but never used"),
    "node": ("test", 'test("half", () => assert.equal(double(1), 3));\n', "2 == 3"),
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with one module, its test, and the tools."""
    if not (TOOLS / "node_modules" / ".bin").exists() or not shutil.which("node", path=PATH):
        pytest.skip("node, tsc or eslint is not here; run: make check-web")
    (tmp_path / "tools").mkdir()
    for name in ("check_web.sh", "eslint.config.mjs", "tsconfig.json", "tsconfig.tests.json"):
        shutil.copy(TOOLS / name, tmp_path / "tools")
    (tmp_path / "tools" / "globals.d.ts").touch()
    (tmp_path / "tools" / "node_modules").symlink_to(TOOLS / "node_modules")
    for path, text in (("assets/web/numbers.js", MODULE), ("tests/web/numbers.test.js", TEST)):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def check(tree: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [tree / "tools" / "check_web.sh"],
        env={**os.environ, "PATH": PATH},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_breach_is_reported(tree: Path) -> None:
    done = check(tree)
    assert done.returncode == 0, done.stdout + done.stderr

    files = {"module": tree / "assets/web/numbers.js", "test": tree / "tests/web/numbers.test.js"}
    for file, text, _ in BREACHES.values():
        files[file].write_text(files[file].read_text() + text)
    done = check(tree)
    assert done.returncode == 1
    missed = [name for name, (_, _, words) in BREACHES.items() if words not in done.stdout]
    assert missed == [], done.stdout
