"""Properties of every comparison, on random graphs and random p values."""

from __future__ import annotations

import networkx as nx
import numpy as np
from folding_graphs import LabelledGraph, random_graphs
from hypothesis import given
from hypothesis import strategies as st

from gviz.comparison.changes.edge_changes import compare_edges
from gviz.comparison.changes.lane_changes import depends, moved_lanes
from gviz.comparison.pairing.compared_graph import ComparedGraph
from gviz.comparison.pairing.node_pairs import pair_nodes
from gviz.stats.significance import adjusted


def compared(graph: LabelledGraph) -> ComparedGraph:
    count = len(graph.labels)
    names = tuple(f"kernel_{label}" for label in graph.labels)
    shape = np.ones((count, 3), np.int64)
    return ComparedGraph(
        node_id=np.arange(count),
        type=np.array([label % 2 for label in graph.labels], np.int64),
        name=names,
        title=names,
        grid=shape,
        block=shape,
        bytes=np.full(count, -1),
        context=("",) * count,
        source=graph.source,
        target=graph.target,
        edge_type=np.zeros(len(graph.edges), np.int64),
    )


@given(random_graphs())
def test_graph_is_its_own_partner(graph: LabelledGraph) -> None:
    one = compared(graph)
    partner = pair_nodes(one, one)
    assert sorted(partner.tolist()) == list(range(len(one)))
    assert [one.name[i] for i in partner.tolist()] == list(one.name)
    edges = compare_edges(one, one, partner)
    assert (len(edges.removed), len(edges.added)) == (0, 0)
    assert not moved_lanes(one, one, partner).any()


@given(random_graphs(), random_graphs())
def test_partners_and_edges_of_any_two_graphs(a: LabelledGraph, b: LabelledGraph) -> None:
    one, two = compared(a), compared(b)
    partner = pair_nodes(one, two)
    assert np.array_equal(partner, pair_nodes(one, two))
    partners = partner[partner >= 0].tolist()
    assert len(set(partners)) == len(partners)
    assert all(p < len(two) for p in partners)
    edges = compare_edges(one, two, partner)
    kept = edges.kept
    assert sorted([*kept[:, 0].tolist(), *edges.removed.tolist()]) == list(range(len(a.edges)))
    assert sorted([*kept[:, 1].tolist(), *edges.added.tolist()]) == list(range(len(b.edges)))
    for first, second in kept.tolist():
        ends = a.edges[first]
        assert (partner[ends[0]], partner[ends[1]]) == b.edges[second]
    # No edge between partners is both removed and added.
    moved = {(int(partner[a.edges[e][0]]), int(partner[a.edges[e][1]])) for e in edges.removed}
    assert not moved & {b.edges[e] for e in edges.added}
    assert len(moved_lanes(one, two, partner)) == len(one)


@given(random_graphs(), st.data())
def test_dependence_is_reachability(graph: LabelledGraph, data: st.DataObject) -> None:
    count = len(graph.labels)
    if not count:
        return
    place = st.integers(0, count - 1)
    requested = data.draw(st.lists(st.tuples(place, place), min_size=1, max_size=20))
    before, after = (np.array(x, np.int64) for x in zip(*requested, strict=True))
    digraph = graph.digraph()
    expected = [nx.has_path(digraph, a, b) for a, b in requested]
    assert depends(compared(graph), before, after).tolist() == expected


@given(st.lists(st.floats(0, 1) | st.just(float("nan")), max_size=30))
def test_adjusted_p_values_keep_their_order(values: list[float]) -> None:
    p = np.array(values)
    q = adjusted(p)
    known = ~np.isnan(p)
    assert np.array_equal(np.isnan(q), ~known)
    assert (q[known] >= p[known]).all()
    assert (q[known] <= 1 + 1e-12).all()
    order = np.argsort(p[known], kind="stable")
    assert (np.diff(q[known][order]) >= 0).all()
