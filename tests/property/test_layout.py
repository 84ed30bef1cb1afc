"""Layout of random DAGs: nothing overlaps, edges lead on, long edges touch no node."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gviz.dag.interval_lanes import pack_lanes
from gviz.dag.lanes import cover_chains, place_lanes
from gviz.dag.placement import Placement
from gviz.dag.ranks import rank_rows
from gviz.layout.layers import place_layers
from gviz.layout.timed import place_time

Dag = tuple[int, list[tuple[int, int]]]
LAYOUTS = [place_lanes, place_layers]


@st.composite
def dags(draw: st.DrawFn) -> Dag:
    """A DAG as node count and edges; node numbers are shuffled, so order tells nothing."""
    count = draw(st.integers(1, 40))
    pair = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    pairs = draw(st.lists(pair, max_size=80))
    if draw(st.booleans()):
        pairs += [(i, i + 1) for i in range(count - 1)]
    name = draw(st.permutations(range(count)))
    edges = {(min(a, b), max(a, b)) for a, b in pairs if a != b}
    return count, [(name[a], name[b]) for a, b in sorted(edges)]


def place(layout: Callable[..., Placement], dag: Dag) -> Placement:
    count, edges = dag
    return layout(count, [a for a, _ in edges], [b for _, b in edges])


@pytest.mark.parametrize("layout", LAYOUTS)
@given(dag=dags())
@settings(deadline=None)
def test_layout_nodes_never_overlap(layout: Callable[..., Placement], dag: Dag) -> None:
    p = place(layout, dag)
    for i in range(len(p)):
        near_x = np.abs(p.x - p.x[i]) < p.node_width - 1e-6
        near_y = np.abs(p.y - p.y[i]) < p.node_height
        assert np.count_nonzero(near_x & near_y) == 1
        assert p.node_width / 2 <= p.x[i] <= p.width - p.node_width / 2 + 1e-6
        assert p.node_height / 2 <= p.y[i] <= p.height


@pytest.mark.parametrize("layout", LAYOUTS)
@given(dag=dags())
@settings(deadline=None)
def test_layout_edges_lead_down_or_to_a_later_column(
    layout: Callable[..., Placement], dag: Dag
) -> None:
    p = place(layout, dag)
    for a, b in dag[1]:
        assert (p.column[a], p.y[a]) < (p.column[b], p.y[b])


@given(dag=dags())
@settings(deadline=None)
def test_layout_layers_long_edges_touch_no_node(dag: Dag) -> None:
    p = place(place_layers, dag)
    for e, (a, b) in enumerate(dag[1]):
        points = range(p.route_offset[e], p.route_offset[e + 1])
        for k in list(points)[:-1]:
            if p.route_x[k] != p.route_x[k + 1]:
                continue
            low, high = sorted((p.route_y[k], p.route_y[k + 1]))
            beside = np.abs(p.x - p.route_x[k]) < p.node_width / 2 - 1e-6
            along = (p.y + p.node_height / 2 > low) & (p.y - p.node_height / 2 < high)
            touched = np.flatnonzero(beside & along)
            assert set(touched.tolist()) <= {a, b}


@given(dag=dags())
@settings(deadline=None)
def test_cover_chains_are_paths_that_cover_every_node_once(dag: Dag) -> None:
    count, edges = dag
    tail = np.array([a for a, _ in edges], np.int64)
    head = np.array([b for _, b in edges], np.int64)
    row = rank_rows(count, tail, head)
    chain = cover_chains(row, tail, head)
    known = set(edges)
    for c in range(int(chain.max()) + 1):
        members = sorted(np.flatnonzero(chain == c).tolist(), key=lambda n: int(row[n]))
        assert members
        assert all(pair in known for pair in pairwise(members))


intervals = st.lists(
    st.tuples(st.integers(0, 100), st.integers(0, 20), st.integers(0, 5), st.booleans()),
    max_size=60,
)


@given(rows=intervals)
def test_pack_lanes_intervals_of_a_lane_never_overlap_and_lanes_are_few(
    rows: list[tuple[int, int, int, bool]],
) -> None:
    rows.sort(key=lambda r: r[0])
    start = np.array([r[0] for r in rows], np.float64)
    end = start + np.array([r[1] for r in rows], np.float64)
    chain = np.array([r[2] for r in rows], np.int64)
    lane = pack_lanes(start, end, chain, np.array([r[3] for r in rows], bool))
    for n in set(lane.tolist()):
        members = np.flatnonzero(lane == n)
        assert (start[members][1:] >= end[members][:-1]).all()
    if (end > start).all():
        most = max((int(((start <= t) & (end > t)).sum()) for t in start), default=0)
        assert len(set(lane.tolist())) == most


@given(dag=dags(), data=st.data())
@settings(deadline=None)
def test_time_layout_lanes_never_overlap_and_no_node_is_lost(dag: Dag, data: st.DataObject) -> None:
    count, edges = dag
    source = np.array([a for a, _ in edges], np.int64)
    target = np.array([b for _, b in edges], np.int64)
    row = rank_rows(count, source, target)
    timed = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)))
    length = np.array(data.draw(st.lists(st.integers(1, 50), min_size=count, max_size=count)))
    wait = np.array(data.draw(st.lists(st.integers(0, 9), min_size=count, max_size=count)))
    # A run that respects the edges: every node starts some time after its dependencies end.
    start = np.zeros(count)
    for node in np.argsort(row, kind="stable").tolist():
        before = source[target == node]
        start[node] = wait[node] + (start[before] + length[before]).max(initial=0)
    nan = np.where(timed, 0.0, np.nan)
    chain = cover_chains(row, source, target)
    p = place_time(start + nan, start + length + nan, row, chain, source, target)
    assert len(p.lane) == count
    assert p.start_ns[timed].tolist() == start[timed].tolist()
    for a, b in edges:
        assert p.start_ns[b] >= p.end_ns[a]
    for lane in np.unique(p.lane):
        mine = np.flatnonzero((p.lane == lane) & timed)
        mine = mine[np.argsort(p.start_ns[mine], kind="stable")]
        assert (p.end_ns[mine[:-1]] <= p.start_ns[mine[1:]]).all()
