"""Without the libraries of the extra fleet its commands say what to install."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from places import ROOT

from gviz.fleet import TABLES
from gviz.fleet.extra import LIBRARIES

Gviz = Callable[..., "subprocess.CompletedProcess[str]"]
BUNDLED = ROOT / "assets" / "recordings" / "graph_lives.gviz"


def test_the_extra_has_these_libraries_and_tests_too() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    assert tuple(one.partition(">=")[0] for one in extras["fleet"]) == LIBRARIES
    assert set(extras["fleet"]) <= set(extras["test"])


@pytest.mark.parametrize(
    ("library", "words"),
    [("fsspec", ["build", BUNDLED, "-o", "fleet"]), ("fsspec", ["query", "fleet", "SELECT 1"])],
)
def test_a_library_that_is_missing_is_named(
    gviz_here: Gviz,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    library: str,
    words: list[str | Path],
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    done = gviz_here("fleet", *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"gviz: {library} is not installed here, and fleets need it; 'pip install cryptography "
        "distributed duckdb fsspec pyarrow' brings all that they need\n"
    )


def test_a_library_that_does_not_fit_another_is_reported_as_it_says(
    gviz_here: Gviz, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = "pyarrow requires NumPy 2.0 or newer, found 1.26.0"
    (tmp_path / "pyarrow.py").write_text(f"raise ImportError({old!r})\n")
    monkeypatch.syspath_prepend(tmp_path)
    for loaded in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, loaded)
    done = gviz_here("export", BUNDLED, "--format", "parquet", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"gviz: pyarrow is installed here and cannot be loaded: {old}; install versions that fit "
        "each other\n"
    )


def test_tables_have_columns_that_say_what_they_are() -> None:
    for table in TABLES.values():
        assert table.meaning
        assert all(column.meaning for column in table.columns.values())
