"""Columns of bytes, and parts of columns that follow each other."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from gviz.recording import rows
from gviz.recording.columns import Blobs, Columns, join_blobs, join_columns
from gviz.recording.reader import Recording

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
