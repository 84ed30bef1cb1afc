"""Tiers, parts and order of the suite: every test belongs to one, a part says what remains."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from importlib.util import cache_from_source
from pathlib import Path
from shutil import copy

import pytest
from file_order import in_order
from parts import split_files
from tiers import FOLDERS

from gviz.recording import reader

ROOT = Path(__file__).resolve().parents[2]
pytest_plugins = ["pytester"]

CONFTEST = f"""
import sys
sys.path.insert(0, {str(ROOT / "tests")!r})
import tiers
from pathlib import Path
from shutil import copy
from parts import Part, add_options

tiers.TESTS = Path(__file__).parent

def pytest_addoption(parser):
    add_options(parser)

def pytest_configure(config):
    for name in ("quick", "thorough"):
        config.addinivalue_line("markers", name)
    config.pluginmanager.register(Part(config.getoption("part"), config.getoption("minutes")))

import pytest

@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    tiers.mark_tiers(items)
"""
HIDING = """
import sys
from importlib.machinery import PathFinder

finders = sys.meta_path[:]

class Hiding:
    find_distributions = staticmethod(PathFinder.find_distributions)

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"dash", "flask", "waitress"}:
            return None
        return next(filter(None, (f.find_spec(name, path, target) for f in finders)), None)

sys.meta_path[:] = [Hiding()]
"""
TESTS = """
import pytest

def test_plain(): pass

@pytest.mark.quick
def test_quick(): pass

@pytest.mark.thorough
def test_thorough(): pass
"""


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeconftest(CONFTEST)
    for folder in ("unit", "browser"):
        path = pytester.mkdir(folder) / f"test_{folder}.py"
        path.write_text(TESTS)
    return pytester


def _run(suite: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return suite.runpytest_subprocess("-v", *arguments)


@pytest.mark.parametrize(
    ("tier", "passed"),
    [
        ("quick", ["unit.py::test_plain", "unit.py::test_quick", "browser.py::test_quick"]),
        (
            "thorough",
            ["unit.py::test_thorough", "browser.py::test_plain", "browser.py::test_thorough"],
        ),
    ],
)
def test_each_test_is_of_one_tier(suite: pytest.Pytester, tier: str, passed: list[str]) -> None:
    done = _run(suite, "-m", tier)
    done.assert_outcomes(passed=3, deselected=3)
    done.stdout.fnmatch_lines_random([f"*test_{name} PASSED*" for name in passed])


def test_a_folder_without_a_tier_is_refused(suite: pytest.Pytester) -> None:
    (suite.mkdir("else") / "test_else.py").write_text("def test_it(): pass\n")
    done = _run(suite, "-m", "quick")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert "has no tier: name tests/else in tests/tiers.py" in done.stderr.str()


def test_tiers_that_contradict_each_other_are_refused(suite: pytest.Pytester) -> None:
    text = "import pytest\npytestmark = pytest.mark.thorough\n" + TESTS.replace("import pytest", "")
    (suite.path / "unit" / "test_unit.py").write_text(text)
    done = _run(suite)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert "test_quick is marked quick within what is marked thorough" in done.stderr.str()


def test_every_folder_of_tests_has_a_tier() -> None:
    folders = {path.relative_to(ROOT / "tests").parts[0] for path in _modules()}
    assert folders == set(FOLDERS)


def test_tests_on_a_gpu_are_collected_without_the_viewers_libraries(tmp_path: Path) -> None:
    # `make gpu-test GVIZ_NO_INSTALL=1` takes what a machine with a GPU has, which is no dash.
    (tmp_path / "hiding.py").write_text(HIDING)
    collect = ["-p", "hiding", "--collect-only", "-q", "-m", "gpu", "tests/gpu", "tests/contract"]
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", *collect],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    # Without a GPU none is left: 5. A module that cannot be imported is 2.
    assert done.returncode in (0, 5), done.stdout
    assert re.search(r"\d{3,} (deselected|tests collected)", done.stdout), done.stdout


def _modules() -> list[Path]:
    return list((ROOT / "tests").rglob("test_*.py"))


def test_parts_are_all_tests_once(suite: pytest.Pytester) -> None:
    seen: Counter[str] = Counter()
    for part in ("1/2", "2/2"):
        done = _run(suite, f"--part={part}")
        done.assert_outcomes(passed=3, deselected=3)
        seen.update(line.split()[0] for line in done.outlines if " PASSED" in line)
    assert len(seen) == 6
    assert set(seen.values()) == {1}


def test_a_part_says_what_remains(suite: pytest.Pytester) -> None:
    assert "part 1 of 2: parts 2 remain" in _run(suite, "--part=1/2").stdout.str()
    assert "part 2 of 2: no part remains after it" in _run(suite, "--part=2/2").stdout.str()


def test_a_part_ends_when_its_minutes_are_over(suite: pytest.Pytester) -> None:
    done = _run(suite, "--part=1/1", "--minutes=0.0001")
    assert done.ret != 0
    first = "unit/test_unit.py::test_plain"
    assert f"part 1 of 1: 5 tests of it have not run, from {first}" not in done.stdout.str()
    assert "part 1 of 1: 5 tests of it have not run, from " in done.stdout.str()


@pytest.mark.parametrize("part", ["0/2", "3/2", "1", "a/b"])
def test_a_part_that_is_none_is_refused(suite: pytest.Pytester, part: str) -> None:
    done = _run(suite, f"--part={part}")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert f"--part {part}: give K/N with 1 <= K <= N" in done.stderr.str()


def test_parts_are_of_about_equal_counts() -> None:
    assert split_files([5, 5, 5, 5], 2) == [1, 2, 1, 2]
    assert split_files([1, 1, 18, 1, 1], 2) == [2, 2, 1, 2, 2]
    # A large file at a border of the order adds to no part beyond its share.
    assert split_files([4, 9, 4, 9], 2) == [1, 1, 2, 2]
    assert split_files([3], 4) == [1]
    assert split_files([], 4) == []


def test_long_files_begin_first_and_those_that_wait_beside_those_that_compute() -> None:
    names = "browser/test_a browser/test_b browser/test_c browser/test_d contract/test_a "
    names += "contract/test_b docs/test_a unit/test_b unit/test_fuzzing"
    files = [Path(f"/tests/{name}.py") for name in names.split()]
    found = " ".join(f"{path.parent.name}/{path.stem}" for path in in_order([*files, files[0]]))
    assert found == (
        "unit/test_fuzzing browser/test_a contract/test_a browser/test_b browser/test_c "
        "contract/test_b browser/test_d docs/test_a unit/test_b"
    )


def test_closing_lines_are_summed(tmp_path: Path) -> None:
    log = (
        "\x1b[32m===== \x1b[1m12 passed\x1b[0m, 3 deselected in 61.20s (0:01:01) =====\x1b[0m\n"
        "x\n== 1 failed, 2 passed, 1 error in 3.00s ==\n"
    )
    path = tmp_path / "log"
    path.write_text(log)
    line = _closing_line(path).stdout.rstrip("\n")
    assert line.strip("= ") == "1 failed, 14 passed, 1 error in 64.20s (0:01:04)"
    assert len(line) == 80
    again = tmp_path / "again"
    again.write_text("== 2 passed, 9 deselected in 1.00s ==\n")
    line = _closing_line(path, again).stdout
    assert line.strip("= \n") == "16 passed in 65.20s (0:01:05)"
    again.write_text("== 1 failed, 1 passed in 1.00s ==\n")
    line = _closing_line(path, again).stdout
    assert line.strip("= \n") == "1 failed, 15 passed in 65.20s (0:01:05)"
    path.write_text("nothing")
    assert _closing_line(path).returncode == 1


#: Stands for make: pytest's closing line, what failed, and the exit code of each run.
_MAKE = """#!/bin/sh
echo "$@" >> calls
mkdir -p .pytest_cache/v/cache
case "$*" in
    "-k check" | test-wheel) echo "== 9 passed in 1.00s ==" ;;
    test | test-rest) echo "$FAILED" > .pytest_cache/v/cache/lastfailed
        echo "== 2 failed, 5 passed in 1.00s =="; exit $FIRST ;;
    *) echo "== $SECOND in 1.00s =="; [ "$SECOND" = "2 passed" ] || exit 2 ;;
