"""Times of what is nested, against sums made one by one."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gviz.model.tree.body_times import BodySpans, Nesting, measure_bodies

Span = tuple[int, int, int, int]


@st.composite
def nestings(draw: st.DrawFn) -> Nesting:
    """Levels of a few nodes each; a level's holder is a node of an earlier one."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=6))
    parent, level = [-1], [0] * sizes[0]
    for number, size in enumerate(sizes[1:], start=1):
        parent.append(draw(st.integers(0, len(level) - 1)))
        level += [number] * size
    once = draw(st.lists(st.booleans(), min_size=len(level), max_size=len(level)))
    return Nesting(np.array(level), np.array(parent), np.array(once), True)


def around(nesting: Nesting, node: int) -> list[int]:
    found = []
    while (node := int(nesting.parent[nesting.level[node]])) >= 0:
        found.append(node)
    return found


@given(nesting=nestings(), data=st.data())
@settings(deadline=None)
def test_bodies_are_summed_by_launch(nesting: Nesting, data: st.DataObject) -> None:
    one = st.tuples(
        st.integers(0, 2),
        st.integers(0, len(nesting.level) - 1),
        st.integers(0, 40),
        st.integers(0, 20),
    )
    spans: list[Span] = data.draw(st.lists(one, max_size=30))
    columns = [np.array(c, np.int64) for c in zip(*spans, strict=True)] or [
        np.zeros(0, np.int64)
    ] * 4
    times, iterations = measure_bodies(nesting, BodySpans(*columns))
    sums: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    ran: dict[int, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for launch, node, start, length in spans:
        for parent in around(nesting, node):
            sums[parent][launch] += length
            ran[parent][launch] |= set(range(start, start + length))
    for node in range(len(nesting.level)):
        found = list(sums[node].values())
        assert times.launches[node] == len(found)
        if not found:
            assert np.isnan(times.median_ns[node])
            continue
        assert times.median_ns[node] == np.median(found)
        assert (times.min_ns[node], times.max_ns[node]) == (min(found), max(found))
        assert times.p95_ns[node] >= times.p5_ns[node]
        if nesting.level[node] == 0:
            whole = [len(ns) for ns in ran[node].values()]
            assert times.running_ns[node] == np.median(whole)
            assert times.running_ns[node] <= times.max_ns[node]
    assert (iterations.launches <= 3).all()
    known = ~np.isnan(iterations.median)
    assert (iterations.least[known] <= iterations.median[known]).all()
    assert (iterations.median[known] <= iterations.most[known]).all()
