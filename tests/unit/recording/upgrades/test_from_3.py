"""Schema 3 to 4: every span, statistic and launch is there, under the key of its node."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from places import TESTS

from gviz.errors import RecordingError
from gviz.recording.int_column import decode
from gviz.recording.reader import Recording
from gviz.recording.upgrades.upgrade import upgrade_recording

FROZEN = TESTS / "golden" / "recordings" / "schema_3.gviz"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "old.gviz"
    path.write_bytes(FROZEN.read_bytes())
    return path


@pytest.fixture
def new(old: Path, tmp_path: Path) -> Path:
    path = tmp_path / "new.gviz"
    upgrade_recording(old, path)
    return path


def request(path: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as database, database:
        return database.execute(sql).fetchall()


def test_frozen_recording_has_what_the_step_changes() -> None:
    counts = "SELECT (SELECT count(*) FROM launch_block), (SELECT count(*) FROM launch_bin)"
    assert request(FROZEN, counts) == [(12, 2)]
    differ = "SELECT count(*) FROM node WHERE exec_node_id <> node_id"
    assert request(FROZEN, differ) == [(16,)]


def test_spans_are_those_of_the_same_nodes(old: Path, new: Path) -> None:
    columns = (
        "span.launch_id, node.graph_id, node.node_id, span.iteration, span.start_ns, "
        "span.duration_ns, span.stream_id"
    )
    found = request(new, f"SELECT {columns} FROM span JOIN node USING (graph_id, node_id)")
    # As readers of schema 3 joined: within the launched graph and its bodies, by executable ids.
    had = request(
        old,
        f"SELECT {columns} FROM span "
        "JOIN launch USING (launch_id) JOIN graph AS level ON level.graph_id = launch.graph_id "
        "OR level.parent_graph_id = launch.graph_id JOIN node ON node.graph_id = level.graph_id "
        "AND node.exec_node_id = span.node_id",
    )
    assert sorted(found) == sorted(had)
    assert len(found) == len(request(old, "SELECT 1 FROM span")) == 212


def test_statistics_are_those_of_the_same_nodes(old: Path, new: Path) -> None:
    rest = "count, total_ns, median_ns, mad_ns, streamed_count, quantile_error_fraction"
    joined = "node_statistics JOIN node USING (graph_id, node_id)"
    found = request(new, f"SELECT graph_id, node_id, {rest} FROM {joined}")
    had = request(
        old,
        f"SELECT level.graph_id, node.node_id, {rest} FROM node_statistics AS times "
        "JOIN graph AS level ON level.graph_id = times.graph_id "
        "OR level.parent_graph_id = times.graph_id JOIN node ON node.graph_id = level.graph_id "
        "AND node.exec_node_id = times.node_id",
    )
    assert sorted(found) == sorted(had)
    assert len(found) == 41


def test_launches_of_blocks_are_rows_among_the_others(old: Path, new: Path) -> None:
    blobs = "host_start", "host_duration", "event_duration", "gpu_start", "gpu_duration"
    packed: list[tuple[Any, ...]] = []
    for graph, thread, stream, level, *columns in request(
        old,
        f"SELECT graph_id, thread_id, stream_id, node_level, {', '.join(blobs)} "
        "FROM launch_block JOIN graph_exec USING (graph_exec_id)",
    ):
        rest = [decode(blob).tolist() for blob in (thread, stream, level)]
        for start, took, event, gpu, length, *of in zip(
            *(decode(blob).tolist() for blob in columns), *rest, strict=True
        ):
            known = length >= 0
            packed.append(
                (graph, start, start + took, None if event < 0 else event,
                 start + gpu if known else None, start + gpu + length if known else None, *of)
            )  # fmt: skip
    names = (
        "graph_id, host_start_ns, host_end_ns, event_duration_ns, gpu_start_ns, gpu_end_ns, "
        "thread_id, stream_id, node_level"
    )
    rows = request(old, f"SELECT {names} FROM launch")
    found = request(new, f"SELECT {names} FROM launch")
    key = lambda row: tuple(-1 if x is None else x for x in row)  # noqa: E731
    assert sorted(found, key=key) == sorted([*rows, *packed], key=key)
    assert (len(rows), len(packed)) == (21, 60)


def test_ordinals_of_all_launches_are_unique_and_in_order_of_their_calls(new: Path) -> None:
    with Recording(new) as recording:
        for graph_id, binned in ((1, 18), (5, 0)):
            launches = recording.fetch_launch_arrays(graph_id)
            start = launches.host_start_ns
            assert (start[1:] > start[:-1]).all()
            assert len(set(launches.ordinal.tolist())) == len(launches)
            assert launches.ordinal.max() + 1 == len(launches) + binned
            assert recording.count_launches(graph_id)[0] == len(launches) + binned


def test_measurements_say_where_launches_are(new: Path) -> None:
    texts = [method for (method,) in request(new, "SELECT method FROM measurement")]
    assert not any("launch_block" in text for text in texts)
    assert sum("counted in launch_bin" in text for text in texts) == 3
    missing = "SELECT run_id, value FROM measurement WHERE name = 'launches_without_row'"
    assert request(new, missing) == [(1, 18.0)]


def test_span_of_an_unknown_node_is_kept_and_joins_with_none(old: Path, tmp_path: Path) -> None:
    request(old, "UPDATE node SET exec_node_id = NULL WHERE graph_id = 6 AND node_id = 1")
    new = tmp_path / "new.gviz"
    upgrade_recording(old, new)
    joined = request(new, "SELECT count(*) FROM span JOIN node USING (graph_id, node_id)")
    stray = request(new, "SELECT DISTINCT graph_id, node_id FROM span WHERE node_id < 0")
    assert joined == [(212 - 10,)]
    assert stray == [(5, -1 - 4)]
    assert request(new, "SELECT graph_id, count FROM node_statistics WHERE node_id < 0") == [
        (5, 100)
    ]


@pytest.mark.parametrize("says", ["a block of", "a column of the recording is damaged"])
def test_damaged_block_is_one_sentence_and_the_file_stays(old: Path, says: str) -> None:
    change = {
        "a block of": "UPDATE launch_block SET count = count + 1",
        "a column of the recording is damaged": "UPDATE launch_block SET thread_id = x'00'",
    }
    request(old, change[says])
    before = old.read_bytes()
    with pytest.raises(RecordingError, match=says):
        upgrade_recording(old, old)
    assert old.read_bytes() == before
    assert [path.name for path in old.parent.iterdir()] == [old.name]
