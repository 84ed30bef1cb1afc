"""Opening and writing recordings: every bad input has its sentence and its exit code."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from bare_recordings import write_nothing

from gviz.errors import RecordingError
from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.recording.rows.versions import SCHEMA_VERSION
from gviz.recording.writer import RecordingWriter


@dataclass(frozen=True)
class BadInput:
    """A file that is no recording: how it is made, and what is said about it."""

    name: str
    make: Callable[[Path, bytes], None]
    says: str


def _alter(sql: str) -> Callable[[Path, bytes], None]:
    def make(path: Path, good: bytes) -> None:
        path.write_bytes(good)
        database = sqlite3.connect(path)
        database.execute(sql)
        database.commit()
        database.close()

    return make


def _foreign(path: Path, _: bytes) -> None:
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE run (name TEXT)")
    database.commit()
    database.close()


def _scrambled(path: Path, good: bytes) -> None:
    # The header page stays, so that the damage is met by SQLite and not by the header check.
    path.write_bytes(good[:100] + b"\xa5" * (len(good) - 100))


BAD_INPUTS = [
    BadInput("missing", lambda path, good: None, "there is no file"),
    BadInput("directory", lambda path, good: path.mkdir(), "is a directory; name a file in it"),
    BadInput("pipe", lambda path, good: os.mkfifo(path), "is a pipe; write what comes out of it"),
    BadInput("empty", lambda path, good: path.write_bytes(b"") and None, "not a gviz recording"),
    BadInput("text", lambda path, good: path.write_text("digraph {}") and None, "gviz import"),
    BadInput(
        "garbage", lambda path, good: path.write_bytes(bytes(range(256)) * 40) and None, "not"
    ),
    BadInput("header only", lambda path, good: path.write_bytes(good[:16]) and None, "cut short"),
    BadInput(
        "first page", lambda path, good: path.write_bytes(good[:4096]) and None, "no run and no"
    ),
    BadInput("scrambled", _scrambled, "damaged"),
    BadInput("other program's", _foreign, "another program"),
    BadInput("newer", _alter(f"PRAGMA user_version={SCHEMA_VERSION + 1}"), "pip install --upgrade"),
]


@pytest.fixture(params=BAD_INPUTS, ids=lambda bad: bad.name)
def bad_input(
    request: pytest.FixtureRequest, tmp_path: Path, small_recording: Path
) -> tuple[BadInput, Path]:
    """A bad input and the path it was made at."""
    bad: BadInput = request.param
    path = tmp_path / "bad.gviz"
    bad.make(path, small_recording.read_bytes())
    return bad, path


def test_recording_of_bad_input_raises_with_name_and_reason(
    bad_input: tuple[BadInput, Path],
) -> None:
    bad, path = bad_input
    with pytest.raises(RecordingError, match=bad.says) as caught:
        Recording(path)
    assert str(path) in str(caught.value)


def test_info_of_bad_input_exits_1_with_one_sentence(
    bad_input: tuple[BadInput, Path], gviz_here: Callable[..., object]
) -> None:
    bad, path = bad_input
    done = gviz_here("info", path)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("gviz: ")
    assert done.stderr.count("\n") == 1
    assert bad.says in done.stderr
    assert "Traceback" not in done.stderr


def test_newer_recording_error_names_both_versions(tmp_path: Path, small_recording: Path) -> None:
    path = tmp_path / "newer.gviz"
    _alter(f"PRAGMA user_version={SCHEMA_VERSION + 7}")(path, small_recording.read_bytes())
    with pytest.raises(RecordingError) as caught:
        Recording(path)
    assert f"schema {SCHEMA_VERSION + 7}" in str(caught.value)
    assert f"up to {SCHEMA_VERSION}" in str(caught.value)


def test_recording_in_read_only_folder_opens(tmp_path: Path, small_recording: Path) -> None:
    folder = tmp_path / "read only, with 100% odd?name"
    folder.mkdir()
    path = folder / "r.gviz"
    path.write_bytes(small_recording.read_bytes())
    path.chmod(0o444)
    folder.chmod(0o555)
    try:
        with Recording(path) as recording:
            assert [run.run_id for run in recording.fetch_runs()] == [1]
        assert [file.name for file in folder.iterdir()] == ["r.gviz"]
    finally:
        folder.chmod(0o755)


def _descriptors_of(path: Path) -> int:
    return sum(link.resolve() == path for link in Path("/proc/self/fd").iterdir())


def test_closed_recording_leaves_no_descriptor(tmp_path: Path, small_recording: Path) -> None:
    path = tmp_path / "own.gviz"
    path.write_bytes(small_recording.read_bytes())
    with Recording(path) as recording:
        recording.fetch_runs()
        assert _descriptors_of(path) == 1
    assert _descriptors_of(path) == 0


def test_refused_recording_leaves_no_descriptor(bad_input: tuple[BadInput, Path]) -> None:
    _, path = bad_input
    with pytest.raises(RecordingError) as caught:
        Recording(path)
    assert _descriptors_of(path) == 0, caught.value


def test_fetch_unknown_ids_raises_naming_them(small_recording: Path) -> None:
    with Recording(small_recording) as recording:
        with pytest.raises(RecordingError, match="no graph 99"):
            recording.fetch_graph(99)
        with pytest.raises(RecordingError, match="no launch 1234"):
            recording.fetch_launch(1234)


def test_recording_without_graphs_says_so(tmp_path: Path) -> None:
    with (
        Recording(write_nothing(tmp_path / "empty.gviz")) as recording,
        pytest.raises(RecordingError, match="has no graph at all; 'gviz info' says why"),
    ):
        recording.fetch_graph(1)


def test_spans_of_launch_and_of_graph_agree(small_recording: Path) -> None:
    with Recording(small_recording) as recording:
        everything = recording.fetch_graph_spans(1)
        per_launch = [
            recording.fetch_spans(launch.launch_id) for launch in recording.fetch_launches(1)
        ]
        assert sum(len(spans) for spans in per_launch) == len(everything)
        assert sum(int(s.duration_ns.sum()) for s in per_launch) == everything.duration_ns.sum()
        assert min(int(s.start_ns.min()) for s in per_launch if len(s)) == 0
        node = int(everything.node_id[5])
        durations = recording.fetch_node_durations(1, (1, node))
        assert durations.tolist() == everything.duration_ns[everything.node_id == node].tolist()


def test_spans_of_launch_without_node_times_are_empty(small_recording: Path) -> None:
    with Recording(small_recording) as recording:
        untimed = [x for x in recording.fetch_launches(1) if not x.node_level]
        assert untimed
        assert len(recording.fetch_spans(untimed[0].launch_id)) == 0


# -- writing -------------------------------------------------------------------------


def _run() -> rows.Run:
    return rows.Run(run_id=1, name="r", state="completed", source="profile")


def test_writer_leaves_nothing_when_the_block_raises(tmp_path: Path) -> None:
    def write_half() -> None:
        with RecordingWriter(tmp_path / "r.gviz") as writer:
            writer.insert(_run())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_half()
    assert list(tmp_path.iterdir()) == []


def test_writer_shows_nothing_before_it_is_finished(tmp_path: Path) -> None:
    path = tmp_path / "r.gviz"
    with RecordingWriter(path) as writer:
        writer.insert(_run())
        assert not path.exists()
    assert [file.name for file in tmp_path.iterdir()] == ["r.gviz"]
    with Recording(path) as recording:
        assert recording.fetch_runs() == [_run()]


def test_writer_commits_tables_and_rows_at_once(tmp_path: Path) -> None:
    path = write_nothing(tmp_path / "x.gviz")
    # The file change counter of SQLite's header: of all that is written, and of ANALYZE.
    assert int.from_bytes(path.read_bytes()[24:28], "big") == 2


def test_writer_refuses_an_existing_file_unless_overwrite_is_given(tmp_path: Path) -> None:
    path = tmp_path / "r.gviz"
    path.write_text("keep me")
    with pytest.raises(RecordingError, match="--overwrite"):
        RecordingWriter(path)
    assert path.read_text() == "keep me"
    with RecordingWriter(path, overwrite=True) as writer:
        writer.insert(_run())
    with Recording(path) as recording:
        assert len(recording.fetch_runs()) == 1


@pytest.mark.parametrize(
    ("place", "says"), [("", "is a directory"), ("no/such/folder/r.gviz", "there is no directory")]
)
def test_writer_refuses_a_bad_place(tmp_path: Path, place: str, says: str) -> None:
    with pytest.raises(RecordingError, match=says):
        RecordingWriter(tmp_path / place)


def test_writer_update_changes_only_the_keyed_rows(tmp_path: Path) -> None:
    path = tmp_path / "r.gviz"
    with RecordingWriter(path) as writer:
        writer.insert(_run(), rows.Run(run_id=2, name="s", state="recording", source="run"))
        writer.update(rows.Run, {"run_id": 2}, {"state": "aborted"})
        with pytest.raises(KeyError, match="colour"):
            writer.update(rows.Run, {"run_id": 2}, {"colour": "red"})
    with Recording(path) as recording:
        assert [run.state for run in recording.fetch_runs()] == ["completed", "aborted"]


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("count", [0, 1, 142, 143, 142 * 401 + 5])
def test_columns_are_written_as_their_rows(tmp_path: Path, count: int, backwards: bool) -> None:
    # 142 spans fill a statement, 400 statements a piece of the columns.
    columns = tuple(np.arange(count, dtype=np.int64) * 10 + i for i in range(7))
    order = np.arange(count)[::-1] if backwards else None
    with RecordingWriter(tmp_path / "r.gviz") as writer:
        writer.insert_columns(rows.Span, columns, order)
    with sqlite3.connect(tmp_path / "r.gviz") as database:
        found = database.execute("SELECT * FROM span ORDER BY launch_id").fetchall()
    assert found == [tuple(10 * at + i for i in range(7)) for at in range(count)]


def test_columns_are_written_in_the_given_order(tmp_path: Path) -> None:
    number = np.arange(200, dtype=np.int64)
    order = (number * 7 % 200).astype(np.intp)
    with RecordingWriter(tmp_path / "r.gviz") as writer:
        written: list[str] = []
        writer._db.set_trace_callback(written.append)
        writer.insert_columns(rows.NvtxRange, (number,) * 6, order)
    values = "".join(x for x in written if x.startswith("INSERT INTO nvtx_range"))
    found = [int(x.partition(",")[0]) for x in values.split("(")[1:]]
    assert found == order.tolist()


@pytest.mark.parametrize("side", ["graph", "stream"])
def test_launch_durations_are_those_of_the_rows_that_have_them(
    small_recording: Path, side: str
) -> None:
    with Recording(small_recording) as recording:
        launches = recording.fetch_launches(1, side)
        found = {
            measure: recording.fetch_launch_durations(1, side, measure).tolist()
            for measure in ("host", "gpu", "event")
        }
        counts = recording.count_launches(1, side)
    assert counts == (len(launches), sum(launch.node_level for launch in launches))
    assert found["host"] == [x.host_end_ns - x.host_start_ns for x in launches]
    assert found["gpu"] == [
        x.gpu_end_ns - x.gpu_start_ns for x in launches if x.gpu_start_ns is not None
    ]
    assert found["event"] == [
        x.event_duration_ns for x in launches if x.event_duration_ns is not None
    ]


def test_file_that_the_disk_does_not_give_is_refused_in_a_sentence(
    small_recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Recording(small_recording):
        pass  # it is sound: that is looked at no more

    def fail(*given: object, **named: object) -> sqlite3.Connection:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(sqlite3, "connect", fail)
    with pytest.raises(RecordingError, match="cannot be read now: disk I/O error"):
        Recording(small_recording)


def test_graph_without_launches_counts_none(small_recording: Path) -> None:
    with Recording(small_recording) as recording:
        assert recording.count_launches(99) == (0, 0)
        assert len(recording.fetch_launch_durations(99, "graph", "host")) == 0
