"""The range that is open at a moment, against looking at all of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gviz.model.open_ranges import OpenRanges

#: Nested ranges as (start, end): each lies between neighbouring cuts of the one around it.
TREES = st.recursive(
    st.just(()), lambda inner: st.lists(inner, max_size=4).map(tuple), max_leaves=20
)


def laid_out(tree: tuple[object, ...], start: int) -> tuple[list[tuple[int, int]], int]:
    """Return ranges of a tree, outer ones first, and where it ends."""
    found: list[tuple[int, int]] = [(start, start)]
    at = start + 1
    for inner in tree:
        assert isinstance(inner, tuple)
        ranges, at = laid_out(inner, at)
        found += ranges
    found[0] = (start, at + 1)
    return found, at + 1


@given(st.lists(TREES, min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_the_innermost_range_is_the_shortest_around_a_moment(trees: list, random) -> None:  # type: ignore[no-untyped-def, type-arg]
    ranges = [(t, *r) for t, tree in enumerate(trees) for r in laid_out(tree, 10)[0]]
    random.shuffle(ranges)
    thread, start, end = np.array(ranges, np.int64).T
    requested = [(t, time) for t in range(len(trees) + 1) for time in range(8, int(end.max()) + 2)]
    found = OpenRanges(thread, start, end).innermost(*np.array(requested, np.int64).T)
    for (t, time), at in zip(requested, found.tolist(), strict=True):
        around = [i for i, r in enumerate(ranges) if r[0] == t and r[1] <= time < r[2]]
        expected = min(around, key=lambda i: ranges[i][2] - ranges[i][1], default=-1)
        assert at == expected


def test_without_ranges_none_is_open() -> None:
    none = np.zeros(0, np.int64)
    assert OpenRanges(none, none, none).innermost(np.array([1]), np.array([5])).tolist() == [-1]
