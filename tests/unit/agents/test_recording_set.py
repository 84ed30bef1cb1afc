"""The set of recordings: what lies in it by name, and no way to anything else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gviz.agents import RecordingSet
from gviz.errors import GvizError, RecordingError


def test_folder_shows_what_comes_later(tmp_path: Path, small_recording: Path) -> None:
    recordings = RecordingSet([tmp_path])
    assert recordings.files() == {}
    shutil.copy(small_recording, tmp_path / "later.gviz")
    assert recordings.find(None) == ("later.gviz", (tmp_path / "later.gviz").resolve())


def test_names_are_told_apart(tmp_path: Path, small_recording: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        shutil.copy(small_recording, tmp_path / folder / "run.gviz")
    files = RecordingSet([tmp_path / "a", tmp_path / "b"]).files()
    assert list(files) == ["run.gviz", "run-2.gviz"]


@pytest.mark.parametrize("name", ["../other.gviz", "/etc/passwd", "other.gviz", "", "run.gviz\0"])
def test_nothing_outside_is_found(tmp_path: Path, small_recording: Path, name: str) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    shutil.copy(small_recording, inside / "run.gviz")
    shutil.copy(small_recording, tmp_path / "other.gviz")
    (inside / "link.gviz").symlink_to(tmp_path / "other.gviz")
    recordings = RecordingSet([inside])
    assert list(recordings.files()) == ["run.gviz"]
    with pytest.raises(GvizError, match="no recording here has that name"):
        recordings.find(name)


def test_place_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="there is no"):
        RecordingSet([tmp_path / "nothing.gviz"])


def test_what_is_derived_is_kept_until_the_file_changes(
    tmp_path: Path, small_recording: Path
) -> None:
    path = tmp_path / "run.gviz"
    shutil.copy(small_recording, path)
    recordings = RecordingSet([path])
    built: list[int] = []

    def build(recording: object) -> int:
        built.append(1)
        return len(built)

    assert [recordings.once(path, ("x",), build) for _ in range(2)] == [1, 1]
    path.write_bytes(path.read_bytes() + b"\0" * 4096)
    path.write_bytes(small_recording.read_bytes())
    assert recordings.once(path, ("x",), build) == 2
