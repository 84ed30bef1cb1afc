"""Recordings of every older schema: named when read, and upgraded without loss."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from everything import show_everything
from places import TESTS

from gviz.cli.command_line import main
from gviz.errors import RecordingError
from gviz.recording import writer
from gviz.recording.identity import read_version
from gviz.recording.reader import Recording
from gviz.recording.rows.schema import all_tables
from gviz.recording.rows.tables import Table
from gviz.recording.rows.versions import SCHEMA_VERSION
from gviz.recording.upgrades import upgrade
from gviz.recording.upgrades.old_tables import OldTables
from gviz.recording.upgrades.upgrade import default_of, upgrade_recording

FROZEN = TESTS / "golden" / "recordings"
VERSIONS = range(1, SCHEMA_VERSION)
#: Tables whose rows are others in the current schema.
CHANGED = {"launch", "launch_block", "measurement", "node_statistics", "span"}
#: A name of a graph or program in each frozen file.
SHOWN = {
    1: "CuPy fork-join pipeline",
    2: "CuPy fork-join pipeline",
    3: "CONDITIONAL WHILE",
    4: "CuPy fork-join pipeline",
    5: "CuPy fork-join pipeline",
    6: "CuPy fork-join pipeline",
    7: "CuPy fork-join pipeline",
    8: "CuPy fork-join pipeline",
    9: "CuPy fork-join pipeline",
}


def frozen(version: int) -> Path:
    return FROZEN / f"schema_{version}.gviz"


@pytest.fixture(params=VERSIONS, ids="schema {}".format)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of the frozen recording of an older schema."""
    path = tmp_path / "old.gviz"
    path.write_bytes(frozen(request.param).read_bytes())
    return path


def test_view_that_never_ends_is_no_table(tmp_path: Path) -> None:
    path = tmp_path / "old.gviz"
    path.write_bytes(frozen(5).read_bytes())
    with sqlite3.connect(path) as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(edge)")]
        named = ", ".join(f"x AS {column}" for column in columns)
        database.execute("DROP TABLE edge")
        database.execute(
            "CREATE VIEW edge AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) "
            f"SELECT {named} FROM n"
        )
    database.close()
    upgrade_recording(path, tmp_path / "new.gviz")
    with sqlite3.connect(tmp_path / "new.gviz") as upgraded:
        assert upgraded.execute("SELECT count(*) FROM edge").fetchone() == (0,)
    upgraded.close()


@pytest.fixture
def one(tmp_path: Path) -> Path:
    """A copy of the recording of schema 1."""
    path = tmp_path / "one.gviz"
    path.write_bytes(frozen(1).read_bytes())
    return path


