"""Whatever rows are written come back equal, whatever their values."""

from __future__ import annotations

import string
import tempfile
import types
import typing
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recording_equality import normal_run

from gviz.recording import column_reading, columns, database, merge, rows
from gviz.recording.merge import merge_recordings
from gviz.recording.reader import Recording
from gviz.recording.rows.schema import all_tables
from gviz.recording.rows.tables import Column, Table
from gviz.recording.rows.value_ranges import value_range
from gviz.recording.writer import RecordingWriter

# Many made-up cases: these eight files would be a sixth of what the quick tests take.
pytestmark = pytest.mark.thorough

_INTEGERS = st.integers(min_value=-(2**63), max_value=2**63 - 1)
# SQLite stores text as UTF-8: surrogates have no encoding there.
_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
_VALUES: dict[type, st.SearchStrategy[Any]] = {
    int: _INTEGERS,
    str: _TEXTS,
    float: st.floats(allow_nan=False, allow_infinity=False),
    bytes: st.binary(max_size=40),
}


#: What recordings may hold as times (ns), and as numbers of an execution in a launch.
_ITERATIONS = st.integers(0, 2**24 - 1)


@pytest.fixture(scope="module", autouse=True)
def _no_door() -> Iterator[None]:
    """Rows here refer to rows that are not there, which test_integrity.py is about."""
    with (
        mock.patch.object(database, "sound_file", lambda path: path),
        mock.patch.object(merge, "sound_file", lambda path: path),
    ):
        yield


def _strategy(column: Column, hint: Any) -> st.SearchStrategy[Any]:
    is_optional = isinstance(hint, types.UnionType)
    kind = next(a for a in hint.__args__ if a is not type(None)) if is_optional else hint
    values = _VALUES[kind]
    limits = value_range(column)
    if column.name == "iteration":
        values = _ITERATIONS
    elif limits is not None:
        values = st.integers(*limits) if kind is int else st.floats(*map(float, limits))
    return st.none() | values if is_optional else values


@cache  # a strategy is checked when it is first drawn from, which takes longer than drawing
def _rows_of(
    table: Table,
    strategy: Callable[[Column, Any], st.SearchStrategy[Any]] = _strategy,
    most: int = 6,
) -> st.SearchStrategy[list[Any]]:
    hints = typing.get_type_hints(table.row)
    fields = {c.name: strategy(c, hints[c.name]) for c in table.columns}
    keys = table.primary_key
    return st.lists(
        st.builds(table.row, **fields),
        max_size=most,
        unique_by=lambda row: tuple(getattr(row, key) for key in keys),
    )


@pytest.mark.parametrize("table", all_tables(), ids=lambda table: table.name)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_rows_of_every_table_come_back_equal(table: Table, data: st.DataObject) -> None:
    written = data.draw(_rows_of(table))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "r.gviz"
        with RecordingWriter(path) as writer:
            writer.insert(*written)
        with Recording(path) as recording:
            read = recording._fetch(table.row, "")
    assert sorted(read, key=repr) == sorted(written, key=repr)


def _has_columns(table: Table) -> bool:
    """Return whether a table can be read as columns: its key is integers, it has no bytes."""
    keys = [c for c in table.columns if c.name in table.primary_key]
    return all(c.sql_type == "INTEGER" for c in keys) and not any(
        c.sql_type == "BLOB" for c in table.columns
    )


@pytest.mark.parametrize(
    "table", [t for t in all_tables() if _has_columns(t)], ids=lambda table: table.name
)
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_rows_come_back_equal_as_columns_of_several_pages(
    table: Table, data: st.DataObject
) -> None:
    written = data.draw(_rows_of(table))
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.object(column_reading, "VALUES_AT_ONCE", 16),
    ):
        path = Path(folder) / "r.gviz"
        with RecordingWriter(path) as writer:
            writer.insert(*written)
        with Recording(path) as recording:
            found = recording.fetch_arrays(table.row, {}, [c.name for c in table.columns])
    by_key = sorted(written, key=lambda row: [getattr(row, name) for name in table.primary_key])
    for column in table.columns:
        expected = [getattr(row, column.name) for row in by_key]
        assert _values(found, column) == expected, column.name


