"""Paths that are no file, given to every command that takes one: a sentence, never a traceback."""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest
from recordings import fork_join_shape, write_loop_recording, write_recording

from gviz.analysis import analyze
from gviz.cli import command_line as cli
from gviz.cli.recording_path import file_path, find_recordings, find_sources
from gviz.recording import Recording, run_query
from gviz.recording.salvage import sound_copy, soundness
from gviz.system import QUIET_VARIABLE

#: Command lines with a place for a path, by command and by what argparse calls the place.
#: ``good`` is a recording.
LINES = {
    "analyze": {
        "recording": "{bad}",
        "config": "good --config {bad}",
        "costs": "good --costs {bad}",
    },
    "bench": {"output": "-o {bad}"},
    "check": {
        "recording": "{bad} --baseline good",
        "baseline": "good --baseline {bad}",
        "config": "good --config {bad}",
        "junit": "good --baseline good --junit {bad}",
        "markdown": "good --baseline good --markdown {bad}",
    },
    "demo": {
        "to": "--to {bad}",
        "config": "--no-browser --config {bad}",
        "socket": "--no-browser --socket {bad}",
        "overlay": "--no-browser --overlay {bad}",
    },
    "diff": {"before": "{bad} good", "after": "good {bad}", "more": "good good {bad}"},
    "export": {
        "recording": "{bad}",
        "baseline": "good --html -o new.html --baseline {bad}",
        "output": "good -o {bad}",
        "overlay": "good --html -o new.html --overlay {bad}",
    },
    "import": {"files": "{bad}", "output": "good -o {bad}"},
    "info": {"recording": "{bad}"},
    "merge": {"recordings": "good {bad} -o new.gviz", "output": "good good -o {bad}"},
    "node": {"recording": "{bad} 0"},
    "query": {"recording": "{bad} SELECT"},
    "recover": {"source": "{bad}", "output": "good -o {bad}"},
    "run": {"output": "-o {bad} true"},
    "skew": {"recording": "{bad}"},
    "top": {"recording": "{bad} --once"},
    "trend": {"recordings": "good {bad}"},
    "upgrade": {"recording": "{bad}", "output": "good -o {bad}"},
    "view": {
        "file": "--no-browser good {bad}",
        "config": "--no-browser good --config {bad}",
        "socket": "--no-browser good --socket {bad}",
        "overlay": "--no-browser good --overlay {bad}",
    },
    # A folder would be served until the client ends: no port has that number.
    "mcp": {"file": "--http --port 99999 {bad}"},
    "values": {"recording": "{bad}"},
    "what-if": {"recording": "{bad}"},
}
#: The same places, in forms that read or write in another way.
MORE = {
    "export": [
        *(f"{{bad}} --format {form}" for form in ("html", "perfetto", "svg", "csv", "parquet")),
        *(f"good -o {{bad}} --format {form}" for form in ("html", "perfetto", "svg")),
    ],
    "info": ["{bad} --json"],
    "query": ["{bad}"],
    "upgrade": ["good {bad}"],
}
ALL = [
    pytest.param(command, line, id=f"{command} {line}")
    for command in LINES
    for line in [*LINES[command].values(), *MORE.get(command, [])]
]
#: Folders, some without a name of their own; a name too long; below a file; nothing to be read.
NO_FILES = ["", ".", "/", "..", "folder", "x" * 300, "good/file", "/proc/self/mem"]