def tables(path: Path) -> dict[str, list[str]]:
    """Return the columns of every table of a file."""
    with sqlite3.connect(path) as database:
        names = database.execute(
            "SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
        found = {
            name: [row[1] for row in database.execute(f"PRAGMA table_info({name})")]
            for (name,) in names
        }
    database.close()
    return found


def content(path: Path, of: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the rows of these tables and columns, in one order."""
    with sqlite3.connect(path) as database:
        found = {
            name: sorted(map(repr, database.execute(f"SELECT {', '.join(columns)} FROM {name}")))
            for name, columns in of.items()
        }
    database.close()
    return found


# -- the frozen files ------------------------------------------------------------------------------


@pytest.mark.parametrize("version", VERSIONS)
def test_every_older_schema_has_a_frozen_file_of_that_version(version: int) -> None:
    assert frozen(version).exists(), f"see {FROZEN / 'README.md'}"
    assert read_version(frozen(version)) == version
    assert f"schema_{version}.gviz" in (FROZEN / "README.md").read_text()


def test_there_is_no_other_frozen_file() -> None:
    assert sorted(FROZEN.glob("*.gviz")) == [frozen(version) for version in VERSIONS]


def test_every_column_since_a_frozen_schema_has_a_value_for_old_rows() -> None:
    for version in VERSIONS:
        had = tables(frozen(version))
        for table in all_tables():
            if table.name not in had or table.name == "span":
                continue
            for column in table.columns:
                if column.name not in had[table.name]:
                    default = default_of(table, column)
                    assert default is not None or column.nullable, f"{table.name}.{column.name}"


# -- reading and upgrading -------------------------------------------------------------------------


def test_older_recording_names_the_command(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RecordingError, match=f"gviz upgrade {old}"):
        Recording(old)
    assert main(["info", str(old)]) == 1
    assert f"gviz upgrade {old}" in capsys.readouterr().err


def test_upgrade_keeps_every_row_and_column(old: Path, tmp_path: Path) -> None:
    had = tables(old)
    output = tmp_path / "new.gviz"
    before = old.read_bytes()
    upgrade_recording(old, output)
    assert old.read_bytes() == before
    # What steps change is compared in the tests of these steps.
    same = {name: had[name] for name in had if name not in CHANGED}
    assert content(output, same) == content(old, same)


def test_upgraded_recording_has_the_shape_of_a_new_one(old: Path, tmp_path: Path) -> None:
    upgrade_recording(old, old)
    with writer.RecordingWriter(tmp_path / "empty.gviz"):
        pass
    assert read_version(old) == SCHEMA_VERSION
    new, ours = tables(old), tables(tmp_path / "empty.gviz")
    assert new == ours


def test_everything_of_an_upgraded_recording_is_shown(
    old: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    version = read_version(old)
    assert main(["upgrade", str(old)]) == 0
    shown = show_everything(old)
    assert SHOWN[version] in shown
    assert "NVIDIA H100" in capsys.readouterr().out


# -- in place and elsewhere ------------------------------------------------------------------------


def test_upgrade_in_place_keeps_permissions_and_leaves_nothing_else(
    one: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one.chmod(0o640)
    assert main(["upgrade", str(one)]) == 0
    assert capsys.readouterr().err == f"gviz: {one}: schema 1 -> {SCHEMA_VERSION}\n"
    assert stat.S_IMODE(one.stat().st_mode) == 0o640
    assert os.listdir(one.parent) == [one.name]
    assert main(["upgrade", str(one)]) == 0, "again is fine: a whole folder can be given"
    assert "already" in capsys.readouterr().err


def test_upgrade_through_a_link_replaces_the_file_and_not_the_link(
    one: Path, tmp_path: Path
) -> None:
    (tmp_path / "sub").mkdir()
    link = tmp_path / "sub" / "link.gviz"
    link.symlink_to(one)
    assert main(["upgrade", str(link)]) == 0
    assert link.is_symlink()
    assert read_version(one) == SCHEMA_VERSION


def test_output_keeps_the_old_file(one: Path, tmp_path: Path) -> None:
    before = one.read_bytes()
    assert main(["upgrade", str(one), "-o", str(tmp_path / "new.gviz")]) == 0
    assert one.read_bytes() == before
    assert read_version(tmp_path / "new.gviz") == SCHEMA_VERSION


def test_output_that_exists_is_not_replaced_unless_requested(
    one: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "new.gviz"
    output.write_text("precious")
    assert main(["upgrade", str(one), "-o", str(output)]) == 1
    assert "--overwrite" in capsys.readouterr().err
    assert output.read_text() == "precious"
    assert main(["upgrade", str(one), "-o", str(output), "--overwrite"]) == 0
    assert read_version(output) == SCHEMA_VERSION


def test_output_that_is_the_file_itself_is_in_place(one: Path) -> None:
    same = one.parent / "." / one.name
    assert main(["upgrade", str(one), "-o", str(same)]) == 0
    assert read_version(one) == SCHEMA_VERSION


def test_output_takes_one_recording(one: Path, tmp_path: Path) -> None:
    assert main(["upgrade", str(one), str(one), "-o", str(tmp_path / "new.gviz")]) == 2


# -- what cannot be upgraded -----------------------------------------------------------------------


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-4096])


def _scramble(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for page in range(4096 * 3, len(content), 4096):
        content[page : page + 3000] = b"\xa5" * 3000
    path.write_bytes(content)


def _newer(path: Path) -> None:
    _sql(path, f"PRAGMA user_version={SCHEMA_VERSION + 1}")


def _sql(path: Path, statement: str) -> None:
    with sqlite3.connect(path) as database:
        database.executescript(statement)
    database.close()


def _no_utf8(path: Path) -> None:
    content = path.read_bytes()
    assert b"CREATE TABLE launch" in content
    path.write_bytes(content.replace(b"CREATE TABLE launch", b"CREATE\xe6TABLE launch"))


BAD = {
    "missing": (Path.unlink, "there is no file"),
    "directory": (lambda path: (path.unlink(), path.mkdir()), "is a directory; name a file in it"),
    "text": (lambda path: path.write_text("digraph {}"), "not a gviz recording"),
    "cut": (_cut, "cut short"),
    "scrambled": (_scramble, "damaged"),
    "newer": (_newer, "pip install --upgrade"),
    "without runs": (lambda path: _sql(path, "DROP TABLE run"), "damaged: it has no runs"),
    "without launches": (
        lambda path: _sql(path, "DROP TABLE launch"),
        "damaged: its table launch is missing",
    ),
    "schema that is no text": (_no_utf8, "damaged: 'utf-8' codec can't decode"),
    "foreign": (lambda path: _sql(path, "PRAGMA application_id=7"), "another program"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_file_is_one_sentence_and_stays_as_it_is(
    one: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    make, says = BAD[name]
    make(one)
    before = one.read_bytes() if one.is_file() else None
    code = main(["upgrade", str(one)])
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("gviz: ")
    assert says in line
    assert code == 1
    assert (one.read_bytes() if one.is_file() else None) == before
    assert [p.name for p in one.parent.iterdir() if p != one] == []


def test_numbers_that_are_texts_are_damage(tmp_path: Path) -> None:
    path = tmp_path / "old.gviz"
    path.write_bytes(frozen(3).read_bytes())
    _sql(path, "UPDATE launch_block SET count = 'x'")
    with pytest.raises(RecordingError, match="damaged: a block of 'x' launches holds others"):
        upgrade_recording(path, tmp_path / "new.gviz")


def test_of_several_files_the_good_ones_are_upgraded(
    one: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad, good = tmp_path / "bad.gviz", tmp_path / "good.gviz"
    bad.write_text("no recording")
    good.write_bytes(one.read_bytes())
    assert main(["upgrade", str(one), str(bad), str(good)]) == 1
    assert [read_version(p) for p in (one, good)] == [SCHEMA_VERSION] * 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert "bad.gviz is not a gviz recording" in lines[1]


@pytest.mark.parametrize(
    ("table", "column"), [("launch_block", "count"), ("launch", "ordinal")], ids=["room", "copy"]
)
def test_column_that_is_missing_is_damage(tmp_path: Path, table: str, column: str) -> None:
    path = tmp_path / "old.gviz"
    path.write_bytes(frozen(3).read_bytes())
    _sql(path, f"PRAGMA legacy_alter_table=ON; ALTER TABLE {table} RENAME COLUMN {column} TO other")
    with pytest.raises(RecordingError, match=r"is damaged: .*; copy it again"):
        upgrade_recording(path, tmp_path / "new.gviz")


def test_schema_that_is_no_utf8_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "old.gviz"
    path.write_bytes(frozen(3).read_bytes().replace(b"ordinal INTEGER", b"ordinal INTEGE\xff"))
    assert b"INTEGE\xff" in path.read_bytes()
    with pytest.raises(RecordingError, match="is damaged: Could not decode"):
        upgrade_recording(path, tmp_path / "new.gviz")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_that_cannot_be_written_is_one_sentence(
    one: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one.parent.chmod(0o500)
    try:
        assert main(["upgrade", str(one)]) == 1
        assert "no permission to write in" in capsys.readouterr().err
    finally:
        one.parent.chmod(0o700)


def test_full_disk_is_reported_as_such_and_nothing_is_lost(
    one: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    before = one.read_bytes()
    monkeypatch.setattr(upgrade, "_copy", full)
    assert main(["upgrade", str(one)]) == 1
    assert "disk is full; make room" in capsys.readouterr().err
    assert one.read_bytes() == before
    assert os.listdir(one.parent) == [one.name]


def test_interrupt_loses_nothing(one: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = one.read_bytes()
    monkeypatch.setattr(upgrade, "_copy", interrupt)
    assert main(["upgrade", str(one)]) == 130
    assert one.read_bytes() == before
    assert os.listdir(one.parent) == [one.name]


#: Upgrades its argument and is killed at the first call of the function that it is told.
KILLED = """
import os, signal, sys
from gviz.cli.command_line import main
from gviz.recording.upgrades import upgrade
def kill(*_): os.kill(os.getpid(), signal.SIGKILL)
places = {"copy": (upgrade, "_copy"), "sync": (os, "fsync"), "replace": (os, "replace")}
place, name = places[sys.argv[1]]
setattr(place, name, kill)
main(["upgrade", sys.argv[2]])
"""


@pytest.mark.parametrize("where", ["copy", "sync", "replace"])
def test_killed_upgrade_leaves_the_old_file_and_can_be_done_again(one: Path, where: str) -> None:
    before = one.read_bytes()
    done = subprocess.run([sys.executable, "-P", "-c", KILLED, where, str(one)], check=False)
    assert done.returncode == -9
    assert one.read_bytes() == before
    assert main(["upgrade", str(one)]) == 0
    assert read_version(one) == SCHEMA_VERSION
    assert os.listdir(one.parent) == [one.name]


def test_replacing_a_recording_waits_until_the_new_one_is_on_the_disk(
    one: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []

    def noted(name: str, function: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object) -> object:
            order.append(name)
            return function(*arguments)

        return call

    monkeypatch.setattr(os, "fsync", noted("sync", os.fsync))
    monkeypatch.setattr(os, "replace", noted("replace", os.replace))
    upgrade_recording(one, one)
    assert order == ["sync", "replace"]


# -- before and after ------------------------------------------------------------------------------


@pytest.mark.parametrize("elsewhere", [False, True], ids=["in place", "to another file"])
def test_disk_without_room_is_refused_before_anything_is_written(
    one: Path,
    tmp_path: Path,
    elsewhere: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    free = one.stat().st_size  # as much as the old file has is not enough
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(9, 9, free))
    monkeypatch.setattr(writer.sqlite3, "connect", _refuse_writing(sqlite3.connect))
    before = one.read_bytes()
    output = ["-o", str(tmp_path / "new.gviz")] if elsewhere else []
    assert main(["upgrade", str(one), *output]) == 1
    assert re.search(rf"has {free:,} bytes free and [\d,]+ are needed", capsys.readouterr().err)
    assert one.read_bytes() == before
    assert os.listdir(one.parent) == [one.name]


def _refuse_writing(connect: Callable[..., sqlite3.Connection]) -> Callable[..., Any]:
    def checked(name: object, **options: object) -> sqlite3.Connection:
        assert ".part" not in str(name), "nothing may be written"
        return connect(name, **options)

    return checked


def test_recording_that_lost_rows_does_not_replace_the_old_one(
    one: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = upgrade._copy

    def lossy(old: OldTables, table: Table) -> None:
        copy(old, table)
        if table.name == "span":
            old.database.execute("DELETE FROM main.span WHERE launch_id = 1")

    before = one.read_bytes()
    monkeypatch.setattr(upgrade, "_copy", lossy)
    assert main(["upgrade", str(one)]) == 1
    stated = capsys.readouterr().err
    assert "is left as it is" in stated
    assert re.search(r"span has [\d,]+ rows of [\d,]+", stated)
    assert one.read_bytes() == before
    assert os.listdir(one.parent) == [one.name]
