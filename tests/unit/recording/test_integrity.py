"""Recordings that gviz did not write like that: what is damaged in them is left out."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from memory_recordings import write_memory_recording
from recordings import fork_join_shape, write_loop_recording, write_recording

from gviz.analysis.analysis import analysis_to_json, analyze
from gviz.app.files.library import Library
from gviz.app.views.graph_data import graph_view, launches_with_times
from gviz.app.views.payload import level_memory_payload
from gviz.errors import RecordingError
from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.recording.rows.schema import all_tables
from gviz.recording.rows.value_ranges import MOST_BYTES, number_range, value_range
from gviz.recording.salvage import DAMAGE, soundness
from gviz.recording.writer import RecordingWriter
from gviz.report.info.recording_document import info_document
from gviz.report.renderers import render_text
from gviz.report.summary import summarize

_ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    return write_loop_recording(tmp_path / "x.gviz")


def change(path: Path, *statements: str) -> None:
    with sqlite3.connect(path) as database:
        for statement in statements:
            database.execute(statement)
    database.close()


def _twice(table: str) -> tuple[str, ...]:
    """Return what makes each row of a table stand in it twice, as only damage can."""
    return (
        "PRAGMA legacy_alter_table=ON",  # views that name the table do not matter
        f"CREATE TABLE other AS SELECT * FROM {table} UNION ALL SELECT * FROM {table}",
        f"DROP TABLE {table}",
        f"ALTER TABLE other RENAME TO {table}",
    )


#: What is lost with the node that they are about.
_NODE = "1 node, 1 node time and 1 summary of a node"
#: Statements that damage the loop recording, and what is said to be lost of it.
_DAMAGE_OF_LOOP = [
    (("DROP TABLE span",), "1 table"),
    (("ALTER TABLE node DROP COLUMN priority",), "1 column"),
    (("DROP TABLE note", f"CREATE VIEW note AS {_ENDLESS} SELECT x AS note_id FROM n"), "1 table"),
    (("UPDATE graph SET topology_id = 77",), "2 values"),
    (("UPDATE node SET function_id = -1",), "5 values"),
    (("DELETE FROM run",), "1 run"),
    (("DELETE FROM launch",), ""),
    (
        ("UPDATE graph SET parent_graph_id = 2 WHERE graph_id = 2",),
        "1 graph, 2 nodes, 10 node times and 2 summaries of nodes",
    ),
    (_twice("run"), "1 run"),
    (_twice("graph"), "2 graphs"),
    (("UPDATE node SET name = x'ff00' WHERE node_id = 1001",), _NODE),
    (("UPDATE node SET type = 'kernel' WHERE node_id = 1001",), _NODE),
    (("UPDATE node SET type = '1x' WHERE node_id = 1001",), _NODE),
    (("UPDATE node SET grid_x = ''",), "5 values"),
    (("UPDATE graph SET name = 5",), ""),  # SQLite makes it a text
    (("UPDATE launch SET host_start_ns = 9223372036854775807",), "1 value"),
    (("UPDATE node_statistics SET median_ns = 9e999",), "4 summaries of nodes"),
    (("UPDATE span SET duration_ns = 'x' WHERE iteration = 1",), "2 node times"),
    (("UPDATE span SET start_ns = 4611686018427387904",), "12 node times"),
    (("UPDATE span SET iteration = iteration + 99999999",), "12 node times"),
    (("UPDATE run SET process_id = 1.5",), "1 value"),
]
#: The same of the recording with memory nodes.
_DAMAGE_OF_MEMORY = [
    ("UPDATE graph_memory SET device_id = 9007199254740992", "3 samples of graph memory"),
    ("UPDATE graph_memory SET used_bytes = -1", "3 samples of graph memory"),
    ("UPDATE allocation SET address = -1", "5 allocations"),
    ("UPDATE allocation SET bytes = -5", "5 allocations"),
    ("UPDATE node SET source_address = -1", "15 values"),
    ("UPDATE node SET destination_address = -2147483648", "15 values"),
    ("UPDATE node SET bytes = 1 << 61", "15 values"),
    ("UPDATE node SET grid_x = -1", "15 values"),
    ("UPDATE node SET grid_y = 1 << 62", "15 values"),
    ("UPDATE node SET max_blocks_per_multiprocessor = -3", "15 values"),
    ("UPDATE device SET multiprocessor_count = 1 << 53", "1 value"),
    ("UPDATE argument SET allocation_address = -1", "6 values"),
    ("UPDATE argument SET allocation_bytes = -1", "6 values"),
    ("UPDATE argument SET position = -1 - position", "6 arguments"),
    ("UPDATE launch SET span_count = 'many'", "10 values"),
    ("UPDATE launch SET span_count = x'00'", "10 values"),
    ("UPDATE launch SET span_count = -1", "10 values"),
]


@pytest.mark.parametrize(("statements", "lost"), _DAMAGE_OF_LOOP)
def test_what_is_damaged_is_left_out_and_counted(
    recording: Path, statements: tuple[str, ...], lost: str
) -> None:
    change(recording, *statements)
    _read_all(recording)
    assert _damage_notes(recording) == _said(lost)


@pytest.mark.parametrize(("statement", "lost"), _DAMAGE_OF_MEMORY)
def test_number_that_no_column_of_its_name_can_hold_is_left_out(
    tmp_path: Path, statement: str, lost: str
) -> None:
    path = write_memory_recording(tmp_path / "x.gviz")
    with sqlite3.connect(path) as database:
        assert database.execute(statement).rowcount > 0
    database.close()
    _read_all(path)
    assert _damage_notes(path) == _said(lost)


def _said(lost: str) -> list[str]:
    return [f"the file was damaged: {lost} unreadable, left out"] if lost else []


def _damage_notes(path: Path) -> list[str]:
    with Recording(path) as opened:
        return [note.text for note in opened.fetch_notes(1) if note.kind == DAMAGE]


def test_damage_stands_first_in_info_analysis_and_their_json(recording: Path) -> None:
    change(recording, "DELETE FROM span WHERE iteration = 2", "UPDATE span SET duration_ns = 'x'")
    with Recording(recording) as opened:
        summary, analysis = summarize(opened), analyze(opened)
    (said,) = _said("10 node times")
    assert summary.runs[0].notes[0].text == said
    assert said[1:] in render_text(info_document(summary), 100)
    assert analysis.runs[0].graphs[0].doubts[0] == said
    assert analysis_to_json(analysis)["runs"][0]["graphs"][0]["doubts"][0] == said


def test_late_damage_of_node_times_is_left_out_where_there_are_very_many(
    recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(soundness, "_MOST_SPANS", 1)
    change(recording, "UPDATE span SET duration_ns = 'x' WHERE iteration = 0")
    with Recording(recording) as opened:
        assert not _damage_notes(recording)
        assert len(opened.fetch_graph_spans(1)) == 8
        assert [n.text for n in opened.fetch_notes(1) if n.kind == DAMAGE] == _said("4 node times")


def test_late_damage_is_left_out_by_all_who_have_the_file_open(
    recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(soundness, "_MOST_SPANS", 1)
    change(recording, "UPDATE span SET duration_ns = 'x' WHERE iteration = 0")
    with Recording(recording) as one, Recording(recording) as other:
        assert [len(opened.fetch_graph_spans(1)) for opened in (one, other)] == [8, 8]


def _read_all(path: Path) -> None:
    library = Library([path])
    try:
        (opened,) = library.files()
        recording = opened.recording
        summarize(recording)
        recording.fetch_graph_spans(1)
        recording.fetch_devices(1)
        for node in recording.fetch_nodes(1):
            recording.fetch_arguments(1, node.node_id)
        level_memory_payload(recording, 1, None)
        assert list(graph_view(library, opened.key, 1).nodes)
        analyze(recording)
    finally:
        library.close()


@pytest.mark.parametrize("axis", ["grid", "block"])
def test_largest_launch_dimensions_are_taken(tmp_path: Path, axis: str) -> None:
    path = write_memory_recording(tmp_path / "x.gviz")
    (_, most) = number_range(f"{axis}_x") or (0, 0)
    change(path, f"UPDATE node SET {axis}_x = {most}, {axis}_y = {most}, {axis}_z = {most}")
    change(path, "UPDATE device SET multiprocessor_count = 2147483647")
    _read_all(path)


def test_gpu_without_multiprocessors_is_taken(tmp_path: Path) -> None:
    path = write_memory_recording(tmp_path / "x.gviz")
    change(path, "UPDATE device SET multiprocessor_count = 0, max_threads_per_multiprocessor = 0")
    change(path, "UPDATE node SET max_blocks_per_multiprocessor = 0")
    _read_all(path)


def test_nothing_is_written_that_is_refused_when_it_is_read(tmp_path: Path) -> None:
    run = rows.Run(run_id=1, name="x", state="completed", source="run")
    device = rows.Device(run_id=1, device_id=0, name="GPU", memory_bytes=MOST_BYTES + 1)
    with (
        pytest.raises(
            RecordingError, match=r"cannot write .*device\.memory_bytes holds \d+, which cannot be"
        ),
        RecordingWriter(tmp_path / "x.gviz") as writer,
    ):
        writer.insert(run, device)
    assert list(tmp_path.iterdir()) == []


def test_stack_of_a_killed_program_may_be_missing(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "x.gviz", fork_join_shape(), launches=1)
    change(path, "UPDATE node SET stack_id = 4711")
    with Recording(path) as opened:
        assert opened.fetch_stack(4711) == []


def test_file_is_looked_at_again_when_it_is_another(recording: Path) -> None:
    Recording(recording).close()
    change(recording, "UPDATE graph SET topology_id = 77")
    assert _damage_notes(recording) == _said("2 values")


def test_value_that_no_recording_can_hold_is_refused_when_it_is_written(tmp_path: Path) -> None:
    run = rows.Run(run_id=1, name="x", state="completed", source="run", process_id=2**64)
    with (
        pytest.raises(RecordingError, match="a row of run cannot be stored"),
        RecordingWriter(tmp_path / "x.gviz") as writer,
    ):
        writer.insert(run)
    assert list(tmp_path.iterdir()) == []


def test_iterations_where_nothing_repeats_are_analysed_all_the_same(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "x.gviz", fork_join_shape(1, 2, 1), launches=3)
    change(path, "UPDATE span SET iteration = 100 WHERE launch_id = 2 AND node_id = 1001")
    with Recording(path) as opened:
        assert analyze(opened).runs[0].graphs


def test_launch_of_an_unknown_side_is_left_out(recording: Path) -> None:
    change(recording, "UPDATE launch SET side = 'elsewhere'")
    with Recording(recording) as opened:
        assert launches_with_times(opened, 1) == ([], [])


def test_only_numbers_have_ranges() -> None:
    """Columns of packed numbers and of texts are named like numbers, too."""
    for table in all_tables():
        for column in table.columns:
            is_number = column.sql_type in ("INTEGER", "REAL")
            assert is_number or value_range(column) is None, column.name
    packed = [c for t in all_tables() for c in t.columns if c.name == "bucket_count"]
    assert [c.sql_type for c in packed] == ["BLOB"]


def test_launch_that_ends_before_it_begins_is_no_first_launch(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "x.gviz", fork_join_shape(1, 2, 1), launches=3)
    with Recording(path) as recording:
        assert len(recording.fetch_first_launches(1)) == 1
    with closing(sqlite3.connect(path)) as database, database:
        # Each can be; what lies between them is no time that a recording holds.
        database.execute("UPDATE launch SET host_end_ns = -host_start_ns WHERE ordinal = 0")
    with Recording(path) as recording:
        assert recording.fetch_first_launches(1) == {}
        summarize(recording)
