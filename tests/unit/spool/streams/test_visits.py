"""Activity records of windows that CUPTI came for, with gviz's ids."""

from __future__ import annotations

import numpy as np

from gviz.runs import Activities, blank_activities
from gviz.spool.records.call_records import VisitedRecord
from gviz.spool.streams.visits import MOST_LAUNCHES, Visits


def records(*ids: tuple[int, int]) -> Activities:
    """Return records of these executables and correlations."""
    found = blank_activities(len(ids))
    found["exec_id"], found["correlation_id"] = np.array(ids).T
    return found


def test_records_of_other_recordings_stay_as_they_are() -> None:
    found = records((3, 4), (-1, 5))
    assert Visits().translate(found) is found


def test_records_get_the_ids_of_their_launch() -> None:
    visits = Visits()
    visits.add(VisitedRecord(101, 1_001, 3, 7))
    visits.add(VisitedRecord(102, 1_002, 4, 8))
    # A launch, a body of one, work outside graphs, another executable's, a launch not told of.
    found = visits.translate(records((3, 7), (4, 8), (3, 0), (-1, 9), (5, 7), (4, 7)))
    pairs = list(zip(found["exec_id"].tolist(), found["correlation_id"].tolist(), strict=True))
    assert pairs == [(101, 1_001), (102, 1_002), (101, 0)]


def test_number_that_comes_again_means_the_later_launch() -> None:
    visits = Visits()
    for correlation in (1_001, 1_002):
        visits.add(VisitedRecord(101, correlation, 3, 7))
    assert visits.translate(records((3, 7)))["correlation_id"].tolist() == [1_002]


def test_launches_of_long_ago_are_forgotten() -> None:
    visits = Visits()
    for i in range(MOST_LAUNCHES + 1):
        visits.add(VisitedRecord(101, i, 3, i + 1))
    found = visits.translate(records((3, 1), (3, MOST_LAUNCHES + 1)))
    assert found["correlation_id"].tolist() == [MOST_LAUNCHES]
