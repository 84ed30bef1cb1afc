"""Cycles of any directed graph, against networkx."""

from __future__ import annotations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from gviz.dag.cycle import find_cycle

_NODES = 12
_EDGES = st.lists(st.tuples(st.integers(0, _NODES - 1), st.integers(0, _NODES - 1)), max_size=30)


@given(_EDGES)
def test_cycle_is_one_of_the_graph_and_none_where_there_is_none(
    edges: list[tuple[int, int]],
) -> None:
    cycle = find_cycle(_NODES, edges)
    graph = nx.DiGraph(edges)
    assert bool(cycle) == (not nx.is_directed_acyclic_graph(graph))
    assert len(set(cycle)) == len(cycle)
    assert all(graph.has_edge(a, b) for a, b in zip(cycle, [*cycle[1:], *cycle[:1]], strict=True))
