"""Width, reachability, series and redundant edges of random DAGs, against brute force."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise

import networkx as nx
import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st

from gviz.dag.chains import cover_by_chains, cover_series
from gviz.dag.ranks import rank_rows
from gviz.dag.reachability import Reachability
from gviz.dag.series import series_graph
from gviz.dag.width import graph_width


@dataclass(frozen=True)
class Dag:
    """A random DAG; ``counted`` nodes count for its width."""

    count: int
    edges: list[tuple[int, int]]
    counted: list[bool]

    @property
    def arrays(self) -> tuple[npt.NDArray[np.int64], ...]:
        """Row of each node, tail and head of each edge."""
        table = np.array(self.edges, np.int64).reshape(-1, 2)
        return rank_rows(self.count, table[:, 0], table[:, 1]), table[:, 0], table[:, 1]

    @property
    def graph(self) -> nx.DiGraph[int]:
        found: nx.DiGraph[int] = nx.DiGraph(self.edges)
        found.add_nodes_from(range(self.count))
        return found


@st.composite
def dags(draw: st.DrawFn) -> Dag:
    count = draw(st.integers(0, 12))
    pairs = st.tuples(st.integers(0, max(count - 1, 0)), st.integers(0, max(count - 1, 0)))
    drawn = draw(st.lists(pairs, max_size=24)) if count else []
    place = draw(st.permutations(range(count)))
    edges = sorted({(place[min(p)], place[max(p)]) for p in drawn if p[0] != p[1]})
    counted = draw(st.lists(st.integers(0, 3).map(bool), min_size=count, max_size=count))
    return Dag(count, edges, counted)


@settings(deadline=None)
@given(dags())
def test_width_is_the_largest_antichain(dag: Dag) -> None:
    closure = nx.transitive_closure_dag(dag.graph)
    counted = [n for n in range(dag.count) if dag.counted[n]]
    incomparable = nx.Graph()
    incomparable.add_nodes_from(counted)
    ordered = set(closure.edges)
    incomparable.add_edges_from(
        (a, b) for a, b in combinations(counted, 2) if not {(a, b), (b, a)} & ordered
    )
    largest = max((len(c) for c in nx.find_cliques(incomparable)), default=0) if counted else 0
    found = graph_width(cover_series(*dag.arrays), np.array(dag.counted, bool))
    assert (found.least, found.most, found.is_exact) == (largest, largest, True)
    chosen = found.antichain.tolist()
    assert len(set(chosen)) == largest
    assert set(chosen) <= set(counted)
    assert not any(closure.has_edge(a, b) for a in chosen for b in chosen)


@settings(deadline=None)
@given(dags(), st.integers(0, 40))
def test_width_cut_short_lies_between_its_bounds(dag: Dag, steps: int) -> None:
    cover, counted = cover_series(*dag.arrays), np.array(dag.counted, bool)
    exact = graph_width(cover, counted)
    found = graph_width(cover, counted, most_steps=steps)
    assert found.least <= exact.least <= found.most
    assert len(found.antichain) == found.least


@settings(deadline=None)
@given(dags())
def test_lanes_are_at_least_as_many_as_the_width(dag: Dag) -> None:
    row, tail, head = dag.arrays
    width = graph_width(cover_series(row, tail, head), np.ones(dag.count, bool))
    chain = cover_by_chains(row, tail, head)
    assert width.least == width.most <= width.lane_count
    assert width.most <= int(chain.max(initial=-1)) + 1
    closure = nx.transitive_closure_dag(dag.graph)
    for lane in set(chain.tolist()):
        nodes = sorted(np.flatnonzero(chain == lane).tolist(), key=lambda n: int(row[n]))
        assert all(closure.has_edge(a, b) for a, b in pairwise(nodes))


@settings(deadline=None)
@given(dags())
def test_reachability_is_the_transitive_closure(dag: Dag) -> None:
    closure = nx.transitive_closure_dag(dag.graph)
    pairs = np.array([(a, b) for a in range(dag.count) for b in range(dag.count)], np.int64)
    first, second = pairs.reshape(-1, 2).T
    reachability = Reachability(cover_series(*dag.arrays))
    expected = [a == b or closure.has_edge(a, b) for a, b in pairs.reshape(-1, 2).tolist()]
    assert reachability.reaches(first, second).tolist() == expected
    independent = [
        a != b and not closure.has_edge(a, b) and not closure.has_edge(b, a)
        for a, b in pairs.reshape(-1, 2).tolist()
    ]
    assert reachability.are_independent(first, second).tolist() == independent


@settings(deadline=None)
@given(dags())
def test_redundant_edges_are_those_not_in_the_transitive_reduction(dag: Dag) -> None:
    reduction = set(nx.transitive_reduction(dag.graph).edges)
    found = {
        dag.edges[i] for i in Reachability(cover_series(*dag.arrays)).redundant_edges().tolist()
    }
    assert found == set(dag.edges) - reduction


@settings(deadline=None)
@given(dags())
def test_series_are_stretches_without_other_edges(dag: Dag) -> None:
    row, tail, head = dag.arrays
    series = series_graph(row, tail, head)
    members = [m.tolist() for m in series.members()]
    assert sorted(n for m in members for n in m) == list(range(dag.count))
    edges = set(dag.edges)
    inner = {(a, b) for m in members for a, b in pairwise(m)}
    assert inner <= edges
    assert {dag.edges[i] for i in series.edge.tolist()} == edges - inner
    for a, b in edges - inner:
        # The edge leaves a series at its end and enters one at its start.
        assert members[series.of[a]][-1] == a
        assert members[series.of[b]][0] == b
    assert (series.row[series.tail] < series.row[series.head]).all()