esac
"""


@pytest.mark.parametrize(
    ("failed", "first", "second", "passes"),
    [
        (2, 2, "2 passed", True),
        (2, 2, "1 failed, 1 passed", False),
        (6, 2, "2 passed", False),  # so many are no accident
        (2, 124, "2 passed", False),  # the rest has not run
    ],
)
def test_continuous_integration_runs_few_failed_tests_again(
    tmp_path: Path, failed: int, first: int, second: str, passes: bool
) -> None:
    tools = tmp_path / "tools"
    (tmp_path / ".ci").mkdir()
    tools.mkdir()
    copy(ROOT / ".ci" / "run", tmp_path / ".ci")
    copy(ROOT / "tools" / "closing_line.py", tools)
    # Nothing is missing that it would install.
    for name in ("make", "aarch64-linux-gnu-gcc", "qemu-aarch64", "musl-gcc"):
        (tools / name).write_text(_MAKE)
        (tools / name).chmod(0o755)
    names = {f"tests/test_{number}.py::test_it": True for number in range(failed)}
    path = os.pathsep.join([str(tools), str(Path(sys.executable).parent), os.environ["PATH"]])
    settings = {"FAILED": json.dumps(names), "FIRST": str(first), "SECOND": second, "PATH": path}
    environment = {**os.environ, **settings}
    command = [str(tmp_path / ".ci" / "run")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) is passes, done.stdout + done.stderr
    calls = (tmp_path / "calls").read_text().splitlines()
    is_again = failed <= 5 and first == 2
    assert len(calls) == 4 + 2 * is_again
    last = done.stdout.splitlines()
    assert last[-2].endswith("passed" if passes else "FAILED")
    if passes:
        assert last[-1].strip("= ").startswith("23 passed in 5.00s")
        assert last.count("tests/test_0.py::test_it") == 2


def _closing_line(*paths: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", str(ROOT / "tools" / "closing_line.py"), *map(str, paths)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_modules_are_compiled_once_for_all_processes() -> None:
    compiled = Path(cache_from_source(reader.__file__))
    compiled.unlink(missing_ok=True)
    subprocess.run([sys.executable, "-P", "-c", "import gviz.recording.reader"], check=True)
    assert compiled.exists()
