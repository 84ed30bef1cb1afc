"""Columns: of bytes, parts that follow each other, of the key, and values they refuse."""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from recordings import fork_join_shape, write_recording

from gviz.errors import RecordingError
from gviz.recording import database as database_module
from gviz.recording import rows
from gviz.recording.columns import Blobs, Columns, join_blobs, join_columns
from gviz.recording.reader import Recording
from gviz.recording.rows.tables import table_of

VALUES = [b"", b"\1\2\3", struct.pack("<QQ", 7, 2**63), b"", b"\xff" * 9]


def listed(blobs: Blobs) -> list[bytes]:
    ends = zip(blobs.offset[:-1].tolist(), blobs.offset[1:].tolist(), strict=True)
    return [blobs.data[first:last].tobytes() for first, last in ends]


def test_bytes_come_back_as_they_were() -> None:
    assert listed(Blobs.of(VALUES)) == VALUES
    assert listed(Blobs.of([])) == []
    assert listed(join_blobs([Blobs.of(VALUES[:2]), Blobs.of([]), Blobs.of(VALUES[2:])])) == VALUES


@pytest.mark.parametrize("chosen", [[1, 1, 1, 1, 1], [0, 1, 0, 1, 1], [0, 0, 0, 0, 0]])
def test_chosen_rows_of_bytes_are_taken(chosen: list[int]) -> None:
    found = Blobs.of(VALUES).take(np.array(chosen, bool))
    assert listed(found) == [v for v, wanted in zip(VALUES, chosen, strict=True) if wanted]


@pytest.mark.parametrize("part", [slice(0, 5), slice(1, 3), slice(4, 9), slice(5, 5), slice(3, 1)])
def test_rows_of_bytes_that_follow_each_other_are_cut(part: slice) -> None:
    assert listed(Blobs.of(VALUES).cut(part)) == VALUES[part]


def test_words_of_bytes_are_whole_and_little_endian() -> None:
    row, place, word = Blobs.of(VALUES).words()
    assert row.tolist() == [2, 2, 4]
    assert place.tolist() == [0, 1, 0]
    assert word.tolist() == [7, 2**63, 2**64 - 1]
    assert [len(a) for a in Blobs.of([b"", b"short"]).words()] == [0, 0, 0]


def test_columns_cut_and_joined_are_what_they_were(small_recording: str) -> None:
    names = ("node_id", "exec_node_id", "name", "occupancy_fraction", "conditional_type")
    with Recording(small_recording) as recording:
        found = recording.fetch_arrays(rows.Node, {"graph_id": 1}, names)
    parts: list[Columns] = [
        found.cut(slice(0, 3)),
        found.cut(slice(3, 3)),
        found.cut(slice(3, None)),
    ]
    joined = join_columns(parts)
    assert [len(part) for part in parts] == [3, 0, len(found) - 3]
    for name in names:
        assert joined.listed(name) == found.listed(name)
        assert parts[2].listed(name) == found.listed(name)[3:]


@pytest.mark.parametrize("keyed", [{"graph_id": 1}, {"graph_id": 1, "type": 0}])
def test_columns_of_the_key_have_its_value_in_every_row(
    small_recording: str, keyed: dict[str, int]
) -> None:
    with Recording(small_recording) as recording:
        found = recording.fetch_arrays(rows.Node, keyed, (*keyed, "node_id"))
        nodes = [n for n in recording.fetch_nodes(1) if n.type == keyed.get("type", n.type)]
    assert found.integers("node_id").tolist() == [n.node_id for n in nodes]
    assert len(nodes) > 1
    for name, value in keyed.items():
        assert found.integers(name).tolist() == [value] * len(nodes)


@pytest.mark.parametrize(
    ("row", "names", "set_to", "stated"),
    [
        (rows.Node, "occupancy_fraction", "x'313233'", "which is no number"),
        (rows.Node, "occupancy_fraction", "'much'", "which is no number"),
        (rows.Node, "occupancy_fraction", "9e999", "inf"),
        (rows.NodeStatistics, "median_ns", "9e999", "inf"),
        (rows.Node, "name", "x'00ff'", "damaged"),
        (rows.Node, "bytes", "-5", "which cannot be"),
        (rows.Node, "bytes", "'1,2,3,n'", "no whole number"),
    ],
)
def test_values_that_a_column_cannot_hold_are_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    row: type,
    names: str,
    set_to: str,
    stated: str,
) -> None:
    """They were not left out when the file was opened, as of tables of very many rows."""
    monkeypatch.setattr(database_module, "sound_file", lambda path: path)
    monkeypatch.setattr(database_module, "mark_damaged", lambda path: False)
    path = write_recording(tmp_path / "x.gviz", fork_join_shape(1, 2, 1))
    table = table_of(row).name
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            f"UPDATE {table} SET {names} = {set_to} WHERE node_id = (SELECT max(node_id) "
            f"FROM {table})"
        )
    with Recording(path) as recording, pytest.raises(RecordingError, match=stated):
        recording.fetch_arrays(row, {"graph_id": 1}, (names,))


def test_numbers_without_a_value_are_nan(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "x.gviz", fork_join_shape(1, 2, 1))
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE node SET occupancy_fraction = 0.1 * node_id WHERE node_id % 2")
    with Recording(path) as recording:
        found = recording.fetch_arrays(rows.Node, {"graph_id": 1}, ("occupancy_fraction",))
        nodes = recording.fetch_nodes(1)
    values = found.numbers("occupancy_fraction")
    assert np.isnan(values).tolist() == [n.node_id % 2 == 0 for n in nodes]
    assert found.listed("occupancy_fraction") == [n.occupancy_fraction for n in nodes]