def _path_actions(command: str) -> list[argparse.Action]:
    parser = cli.build_parser(command)
    (commands,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    own = cast(argparse.ArgumentParser, commands.choices[command])
    return [action for action in own._actions if action.type in (Path, file_path)]


@pytest.fixture
def folder(tmp_path: Path, small_recording: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that holds a recording and another folder."""
    shutil.copy(small_recording, tmp_path / "good")
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_every_path_of_a_command_is_tried(command: str) -> None:
    actions = _path_actions(command)
    assert {action.dest for action in actions} == set(LINES.get(command, {}))
    assert {action.type for action in actions} <= {file_path}


@pytest.mark.parametrize("path", NO_FILES)
@pytest.mark.parametrize(("command", "line"), ALL)
def test_what_is_no_file_is_refused_in_a_sentence(
    command: str, line: str, path: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(folder.rglob("*"))
    arguments = [path if word == "{bad}" else word for word in line.split()]
    try:
        code = cli.main([command, *arguments])
    except SystemExit as usage:
        code = cast(int, usage.code)
    stated = capsys.readouterr().err
    assert code in (1, 2), stated
    assert stated.splitlines()[-1].startswith("gviz"), stated
    assert sorted(folder.rglob("*")) == before


#: Commands that read a recording, by their arguments.
READING = (
    "info {bad}", "analyze {bad}", "what-if {bad}", "node {bad} 1002", "values {bad}",
    "query {bad} SELECT+1", "diff {bad} good.gviz", "diff good.gviz {bad}",
    "trend {bad} good.gviz", "check {bad} --baseline good.gviz", "check good.gviz --baseline {bad}",
    "export {bad}", "export {bad} --format svg -o new.svg", "info {bad} --json --quiet",
)  # fmt: skip


@pytest.fixture
def damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that holds a recording and one of which a launch is damaged."""
    good = write_recording(tmp_path / "good.gviz", fork_join_shape(), launches=4)
    bad = Path(shutil.copy(good, tmp_path / "bad.gviz"))
    with closing(sqlite3.connect(bad)) as database, database:
        database.execute("PRAGMA ignore_check_constraints=ON")
        database.execute("UPDATE launch SET graph_id='?' WHERE launch_id=1")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(QUIET_VARIABLE, "0")  # --quiet sets it for the process
    return bad


@pytest.mark.parametrize("line", READING)
def test_every_reader_reports_what_it_cannot_read(
    line: str, damaged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [word.replace("+", " ").format(bad=damaged.name) for word in line.split()]
    assert cli.main(arguments) == 0
    stated = capsys.readouterr().err.splitlines()
    (sentence,) = [one for one in stated if "damaged" in one]
    assert re.fullmatch(r"gviz: bad\.gviz: the file was damaged: .*1 launch.* left out", sentence)


def test_recovered_file_is_still_known_to_lack_rows(
    damaged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["recover", damaged.name]) == 3
    capsys.readouterr()
    assert cli.main(["query", "bad.recovered.gviz", "SELECT 1"]) == 0
    assert capsys.readouterr().err.startswith("gviz: bad.recovered.gviz: the file was damaged: ")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: path.write_bytes(b""), "is empty, not a gviz recording; copy or record"),
        (lambda path: path.symlink_to("away"), "is a link to away, which is not there"),
        (lambda path: path.write_text("hello"), "'gviz import' makes one of another profiler's"),
    ],
    ids=["empty", "link", "text"],
)
def test_what_is_no_recording_is_named_for_what_it_is(
    make: Callable[[Path], object], sentence: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(folder / "x.gviz")
    assert cli.main(["info", "x.gviz"]) == 1
    stated = capsys.readouterr().err
    assert stated.startswith("gviz: x.gviz is ")
    assert sentence in stated


@pytest.mark.parametrize("name", ["good/x.gviz", "away/x.gviz"])
def test_recover_refuses_a_file_that_is_not_there_and_not_its_output(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["recover", name]) == 1
    assert capsys.readouterr().err.startswith(f"gviz: there is no file {name}; ")


def test_folder_means_the_recordings_in_it(tmp_path: Path, small_recording: Path) -> None:
    for name in ("b.gviz", "a.gviz", "c.html"):
        shutil.copy(small_recording, tmp_path / name)
    (tmp_path / "deeper").mkdir()
    shutil.copy(small_recording, tmp_path / "deeper/d.gviz")
    other = tmp_path / "c.html"
    assert find_recordings([other, tmp_path]) == [other, tmp_path / "a.gviz", tmp_path / "b.gviz"]
    assert find_sources([tmp_path]) == find_recordings([tmp_path])


@pytest.mark.parametrize("command", ["trend", "merge", "skew", "view"])
def test_folder_without_recordings_is_refused(
    command: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["-o", "new.gviz"] if command == "merge" else []
    assert cli.main([command, "folder", *more]) == 1
    assert "folder has no *.gviz in it; name another folder, or a file" in capsys.readouterr().err


def test_trend_of_a_folder_is_that_of_its_files(
    tmp_path: Path, small_recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [shutil.copy(small_recording, tmp_path / name) for name in ("a.gviz", "b.gviz")]
    assert cli.main(["trend", *map(str, paths)]) == 0
    by_name = capsys.readouterr().out
    assert cli.main(["trend", str(tmp_path)]) == 0
    assert capsys.readouterr().out == by_name


def _damage_late(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a file's node times wrong where they are checked only when they are read."""
    monkeypatch.setattr(soundness, "_MOST_SPANS", 1)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE span SET duration_ns = 'x' WHERE iteration = 0")


def test_damage_that_shows_when_a_file_is_read_is_said_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = (write_loop_recording(tmp_path / f"{x}.gviz") for x in ("before", "after"))
    _damage_late(after, monkeypatch)
    assert cli.main(["diff", str(before), str(after)]) == 0
    said = capsys.readouterr().err
    sentence = "the file was damaged: 4 node times unreadable, left out"
    assert said.count(f"gviz: {after}: {sentence}\n") == 1
    assert str(before) not in said


def test_damage_of_another_commands_file_is_not_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # The program itself has read it: commands can be called in one process, one after the other.
    before, after = (write_loop_recording(tmp_path / f"{x}.gviz") for x in ("before", "after"))
    _damage_late(after, monkeypatch)
    with Recording(after) as recording:
        analyze(recording)
    assert cli.main(["diff", str(before), str(before)]) == 0
    assert str(after) not in capsys.readouterr().err


def test_query_of_a_file_that_shows_damage_reads_what_is_sound_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_loop_recording(tmp_path / "x.gviz")
    whole = run_query(path, "SELECT count(*) FROM node", most_rows=None, seconds=60)
    _malform_root(path, "span")
    monkeypatch.setattr(sound_copy, "is_sound_file", lambda path, progress: True)
    with pytest.raises(sqlite3.DatabaseError), closing(sqlite3.connect(path)) as database:
        database.execute("SELECT sum(duration_ns) FROM span").fetchall()
    sql = "SELECT count(*) AS n, (SELECT count(duration_ns) FROM span) FROM node"
    assert cli.main(["query", str(path), sql, "--json"]) == 0
    found = capsys.readouterr()
    ((nodes, spans),) = json.loads(found.out)["rows"]
    assert (nodes, spans) == (whole.rows[0][0], 0)
    assert f"gviz: {path}: the file was damaged: " in found.err


def _malform_root(path: Path, table: str) -> None:
    """Make the first page of a table one that SQLite cannot read."""
    with closing(sqlite3.connect(path)) as database:
        (page,) = database.execute("SELECT rootpage FROM sqlite_master WHERE name=?", (table,))
        (size,) = database.execute("PRAGMA page_size").fetchone()
    with path.open("r+b") as file:
        file.seek((page[0] - 1) * size)
        file.write(b"\xff" * 64)
