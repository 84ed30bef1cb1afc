"""Nodes that take longer than the events around their launch saw: more time than there was."""

from __future__ import annotations

from pathlib import Path

import pytest
from planned_recordings import Plan, Planned, chain_edges, in_a_row, subject_of

from gviz.dag import TOLERANCE_NS
from gviz.model import ContradictedTimes

#: Four nodes of 50 us, with 400 ns from one to the next.
LENGTH_NS = 4 * 50_000 + 3 * 400


def contradicted(folder: Path, event_ns: int) -> ContradictedTimes:
    nodes = in_a_row(*(Planned(f"k{i}", 0, 50_000) for i in range(4)))
    plan = Plan(nodes, chain_edges(4), launch={"event_duration_ns": event_ns})
    return subject_of(plan.write(folder / "x.gviz")).contradicted


def test_longer_than_the_wall_beyond_the_tolerance_is_a_contradiction(tmp_path: Path) -> None:
    found = contradicted(tmp_path, LENGTH_NS - TOLERANCE_NS - 1)
    assert set(found.length_ns) == {LENGTH_NS}
    assert set(found.beyond_ns) == {TOLERANCE_NS + 1}
    assert not found.count.any(), "no dependency is contradicted"
    assert found.contradiction_count == len(found)
    assert found.is_large.all(), "2.5% of the launch: figures of two digits would be wrong"
    assert found.describe() == (
        "nodes take up to 5.00 µs longer than the events around their launch saw"
    )


@pytest.mark.parametrize("event_ns", [LENGTH_NS - TOLERANCE_NS, LENGTH_NS, 2 * LENGTH_NS])
def test_within_the_tolerance_it_is_none(tmp_path: Path, event_ns: int) -> None:
    found = contradicted(tmp_path, event_ns)
    assert (found.contradiction_count, found.describe()) == (0, "")
    assert not found.is_large.any()
