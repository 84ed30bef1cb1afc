"""Records that are kept as bytes."""

from __future__ import annotations

import numpy as np

from gviz.spool.records import PackedRecords, table


def ranges(*starts: int) -> PackedRecords:
    """Return ranges of the host that begin at these times."""
    found = PackedRecords(table.NVTX_RANGE)
    for path, start in enumerate(starts, 1):
        found.add(table.NVTX_RANGE.pack(path, 7, start, start + 5))
    return found


def test_records_come_back_in_order_of_arrival() -> None:
    found = ranges(2**61, 10)
    assert len(found) == 2
    assert found.to_array().tolist() == [(1, 7, 2**61, 2**61 + 5), (2, 7, 10, 15)]


def test_records_may_come_after_a_look_at_those_before() -> None:
    found = ranges(10)
    before = found.to_array()
    found.extend(ranges(20, 30).to_array())
    assert (len(before), len(found)) == (1, 3)


def test_records_that_are_not_chosen_are_forgotten() -> None:
    found = ranges(10, 20, 30)
    found.choose(np.array([True, False, True]))
    assert found.to_array()["path_id"].tolist() == [1, 3]


def test_no_records_are_an_empty_array() -> None:
    found = PackedRecords(table.CALL)
    found.choose(np.zeros(0, bool))
    assert found.to_array().dtype == table.CALL.dtype
    assert len(found) == 0
