"""The structural critical path: against networkx, and what slack promises."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gviz.cuda.node_type import EdgeType
from gviz.dag.critical_path import CriticalPath, structural_length_ns, structural_path
from gviz.dag.ranks import rank_rows
from gviz.errors import RecordingError


@dataclass(frozen=True)
class Weighted:
    """A DAG with a duration a node and a type an edge."""

    durations: list[float]
    source: list[int]
    target: list[int]
    types: list[int]

    def path(self, **changes: float) -> CriticalPath:
        """Return the path, with other durations of nodes given as ``n<index>``."""
        durations = list(self.durations)
        for name, value in changes.items():
            durations[int(name[1:])] = value
        return structural_path(
            len(durations), self.source, self.target, self.types, np.array(durations)
        )


@st.composite
def graphs(draw: st.DrawFn) -> Weighted:
    count = draw(st.integers(1, 14))
    # Halves: sums of them are exact, so that equality can be asked for.
    halves = st.integers(0, 200).map(lambda n: n / 2)
    durations = draw(st.lists(halves, min_size=count, max_size=count))
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    edges = sorted({(min(p), max(p)) for p in draw(st.lists(pairs, max_size=30)) if p[0] != p[1]})
    # Numbers that are not in order, as those of a recapture.
    place = draw(st.permutations(range(count)))
    types = [draw(st.sampled_from([EdgeType.DEFAULT, EdgeType.PROGRAMMATIC])) for _ in edges]
    return Weighted(
        durations,
        [place[a] for a, _ in edges],
        [place[b] for _, b in edges],
        [int(t) for t in types],
    )


def longest(graph: Weighted) -> float:
    """Return the length by networkx: durations as edges from a node's start to its finish."""
    times = nx.DiGraph()
    for node, duration in enumerate(graph.durations):
        times.add_edge((node, "start"), (node, "finish"), weight=duration)
    for a, b, kind in zip(graph.source, graph.target, graph.types, strict=True):
        side = "start" if kind == EdgeType.PROGRAMMATIC else "finish"
        times.add_edge((a, side), (b, "start"), weight=0.0)
    return float(nx.dag_longest_path_length(times, weight="weight"))


@given(graphs())
def test_length_is_that_of_the_longest_path(graph: Weighted) -> None:
    assert graph.path().length_ns == longest(graph)


@given(graphs())
def test_slack_is_what_a_node_may_take_longer(graph: Weighted) -> None:
    found = graph.path()
    for node, slack in enumerate(found.slack_ns.tolist()):
        assert slack >= 0
        longer = graph.durations[node] + slack
        if not any(
            a == node and t == EdgeType.PROGRAMMATIC
            for a, t in zip(graph.source, graph.types, strict=True)
        ):
            assert graph.path(**{f"n{node}": longer}).length_ns == found.length_ns
            assert graph.path(**{f"n{node}": longer + 0.5}).length_ns == found.length_ns + 0.5


@given(graphs())
def test_path_leads_along_edges_and_has_no_slack(graph: Weighted) -> None:
    found = graph.path()
    edges = set(zip(graph.source, graph.target, strict=True))
    nodes = found.nodes.tolist()
    assert all(step in edges for step in pairwise(nodes))
    assert found.slack_ns[found.nodes].tolist() == [0.0] * len(nodes)
    assert found.start_ns[nodes[0]] == 0
    assert found.start_ns[nodes[-1]] + graph.durations[nodes[-1]] == found.length_ns


@given(graphs())
def test_its_length_alone_is_its_length(graph: Weighted) -> None:
    edges = graph.source, graph.target, graph.types
    count = len(graph.durations)
    length = structural_length_ns(count, *edges, graph.durations)
    assert length == graph.path().length_ns
    row = rank_rows(count, np.array(graph.source, int), np.array(graph.target, int))
    assert structural_length_ns(count, *edges, graph.durations, row) == length


@given(graphs())
def test_times_fit_the_edges(graph: Weighted) -> None:
    found = graph.path()
    for a, b, kind in zip(graph.source, graph.target, graph.types, strict=True):
        lag = 0.0 if kind == EdgeType.PROGRAMMATIC else graph.durations[a]
        assert found.start_ns[b] >= found.start_ns[a] + lag


def test_nodes_without_a_time_count_as_nothing() -> None:
    found = structural_path(3, [0, 1], [1, 2], [0, 0], [5.0, np.nan, 7.0])
    assert found.length_ns == 12.0
    assert found.nodes.tolist() == [0, 1, 2]


def test_graph_without_nodes_has_no_path() -> None:
    found = structural_path(0, [], [], [], [])
    assert (found.length_ns, found.nodes.tolist()) == (0.0, [])


def test_cycle_is_refused() -> None:
    with pytest.raises(RecordingError, match="cycle"):
        structural_path(2, [0, 1], [1, 0], [0, 0], [1.0, 1.0])
