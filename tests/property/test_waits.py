"""Nodes that waited for others, and how many overlap: against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from executed_graphs import Played, played_launches
from hypothesis import given, settings
from hypothesis import strategies as st

from gviz.analysis.launch.holds import HeldLaunch
from gviz.analysis.launch.waits import LEAST_NS, Reason, Wait, find_waits
from gviz.dag.chains import cover_series
from gviz.dag.interval_lanes import most_at_once
from gviz.dag.reachability import Reachability
from gviz.stats.idle import union


def waits_of(played: Played, held: HeldLaunch) -> list[Wait]:
    unrolled = held.unrolled
    cover = cover_series(unrolled.row, unrolled.tail, unrolled.head)
    return find_waits(played.graph.tree, held, Reachability(cover), 132)


def waits_by_definition(held: HeldLaunch) -> dict[int, tuple[int, float]]:
    """Return for each node that waited what ran longest meanwhile, and how long anything ran."""
    unrolled = held.unrolled
    everything = np.arange(len(unrolled))
    cover = cover_series(unrolled.row, unrolled.tail, unrolled.head)
    reach = Reachability(cover)
    found = {}
    for vertex in np.flatnonzero(held.timed & (held.start_ns - held.ready_ns > LEAST_NS)).tolist():
        start = np.maximum(held.start_ns, held.ready_ns[vertex])
        end = np.minimum(held.end_ns, held.start_ns[vertex])
        pairs = np.full(len(everything), vertex)
        related = reach.reaches(pairs, everything) | reach.reaches(everything, pairs)
        others = np.flatnonzero(held.timed & (end > start) & ~related)
        others = others[np.argsort(held.end_ns[others], kind="stable")]
        blocked = union(start[others], end[others]).total_ns
        if blocked >= LEAST_NS:
            found[vertex] = (int(others[np.argmax((end - start)[others])]), blocked)
    return found


@pytest.mark.thorough
@settings(deadline=None)
@given(played_launches())
def test_waits_are_those_of_their_definition_also_found_one_by_one(played: Played) -> None:
    held = played.held
    waits = waits_of(played, held)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gviz.analysis.launch.pairs._AT_ONCE", 1)
        assert waits_of(played, held) == waits
    expected = waits_by_definition(held)
    found = {w.vertex: (w.blocker, w.blocked_ns) for w in waits}
    assert found.items() <= expected.items()
    # Left out is what started while its blocker ran on, for no other reason.
    for vertex in expected.keys() - found.keys():
        assert held.end_ns[expected[vertex][0]] > held.start_ns[vertex]
    for wait in waits:
        assert wait.waited_ns == held.start_ns[wait.vertex] - held.ready_ns[wait.vertex]
        ran_on = held.end_ns[wait.blocker] > held.start_ns[wait.vertex]
        assert not (ran_on and wait.reason == Reason.LAUNCH_ORDER)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 9))))
def test_most_at_once_is_reached_at_some_start(spans: list[tuple[int, int]]) -> None:
    ends = [(start, start + length) for start, length in spans]
    counts = [sum(start <= at < end for start, end in ends) for at, _ in ends]
    table = np.array(ends, np.float64).reshape(-1, 2)
    assert most_at_once(table[:, 0], table[:, 1]) == max(counts, default=0)
