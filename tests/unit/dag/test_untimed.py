"""Bounds of when nodes without a time ran."""

from __future__ import annotations

import numpy as np

from gviz.dag.ranks import rank_rows
from gviz.dag.untimed import earliest_times, latest_times

NAN = np.nan


def bounds(
    spans: list[tuple[float, float] | None], edges: list[tuple[int, int]]
) -> tuple[list[float], list[float]]:
    """Return the earliest ends and the latest starts."""
    start, end = np.array([s or (NAN, NAN) for s in spans]).T
    source, target = np.array(edges, np.int64).reshape(-1, 2).T
    row = rank_rows(len(spans), source, target)
    _, ends = earliest_times(start, end, row, source, target)
    return ends.tolist(), latest_times(start, row, source, target).tolist()


def test_node_runs_between_the_last_end_before_and_the_first_start_after() -> None:
    spans = [(0.0, 4.0), (1.0, 9.0), None, (12.0, 15.0), (10.0, 11.0)]
    ends, starts = bounds(spans, [(0, 2), (1, 2), (2, 3), (2, 4)])
    assert (ends[2], starts[2]) == (9.0, 10.0)


def test_nodes_without_a_time_pass_the_bounds_on() -> None:
    ends, starts = bounds([(0.0, 4.0), None, None, (6.0, 7.0)], [(0, 1), (1, 2), (2, 3)])
    assert ends == [4.0, 4.0, 4.0, 7.0]
    assert starts == [0.0, 6.0, 6.0, 6.0]


def test_root_runs_from_the_launchs_start_and_a_last_node_has_no_bound() -> None:
    ends, starts = bounds([None, (3.0, 4.0), None], [(0, 1), (1, 2)])
    assert ends == [0.0, 4.0, 4.0]
    assert starts[0] == 3.0
    assert np.isnan(starts[2])


def test_where_nothing_has_a_time_everything_is_at_the_start() -> None:
    ends, starts = bounds([None, None], [(0, 1)])
    assert ends == [0.0, 0.0]
    assert np.isnan(starts).all()
