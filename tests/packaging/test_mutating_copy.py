"""Mutations of a small package are tried in a copy of its repository."""

from __future__ import annotations

import subprocess
import textwrap
from pathlib import Path

import pytest
from cures import Cure
from mutating.campaign import Campaign, Verdict
from mutating.choice import read_candidates
from mutating.cured import try_cures
from mutating.mutation import Candidate
from mutating.suite import Suite
from mutating.tree import Tree
from waiting import eventually

FILES = {
    "pyproject.toml": """
        [build-system]
        requires = ["setuptools"]
        build-backend = "setuptools.build_meta"
        [project]
        name = "gviz"
        version = "0"
        [tool.setuptools]
        packages = ["gviz"]
        [tool.pytest.ini_options]
        # The plugins of Dash and Hypothesis take longer to import than all that runs here.
        addopts = ["--import-mode=importlib", "-p", "no:dash", "-p", "no:hypothesispytest"]
        markers = ["browser: as in the repository"]
    """,
    ".gitignore": "*.egg-info\n__pycache__\nbuild\n",
    "gviz/__init__.py": "",
    # pytest looks for it: the gviz whose tests these are has registered it.
    "gviz/pytest_plugin.py": "",
    "gviz/sums.py": """
        LIMIT = 9

        def is_small(a):
            return a < LIMIT

        def twice(a):
            return a * 2

        def thrice(a):
            return a * 3

        def never(a):
            return a - 1
    """,
    "tests/test_sums.py": """
        import subprocess, sys, pytest
        from gviz.sums import is_small, thrice

        @pytest.fixture(scope="module")
        def six():
            code = "from gviz.sums import twice; print(twice(3))"
            return subprocess.run([sys.executable, "-c", code], capture_output=True).stdout

        def test_small():
            assert is_small(8) and not is_small(9)

        def test_in_another_process(six):
            assert six == b"6\\n"

        def test_thrice_is_run_and_not_looked_at():
            thrice(1)

        def test_that_fails_anyway():
            assert is_small(20)
    """,
    "tests/test_page.py": """
        import pytest
        from gviz.sums import thrice

        @pytest.mark.browser
        def test_thrice():
            assert thrice(2) == 6
    """,
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a package named gviz."""
    root = tmp_path / "repository"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = text.strip("\n").splitlines()
        path.write_text("\n".join(line.removeprefix(" " * 8) for line in lines) + "\n")
    author = ["-c", "user.name=gviz", "-c", "user.email=gviz@example.com"]
    for command in (["init", "-q"], ["add", "."], [*author, "commit", "-q", "-m", "All"]):
        subprocess.run(["git", *command], cwd=root, check=True)
    # The working tree counts, not the last commit.
    sums = root / "gviz" / "sums.py"
    sums.write_text(sums.read_text().replace("LIMIT = 9", "LIMIT = 8 + 1"))
    return root


def test_each_mutation_is_caught_by_the_test_that_sees_it(
    repository: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    chosen = [c for c in read_candidates(repository, ["gviz"]) if c.mutation.kind == "arithmetic"]
    assert [c.mutation.function for c in chosen] == ["", "twice", "thrice", "never"]
    tree, results = Tree(repository, tmp_path / "copy"), tmp_path / "results"
    found = Campaign(tree, chosen, results, {}).run(whole=True)
    assert [brief(v) for v in found] == [
        # The limit is of the module, so each test that enters one of its functions counts.
        ("alone", "tests/test_sums.py::test_small", 3),
        ("alone", "tests/test_sums.py::test_in_another_process", 1),
        ("together", "tests/test_page.py::test_thrice", 1),
        ("whole", "", 0),
    ]
    assert sources(tree.path, chosen) == sources(repository, chosen)
    capfd.readouterr()
    assert Campaign(tree, chosen, results, {}).run(whole=True) == found
    assert capfd.readouterr().err == ""

    # Of another state nothing is known, but for the test that caught it, elsewhere.
    tests = repository / "tests" / "test_sums.py"
    tests.write_text(tests.read_text().replace('== b"6\\n"', "is not None"))
    known = {0: "tests/unit/test_sums.py::test_in_another_process"}
    tree = Tree(repository, tmp_path / "copy")
    (left,) = Campaign(tree, chosen[1:2], results, known).run(whole=False)
    assert brief(left) == ("left", "", 1)


#: It leaves a process in a session of its own, then ends as one that a limit stops.
LEAVES_ONE = """
    import os, signal, subprocess, sys
    from pathlib import Path

    def test_leaves_a_process():
        command = [sys.executable, "-c", "import time; time.sleep(600)"]
        child = subprocess.Popen(command, start_new_session=True)
        Path(LEFT).write_text(str(child.pid))
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_cures_are_tried_on_where_one_cannot_be_and_where_a_test_is_killed(
    repository: Path, tmp_path: Path
) -> None:
    left, test = tmp_path / "left", "tests/test_leaves.py::test_leaves_a_process"
    code = textwrap.dedent(LEAVES_ONE).replace("LEFT", repr(str(left)))
    (repository / "tests" / "test_leaves.py").write_text(code)
    tree = Tree(repository, tmp_path / "copy")
    killed = "stopped by a limit or signal 9"
    assert Suite(tree).run(["tests/test_leaves.py"]).failed == {test: killed}
    eventually(lambda: has_ended(int(left.read_text())), "the end of the process that was left")

    small, thrice = "tests/test_sums.py::test_small", "tests/test_page.py::test_thrice"
    kills = "return __import__('os').kill(__import__('os').getpid(), 9)"
    cures = [
        Cure("its test is killed", thrice, "gviz/sums.py", "return a * 3", kills),
        Cure("its text is gone", small, "gviz/sums.py", "return a ** 2", ""),
        Cure("nobody sees it", small, "gviz/sums.py", "return a - 1", "return a"),
        Cure("always there", test, "gviz/sums.py", "a < LIMIT", "a <= LIMIT"),
        Cure("noticed", small, "gviz/sums.py", "a < LIMIT", "a <= LIMIT"),
    ]
    assert [*try_cures(cures, tree).values()] == [
        "",
        "cannot be tried: gviz/sums.py has the cure 'return a ** 2' not once: its text is gone",
        "passes without the cure",
        f"fails with the cure, too ({killed})",
        "",
    ]
    assert (tree.path / "gviz/sums.py").read_bytes() == tree.source("gviz/sums.py")


def has_ended(pid: int) -> bool:
    """Return whether a process is gone, or a zombie that its new parent has not waited for."""
    try:
        return ") Z " in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return True


def brief(verdict: Verdict) -> tuple[str, str, int]:
    """Return the stage, the test, and how many tests run the line."""
    return verdict.stage, verdict.by, verdict.reached


def sources(root: Path, chosen: list[Candidate]) -> list[bytes]:
    """Return the modules of mutations."""
    return [(root / c.module).read_bytes() for c in chosen]
