"""Files written aside: whole at their place, or as before."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from gviz.system.file_aside import FileAside, written_aside


def test_reader_finds_the_old_file_until_the_new_one_is_whole(tmp_path: Path) -> None:
    place = tmp_path / "x"
    place.write_text("old")
    with written_aside(place) as part:
        part.write_text("new, half of it")
        assert place.read_text() == "old"
        part.write_text("new")
    assert place.read_text() == "new"
    assert list(tmp_path.iterdir()) == [place]


def test_place_is_as_it_was_where_the_block_raises(tmp_path: Path) -> None:
    place = tmp_path / "x"
    place.write_text("old")

    def write_half() -> None:
        with written_aside(place) as part:
            part.write_text("new")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_half()
    assert place.read_text() == "old"
    assert list(tmp_path.iterdir()) == [place]


def test_what_a_killed_process_left_gives_neither_content_nor_permissions(tmp_path: Path) -> None:
    place, elsewhere = tmp_path / "x", tmp_path / "elsewhere"
    elsewhere.write_text("other")
    FileAside(place).path.symlink_to(elsewhere)
    with written_aside(place) as part:
        assert part.read_bytes() == b""
        assert stat.S_IMODE(part.lstat().st_mode) == 0o600
    assert not place.is_symlink()
    assert elsewhere.read_text() == "other"


def test_replaced_file_keeps_its_permissions_and_a_link_stays(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    place, link = folder / "x", tmp_path / "link"
    place.write_text("old")
    place.chmod(0o640)
    link.symlink_to(place)
    with written_aside(link) as part:
        part.write_text("new")
    assert link.is_symlink()
    assert (place.read_text(), stat.S_IMODE(place.stat().st_mode)) == ("new", 0o640)
    assert list(folder.iterdir()) == [place]


def test_pipe_is_written_as_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    aside = FileAside(pipe)
    with open(aside.make(), "w") as file:
        file.write("text")
    aside.place()
    aside.remove()
    reader.join(timeout=120)
    assert (read, list(tmp_path.iterdir())) == (["text"], [pipe])


@pytest.mark.parametrize("is_durable", [False, True])
@pytest.mark.parametrize("is_there", [False, True])
def test_content_is_on_the_disk_before_it_replaces_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_durable: bool, is_there: bool
) -> None:
    place = tmp_path / "x"
    if is_there:
        place.write_text("old")
    synced: list[str] = []
    monkeypatch.setattr(
        os, "fsync", lambda file: synced.append(os.readlink(f"/proc/self/fd/{file}"))
    )
    with written_aside(place, is_durable=is_durable) as part:
        part.write_text("new")
    assert synced == [str(part)] * (is_durable or is_there)
