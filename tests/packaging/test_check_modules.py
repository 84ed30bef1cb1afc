"""The walls between the folders of the viewer's modules: what breaches them is refused."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def web(tmp_path: Path) -> Path:
    """A copy of the viewer's modules."""
    return Path(shutil.copytree(ROOT / "assets" / "web", tmp_path / "web"))


def check(web: Path) -> tuple[int, str]:
    """Run the check; return its exit code and what it says."""
    tool = ROOT / "tools" / "check_modules.py"
    done = subprocess.run(
        [sys.executable, "-P", tool, web], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


def plant(web: Path, name: str, line: str) -> None:
    """Put a line behind the comment that a module begins with."""
    path = web / name
    head, end, rest = path.read_text(encoding="utf-8").partition("*/\n")
    path.write_text(head + end + line + "\n" + rest, encoding="utf-8")


def test_modules_import_as_they_may(web: Path) -> None:
    code, stated = check(web)
    assert code == 0
    assert stated.startswith("modules: ")


@pytest.mark.parametrize(
    ("name", "line", "fault"),
    [
        (
            "core/bus.js",
            'import * as keys from "../page/keys.js";',
            "core/bus.js: imports page/keys.js, but core may not know page",
        ),
        (
            "timeline/rows.js",
            'import { DagScene } from "../dag/scene/scene.js";',
            "timeline/rows.js: imports dag/scene/scene.js, but timeline may not know dag/scene",
        ),
        (
            "core/bus.js",
            '/** @import { Dag } from "../dag/dag.js" */',
            "core/bus.js: imports dag/dag.js, but core may not know dag",
        ),
        (
            "core/bus.js",
            '/** @type {import("../dash/state.js").FileState|null} */',
            "core/bus.js: imports dash/state.js, but core may not know dash",
        ),
        (
            "file/main.js",
            'import * as state from "../dash/state.js";',
            "file/main.js: imports dash/state.js, but file may not know dash",
        ),
        (
            "core/bus.js",
            'import * as gone from "./gone.js";',
            "core/bus.js: imports core/gone.js, which is not there",
        ),
    ],
)
def test_import_over_a_wall_is_refused(web: Path, name: str, line: str, fault: str) -> None:
    plant(web, name, line)
    assert check(web) == (1, fault + "\n")


def test_circle_is_refused(web: Path) -> None:
    plant(web, "core/format.js", 'import {\n  ticks,\n} from "./axis.js";')
    code, stated = check(web)
    assert code == 1
    # The circle is named from the module by which the search came to it.
    found = stated.partition("\n")[0].removeprefix("modules import each other: ").split(" > ")
    assert {*found[:2]} == {"core/axis.js", "core/format.js"}, stated
    assert found[2].startswith(found[0])


def test_types_of_a_folder_may_name_each_other(web: Path) -> None:
    plant(web, "core/format.js", '/** @import { TimeTransform } from "./axis.js" */')
    assert check(web)[0] == 0


def test_folder_with_too_many_modules_is_refused(web: Path) -> None:
    count = len(list((web / "core").glob("*.js")))
    for n in range(21 - count):
        (web / "core" / f"more{n}.js").write_text("export const more = 1;\n", encoding="utf-8")
    assert check(web) == (
        1,
        "core: 21 modules, at most 20; put some into a folder within\n",
    )


def test_folder_without_a_place_among_the_others_is_refused(web: Path) -> None:
    (web / "attic").mkdir()
    (web / "attic" / "old.js").write_text("export const old = 1;\n", encoding="utf-8")
    code, stated = check(web)
    assert code == 1
    assert stated.startswith("attic: no folder of modules; ALLOWED in ")
