"""Folders that all workers share are built once, also where the first that tries fails."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from built_once import built_once


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