def _values(found: columns.Columns, column: Column) -> list[Any]:
    """Return a column as the row class has its values."""
    if column.sql_type == "TEXT":
        texts = found.texts(column.name)
        return [None if code < 0 else texts.values[code] for code in texts.codes.tolist()]
    if column.sql_type == "REAL":
        return [None if x != x else x for x in found.numbers(column.name).tolist()]
    # Two values tell what stands for NULL from what is there.
    first, second = (found.integers(column.name, n).tolist() for n in (0, 1))
    return [a if a == b else None for a, b in zip(first, second, strict=True)]


@settings(max_examples=25, deadline=None)
@given(
    st.sets(
        st.tuples(
            st.integers(1, 4),
            st.integers(1, 3),
            st.integers(0, 2**32 - 1),
            st.integers(0, 3),
            st.integers(0, 2**61),
        ),
        max_size=60,
    )
)
def test_spans_come_back_as_arrays_in_order(spans: set[tuple[int, int, int, int, int]]) -> None:
    unique = {span[:4]: span[4] for span in spans}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "r.gviz"
        with RecordingWriter(path) as writer:
            for launch_id in range(1, 5):
                writer.insert(
                    rows.Launch(
                        launch_id=launch_id,
                        run_id=1,
                        graph_id=1,
                        graph_exec_id=1,
                        side="graph",
                        ordinal=launch_id - 1,
                        node_level=1,
                        span_count=sum(key[0] == launch_id for key in unique),
                    )
                )
            writer.insert_tuples(
                rows.Span, ((*key, start, start // 2, 7) for key, start in unique.items())
            )
        with Recording(path) as recording:
            found = recording.fetch_graph_spans(1)
            lengths = [len(recording.fetch_spans(i)) for i in range(1, 5)]
    columns = (found.launch_id, found.graph_id, found.node_id, found.iteration)
    keys = list(zip(*(column.tolist() for column in columns), strict=True))
    assert keys == sorted(unique)
    assert found.start_ns.tolist() == [unique[key] for key in keys]
    assert found.duration_ns.tolist() == [unique[key] // 2 for key in keys]
    assert lengths == [sum(key[0] == i for key in unique) for i in range(1, 5)]


@settings(max_examples=25, deadline=None)
@given(name=st.text(string.printable.replace("/", ""), min_size=1, max_size=30))
def test_any_file_name_can_be_written_and_opened(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / (name + ".gviz")
        with RecordingWriter(path) as writer:
            writer.insert(rows.Run(run_id=1, name=name, state="completed", source="import"))
        with Recording(path) as recording:
            assert recording.fetch_runs()[0].name == name


# -- merging -----------------------------------------------------------------------------

_SMALL = st.integers(0, 5)


@st.composite
def _small_recordings(draw: st.DrawFn) -> list[list[Any]]:
    """Rows of two to four recordings: few ids of ours, so that everything refers to something."""
    found = []
    for _ in range(draw(st.integers(2, 4))):
        mine: list[Any] = []
        for table in all_tables():
            mine += draw(_rows_of(table, _small_strategy, most=3))
        found.append(mine)
    return found


def _small_strategy(column: Column, hint: Any) -> st.SearchStrategy[Any]:
    if column.key is not None:
        return _SMALL | st.none() if isinstance(hint, types.UnionType) else _SMALL
    if hint is int:
        return _SMALL
    if hint is str:
        return st.sampled_from(["a", "b"])  # topologies of one hash must occur
    return _strategy(column, hint)


@pytest.mark.thorough
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(recordings=_small_recordings())
def test_merged_runs_come_back_equal_up_to_ids(recordings: list[list[Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{i}.gviz" for i in range(len(recordings))]
        before = []
        for path, written in zip(paths, recordings, strict=True):
            with RecordingWriter(path) as writer:
                writer.insert(*written)
            with Recording(path) as recording:
                runs = recording.fetch_runs()
                before += [normal_run(recording, run.run_id) for run in runs]
        with Recording(merge_recordings(paths, Path(folder) / "all.gviz")) as merged:
            ids = [run.run_id for run in merged.fetch_runs()]
            after = [normal_run(merged, run_id) for run_id in ids]
    assert after == before
