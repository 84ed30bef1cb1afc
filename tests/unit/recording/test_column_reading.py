"""Reading columns page by page: every row once, in order, of the file that was opened."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from recordings import fork_join_shape, transformer_shape, write_loop_recording, write_recording

from gviz.recording import Columns, column_reading, rows
from gviz.recording.reader import Recording
from gviz.recording.salvage import soundness

#: Rows of a page here, so that small recordings have many.
PAGE = 4
NAMES = ("graph_id", "node_id", "iteration", "start_ns", "duration_ns", "stream_id")


@pytest.fixture(autouse=True)
def _small_pages() -> Iterator[None]:
    with mock.patch.object(column_reading, "VALUES_AT_ONCE", PAGE * len(NAMES)):
        yield


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a recording whose launch 1 ran two nodes 41 times, and one before and behind."""
    return write_loop_recording(tmp_path / "loop.gviz", iterations=41)


def spans_of(path: Path) -> list[tuple[int, ...]]:
    """Return the spans of launch 1 as SQLite gives them."""
    with closing(sqlite3.connect(path)) as database:
        return database.execute(
            f"SELECT {', '.join(NAMES)} FROM span WHERE launch_id=1 "
            "ORDER BY graph_id, node_id, iteration"
        ).fetchall()


def read(recording: Recording) -> list[tuple[int, ...]]:
    """Return them as gviz reads them."""
    found = recording.fetch_arrays(rows.Span, {"launch_id": 1}, NAMES)
    return list(zip(*(found.integers(name).tolist() for name in NAMES), strict=True))


def test_every_row_is_read_once_and_in_order(path: Path) -> None:
    with (
        Recording(path) as recording,
        mock.patch.object(column_reading, "read_page", wraps=column_reading.read_page) as pages,
    ):
        assert read(recording) == spans_of(path)
    assert pages.call_count > len(spans_of(path)) / PAGE


def test_what_is_made_of_each_page_is_of_all_rows_in_order(path: Path) -> None:
    def take(page: Columns) -> list[tuple[int, ...]]:
        return list(zip(*(page.integers(name).tolist() for name in NAMES), strict=True))

    with Recording(path) as recording:
        found = recording.fetch_in_pages(rows.Span, {"launch_id": 1}, NAMES, {}, take)
        nothing = recording.fetch_in_pages(rows.Span, {"launch_id": 99}, NAMES, {}, take)
    assert max(map(len, found)) <= PAGE
    assert [row for page in found for row in page] == spans_of(path)
    assert nothing == [[]]


@pytest.mark.parametrize("keys", [[3], [3, 4], [1, 2, 3, 4, 5], [*range(9)], [0, 9, 10, 2**62]])
@pytest.mark.parametrize("iterations", [1, 2, 5])
def test_any_keys_are_cut_into_pages(tmp_path: Path, keys: list[int], iterations: int) -> None:
    path = write_recording(tmp_path / "x.gviz", fork_join_shape(1, 2, 1), launches=1)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM span")
        database.executemany(
            "INSERT INTO span VALUES (1, 1, ?, ?, ?, 5, 7)",
            [(key, i, 10 * i) for key in keys for i in range(iterations)],
        )
    with Recording(path) as recording:
        assert read(recording) == spans_of(path)
    assert len(spans_of(path)) == len(keys) * iterations


def test_texts_numbers_and_bytes_are_joined_across_pages(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "x.gviz", transformer_shape(4), arguments=True)
    names = ("node_id", "name", "occupancy_fraction", "exec_node_id")
    with Recording(path) as recording:
        found = recording.fetch_arrays(rows.Node, {"graph_id": 1}, names)
        nodes = recording.fetch_nodes(1)
        given = recording.fetch_arrays(rows.Argument, {"graph_id": 1}, ("node_id", "value"))
        arguments = [a for n in nodes for a in recording.fetch_arguments(1, n.node_id)]
    for name in names:
        assert found.listed(name) == [getattr(node, name) for node in nodes]
    assert given.listed("node_id") == [argument.node_id for argument in arguments]
    value = given.blobs("value")
    assert value.data.tobytes() == b"".join(argument.value for argument in arguments)
    assert len(nodes) > 2 * PAGE
    assert len(arguments) > 2 * PAGE


@pytest.mark.parametrize("launches", [1, 2, 7])
def test_spans_of_all_launches_are_joined_across_pages(tmp_path: Path, launches: int) -> None:
    path = write_recording(tmp_path / "x.gviz", fork_join_shape(2, 3, 2), launches=launches)
    with Recording(path) as recording:
        found = recording.fetch_graph_spans(1)
        one_by_one = [recording.fetch_spans(x.launch_id) for x in recording.fetch_launches(1)]
    assert found.launch_id.tolist() == [i for x in one_by_one for i in x.launch_id.tolist()]
    assert found.node_id.tolist() == [i for x in one_by_one for i in x.node_id.tolist()]
    assert found.start_ns.tolist() == [i for x in one_by_one for i in x.start_ns.tolist()]
    assert len(found) == sum(map(len, one_by_one)) > launches


def test_a_file_put_in_its_place_is_not_read(path: Path, tmp_path: Path) -> None:
    before = spans_of(path)
    other = write_loop_recording(tmp_path / "other.gviz", iterations=77)
    with Recording(path) as recording:
        os.replace(other, path)
        assert read(recording) == before
        path.unlink()
        assert read(recording) == before
    assert not path.exists()


def test_several_pages_are_read_by_threads_and_one_by_who_wants_it(path: Path) -> None:
    def readers() -> set[threading.Thread]:
        found = set()

        def note(*given: Any) -> Any:
            found.add(threading.current_thread())
            return read_page(*given)

        with Recording(path) as recording, mock.patch.object(column_reading, "read_page", note):
            read(recording)
        return found

    read_page = column_reading.read_page
    here = threading.current_thread()
    assert here not in readers()
    with mock.patch.object(column_reading, "VALUES_AT_ONCE", 1 << 19):
        assert readers() == {here}


def test_a_file_put_in_its_place_later_is_not_read_either(path: Path, tmp_path: Path) -> None:
    before = spans_of(path)
    other = write_loop_recording(tmp_path / "other.gviz", iterations=77)
    with Recording(path) as recording:
        assert read(recording) == before
        os.replace(other, path)
        assert read(recording) == before


@pytest.mark.parametrize(
    "at", ["graph_id, node_id, iteration", "graph_id DESC, node_id DESC, iteration DESC"]
)
def test_damage_on_any_page_is_left_out(
    path: Path, at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(soundness, "_MOST_SPANS", 0)  # checked as they are read
    before = spans_of(path)
    with closing(sqlite3.connect(path)) as database, database:
        columns = "graph_id, node_id, iteration"
        key = database.execute(f"SELECT {columns} FROM span ORDER BY {at}").fetchone()
        database.execute(f"UPDATE span SET duration_ns='long' WHERE ({columns}) = (?, ?, ?)", key)
    with Recording(path) as recording:
        assert read(recording) == [span for span in before if span[:3] != key]


def test_closing_closes_the_file(path: Path) -> None:
    def open_files() -> int:
        links = Path("/proc/self/fd").iterdir()
        return sum(1 for link in links if link.is_symlink() and os.readlink(link) == str(path))

    recording = Recording(path)
    read(recording)
    assert open_files() == 1
    recording.close()
    assert open_files() == 0
