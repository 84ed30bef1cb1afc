"""Folders that all workers share, built once, also where the first try fails; some are kept."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest
from built_once import built_once, package_sources
from places import ROOT


def test_folder_is_built_once_and_again_only_after_a_failure(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    built: list[Path] = []

    def build(folder: Path) -> None:
        built.append(folder)
        if len(built) == 1:
            raise OSError("no compiler")
        (folder / "library").write_text("built")

    name = f"once-{tmp_path.name}-{tmp_path.stat().st_ino}"
    with pytest.raises(OSError, match="no compiler"):
        built_once(tmp_path_factory, name, build)
    with ThreadPoolExecutor(4) as pool:
        found = {*pool.map(lambda _: built_once(tmp_path_factory, name, build), range(8))}
    assert len(built) == 2
    (folder,) = found
    assert folder.name == name
    assert (folder / "library").read_text() == "built"


def test_folder_is_kept_until_a_source_changes(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("built_once._KEPT", tmp_path / "kept")
    source = tmp_path / "a.c"
    built: list[str] = []

    def build(folder: Path) -> None:
        built.append(source.read_text())
        (folder / "library").write_text(built[-1])

    def text() -> str:
        found = built_once(tmp_path_factory, "a", build, [source])
        assert found.parent == tmp_path / "kept"
        return (found / "library").read_text()

    said = []
    for written in ("1", "1", "2", "1"):
        source.write_text(written)
        said.append(text())
    assert (said, built) == (["1", "1", "2", "1"], ["1", "2"])
    old, new = sorted((tmp_path / "kept").glob("a-*"), key=lambda p: (p / "library").read_text())
    half_built = tmp_path / "kept" / ".a-x"
    half_built.mkdir()
    for unused in (new, half_built):
        os.utime(unused, (1, 1))
    text()
    assert {*(tmp_path / "kept").iterdir()} == {old, tmp_path / "kept" / "a.lock"}


def test_package_is_built_from_its_code_and_its_assets() -> None:
    names = {str(path.relative_to(ROOT)) for path in package_sources()}
    files = {
        "gviz/errors.py",
        "gviz/dag/__init__.pyi",
        "collectors/csrc/gate/closing.c",
        "setup.py",
    }
    assert files <= names
    assert any(name.startswith("assets/web/") for name in names)
    assert not any(name.endswith(".so") or "__pycache__" in name for name in names)


def test_temporary_files_lie_in_the_folder_of_the_run(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    base = tmp_path_factory.getbasetemp()
    assert Path(tempfile.mkdtemp()).is_relative_to(base)
    command = [sys.executable, "-c", "import tempfile; print(tempfile.mkdtemp())"]
    made = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert Path(made.strip()).is_relative_to(base)


@dataclass(frozen=True)
class Factory:
    """pytest's, as far as built_once asks it."""

    base: Path

    def getbasetemp(self) -> Path:
        return self.base

    def mktemp(self, name: str) -> Path:
        (self.base / f"{name}0").mkdir()
        return self.base / f"{name}0"


@pytest.mark.parametrize(
    ("base", "folder"), [("run/popen-gw1", "run/a"), ("other/pytest-7", "other/pytest-7/a")]
)
def test_workers_share_the_folder_of_their_run_and_no_other_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base: str, folder: str
) -> None:
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw1")
    (tmp_path / base).mkdir(parents=True)
    factory = cast(pytest.TempPathFactory, Factory(tmp_path / base))
    assert built_once(factory, "a", lambda made: None) == tmp_path / folder
