"""Files of gviz: for their owner alone, unless others are wished."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from gviz.errors import UsageError
from gviz.system.permissions import MODE_VARIABLE, create_file, mode_for, parse_mode


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


def test_what_is_no_regular_file_stays_as_it_is() -> None:
    null = Path("/dev/null")
    before = _mode(null)
    os.close(create_file(null))
    assert _mode(null) == before
    assert mode_for(null) == 0o600
