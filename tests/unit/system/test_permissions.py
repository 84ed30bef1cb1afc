"""Files of gviz: for their owner alone, unless others are wished."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from gviz.errors import UsageError
from gviz.system.permissions import MODE_VARIABLE, create_file, create_folder, mode_for, parse_mode


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(("text", "mode"), [("0640", 0o640), ("600", 0o600), ("0664", 0o664)])
def test_octal_digits_are_permissions(text: str, mode: int) -> None:
    assert parse_mode(text) == mode


@pytest.mark.parametrize("text", ["", "640x", "0o640", "0440", "06400", "rw", "689"])
def test_what_is_no_permissions_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="0640"):
        parse_mode(text)


def test_new_file_is_private_and_a_replaced_one_keeps_its_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.gviz"
    assert mode_for(path) == 0o600
    path.touch()
    path.chmod(0o664)
    assert mode_for(path) == 0o664
    monkeypatch.setenv(MODE_VARIABLE, "0640")
    assert mode_for(path) == 0o640


def test_file_gets_its_mode_whatever_the_umask(tmp_path: Path) -> None:
    path = tmp_path / "x"
    before = os.umask(0o077)
    try:
        os.close(create_file(path, 0o664))
    finally:
        os.umask(before)
    assert _mode(path) == 0o664
    with open(create_file(path), "w") as file:
        file.write("new")
    assert (_mode(path), path.read_text()) == (0o600, "new")


@pytest.mark.parametrize(("wished", "mode"), [(None, 0o700), ("0640", 0o750), ("0664", 0o775)])
def test_folder_is_entered_by_who_may_read_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wished: str | None, mode: int
) -> None:
    if wished is not None:
        monkeypatch.setenv(MODE_VARIABLE, wished)
    before = os.umask(0o022)
    try:
        create_folder(tmp_path / "new")
    finally:
        os.umask(before)
    assert _mode(tmp_path / "new") == mode
    (tmp_path / "there").mkdir()
    (tmp_path / "there").chmod(0o711)
    create_folder(tmp_path / "there")
    assert _mode(tmp_path / "there") == 0o711
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        create_folder(tmp_path / "file")


def test_what_is_no_regular_file_stays_as_it_is() -> None:
    null = Path("/dev/null")
    before = _mode(null)
    os.close(create_file(null))
    assert _mode(null) == before
    assert mode_for(null) == 0o600
