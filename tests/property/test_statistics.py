"""Node statistics agree with numpy, computed node by node."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gviz.stats.medians import median_launch
from gviz.stats.ordering import is_ascending, order_of_rows
from gviz.stats.statistics import node_statistics

_NODE = st.integers(0, 5) | st.integers(0, 2**32 - 1)
_DURATION = st.integers(0, 100) | st.integers(0, 2**52)
_START = st.integers(-100, 100) | st.integers(0, 2**52)


@given(st.lists(st.tuples(_NODE, _DURATION, _START), max_size=60))
def test_statistics_equal_those_of_numpy(spans: list[tuple[int, int, int]]) -> None:
    node_id, duration, start = np.array(spans, dtype=np.int64).reshape(-1, 3).T
    found = node_statistics(node_id, duration, start)
    assert found.node_id.tolist() == sorted(set(node_id.tolist()))
    for i, node in enumerate(found.node_id):
        own = duration[node_id == node]
        assert found.count[i] == len(own)
        assert found.total_ns[i] == own.sum()
        assert found.min_ns[i] == own.min()
        assert found.max_ns[i] == own.max()
        median = np.percentile(own, 50)
        assert found.median_ns[i] == median
        assert found.p5_ns[i] == np.percentile(own, 5)
        assert found.p95_ns[i] == np.percentile(own, 95)
        assert found.mad_ns[i] == np.median(np.abs(own - median))
        assert found.start_median_ns[i] == np.median(start[node_id == node])


@given(st.lists(st.tuples(_NODE, _DURATION, _START), min_size=1, max_size=40), st.randoms())
def test_order_of_spans_does_not_matter(spans: list[tuple[int, int, int]], random: object) -> None:
    shuffled = list(spans)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    first, second = (node_statistics(*np.array(s, dtype=np.int64).T) for s in (spans, shuffled))
    graph = np.ones(len(first), np.int64)
    rows, others = (list(x.to_tuples(graph, x.node_id)) for x in (first, second))
    assert rows == others


_MANY = st.integers(0, 2) | st.integers(0, 2**40)


@given(st.lists(st.tuples(_MANY, _MANY, _MANY, _MANY), max_size=40))
def test_median_launch_equals_numpys_medians(spans: list[tuple[int, int, int, int]]) -> None:
    node, iteration, start, duration = np.array(spans, np.int64).reshape(-1, 4).T
    found = median_launch(node, iteration, start, duration)
    keys = list(zip(found.node_id.tolist(), found.iteration.tolist(), strict=True))
    assert sorted(keys) == sorted({(n, i) for n, i, _, _ in spans})
    for at, (n, i) in enumerate(keys):
        own = (node == n) & (iteration == i)
        assert found.count[at] == own.sum()
        assert found.start_ns[at] == np.median(start[own])
        assert found.duration_ns[at] == np.median(duration[own])
    assert is_ascending((found.start_ns, found.duration_ns))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 3)), max_size=30))
def test_order_of_rows_is_that_of_lexsort(rows: list[tuple[int, int, int]]) -> None:
    columns = np.array(rows, np.int64).reshape(-1, 3).T
    for count in (1, 2, 3):
        expected = np.lexsort(columns[:count][::-1]) if len(rows) else []
        assert order_of_rows(tuple(columns[:count])).tolist() == list(expected)
