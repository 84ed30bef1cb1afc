"""Activities: what is not known, what spans are made of, and parts that become one array."""

from __future__ import annotations

import numpy as np

from gviz.runs import (
    ACTIVITY,
    SPAN_ACTIVITY,
    Activities,
    blank_activities,
    join_activities,
    span_activities,
)
from gviz.stats import UNKNOWN


def numbered(first: int, count: int) -> Activities:
    """Return records in which every number is another."""
    found = blank_activities(count)
    width = ACTIVITY.itemsize // 8
    found.view(np.int64)[:] = np.arange(first * width, (first + count) * width)
    return found


def test_nothing_is_known_of_a_blank_record() -> None:
    (record,) = blank_activities(1)
    assert (record["name"], record["copy_kind"]) == (UNKNOWN, UNKNOWN)
    assert record["grid"].tolist() == [UNKNOWN] * 3


def test_parts_follow_each_other_in_one_array() -> None:
    whole = join_activities([numbered(0, 2), blank_activities(0), numbered(2, 3)])
    assert whole.dtype == ACTIVITY
    assert whole.tobytes() == numbered(0, 5).tobytes()


def test_parts_of_spans_stay_what_they_are() -> None:
    spans = span_activities(numbered(0, 4))
    whole = join_activities([spans[:1], spans[1:]])
    assert whole.dtype == SPAN_ACTIVITY
    assert whole.tobytes() == spans.tobytes()
