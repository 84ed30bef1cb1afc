"""Recordings that gviz did not write like that: refused in a sentence, at the door or when read."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from memory_recordings import write_memory_recording
from recordings import fork_join_shape, write_loop_recording, write_recording

from gviz.analysis.analysis import analyze
from gviz.app.files.library import Library
from gviz.app.views.graph_data import graph_view, launches_with_times
from gviz.app.views.payload import level_memory_payload
from gviz.errors import RecordingError
from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.recording.rows.tables import all_tables
from gviz.recording.rows.value_ranges import MOST_BYTES, number_range, value_range
from gviz.recording.writer import RecordingWriter
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


@pytest.mark.parametrize(
    ("statements", "says"),
    [
        (("DROP TABLE span",), "it has no table span"),
        (("ALTER TABLE node DROP COLUMN priority",), "table node has no priority"),
        (
            ("DROP TABLE note", f"CREATE VIEW note AS {_ENDLESS} SELECT x AS note_id FROM n"),
            "it has no table note",
        ),
        (("UPDATE graph SET topology_id = 77",), "graph refers to topology 77, which is not there"),
        (("UPDATE node SET function_id = -1",), "node refers to kernel_function -1"),
        (("DELETE FROM run",), "refers to run 1"),
        (("UPDATE graph SET parent_graph_id = 2",), "graph [12] contains itself"),
        (("UPDATE graph SET parent_graph_id = graph_id",), "graph 1 contains itself"),
        (_twice("run"), "run 1 is there twice"),
        (_twice("graph"), "graph 1 is there twice"),
    ],
)
def test_file_that_cannot_be_a_recording_is_refused_when_it_is_opened(
    recording: Path, statements: tuple[str, ...], says: str
) -> None:
    change(recording, *statements)
    with pytest.raises(RecordingError, match=rf"x\.gviz is damaged: .*{says}.*; copy it again"):
        Recording(recording)


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("UPDATE node SET name = x'ff00'", "node.name holds b'.*', which is no text"),
        ("UPDATE node SET type = 'kernel'", "node.type holds 'kernel', which is no whole number"),
        ("UPDATE node SET type = '1x'", "node.type holds '1x', which is no whole number"),
        ("UPDATE node SET grid_x = ''", "node.grid_x holds '', which is no whole number"),
        ("UPDATE graph SET name = 5", None),  # SQLite makes it a text
        (
            "UPDATE launch SET host_start_ns = 9223372036854775807",
            "launch holds something|cannot be",
        ),
        ("UPDATE node_statistics SET median_ns = 9e999", "median_ns holds inf, which cannot be"),
        ("UPDATE span SET duration_ns = 'x'", "span.duration_ns holds something|no whole number"),
        ("UPDATE span SET start_ns = 4611686018427387904", "span.start_ns holds .* cannot be"),
        ("UPDATE span SET iteration = iteration + 99999999", "span.iteration holds .* cannot be"),
        ("UPDATE run SET process_id = 1.5", "run.process_id holds 1.5, which is no whole number"),
    ],
)
def test_value_of_another_type_or_size_is_refused_when_it_is_read(
    recording: Path, statement: str, says: str | None
) -> None:
    change(recording, statement)

    def read() -> None:
        with Recording(recording) as opened:
            summarize(opened)
            opened.fetch_nodes(1)
            opened.fetch_graph_spans(1)
            opened.fetch_launches(1)

    if says is None:
        read()
        return
    with pytest.raises(RecordingError, match=says):
        read()


def test_text_columns_read_as_arrays_are_checked_too(recording: Path) -> None:
    change(recording, "UPDATE node SET name = x'ff00' WHERE graph_id = 1")
    with Recording(recording) as opened, pytest.raises(RecordingError, match="damaged"):
        opened.fetch_arrays(rows.Node, {"graph_id": 1}, ["name"])


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("UPDATE graph_memory SET device_id = 9007199254740992", "graph_memory.device_id"),
        ("UPDATE graph_memory SET used_bytes = -1", "graph_memory.used_bytes"),
        ("UPDATE allocation SET address = -1", "allocation.address"),
        ("UPDATE allocation SET bytes = -5", "allocation.bytes"),
        ("UPDATE node SET source_address = -1", "node.source_address"),
        ("UPDATE node SET destination_address = -2147483648", "node.destination_address"),
        ("UPDATE node SET bytes = 1 << 61", "node.bytes"),
        ("UPDATE node SET grid_x = -1", "node.grid_x"),
        ("UPDATE node SET grid_y = 1 << 62", "node.grid_y"),
        ("UPDATE node SET max_blocks_per_multiprocessor = -3", "max_blocks_per_multiprocessor"),
        ("UPDATE device SET multiprocessor_count = 1 << 53", "device.multiprocessor_count"),
        ("UPDATE argument SET allocation_address = -1", "argument.allocation_address"),
        ("UPDATE argument SET allocation_bytes = -1", "argument.allocation_bytes"),
        ("UPDATE argument SET position = -1 - position", "argument.position"),
        ("UPDATE launch SET span_count = 'many'", "launch.span_count holds 'many', which is no"),
        ("UPDATE launch SET span_count = x'00'", "launch.span_count holds b'.x00', which is no"),
        ("UPDATE launch SET span_count = -1", "launch.span_count"),
    ],
)
def test_number_that_no_column_of_its_name_can_hold_is_refused(
    tmp_path: Path, statement: str, says: str
) -> None:
    path = write_memory_recording(tmp_path / "x.gviz")
    with sqlite3.connect(path) as database:
        assert database.execute(statement).rowcount > 0
    database.close()
    with pytest.raises(RecordingError, match=f"damaged: .*{says}.*; copy it again"):
        _read_all(path)


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


def test_file_is_checked_again_when_it_is_another(recording: Path) -> None:
    Recording(recording).close()
    change(recording, "UPDATE graph SET topology_id = 77")
    with pytest.raises(RecordingError, match="topology 77"):
        Recording(recording)


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
