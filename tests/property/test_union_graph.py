"""Two versions of a graph as one: no node or edge is lost, and there is an order."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gviz.comparison.changes.edge_changes import compare_edges
from gviz.comparison.pairing.compared_graph import ComparedGraph
from gviz.comparison.union_graph import AFTER, BEFORE, BOTH, UnionGraph, join_graphs
from gviz.dag.ranks import rank_rows


@st.composite
def graphs(draw: st.DrawFn) -> ComparedGraph:
    """A graph without a cycle, its nodes in any order."""
    count = draw(st.integers(0, 9))
    order = draw(st.permutations(range(count)))
    pairs = [(a, b) for at, a in enumerate(order) for b in order[at + 1 :]]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    edges = np.array(chosen, np.int64).reshape(-1, 2)
    none = np.full((count, 3), -1, np.int64)
    return ComparedGraph(
        node_id=np.arange(count, dtype=np.int64),
        type=np.zeros(count, np.int64),
        name=("k",) * count,
        title=("k",) * count,
        grid=none,
        block=none,
        bytes=none[:, 0],
        context=("",) * count,
        source=edges[:, 0],
        target=edges[:, 1],
        edge_type=np.array(draw(st.lists(st.integers(0, 1), min_size=len(edges),
                                         max_size=len(edges))), np.int64),
    )  # fmt: skip


@st.composite
def joined(draw: st.DrawFn) -> tuple[ComparedGraph, ComparedGraph, UnionGraph]:
    """Two graphs with any nodes of one taken for any of the other."""
    first, second = draw(graphs()), draw(graphs())
    free = draw(st.permutations(range(len(second))))
    wanted = draw(st.lists(st.booleans(), min_size=len(first), max_size=len(first)))
    partner = np.full(len(first), -1, np.int64)
    for node in range(len(first)):
        if wanted[node] and free:
            partner[node] = free.pop()
    edges = compare_edges(first, second, partner)
    return first, second, join_graphs(first, second, partner, edges)


@given(joined())
def test_no_node_is_lost_or_doubled(
    found: tuple[ComparedGraph, ComparedGraph, UnionGraph],
) -> None:
    first, second, union = found
    assert sorted(union.before[union.before >= 0].tolist()) == list(range(len(first)))
    assert union.after[union.after >= 0].tolist() == list(range(len(second)))
    assert not ((union.before < 0) & (union.after < 0)).any()
    assert (union.origin == BEFORE).tolist() == (union.after < 0).tolist()
    assert (union.origin == AFTER).tolist() == (union.before < 0).tolist()


@given(joined())
def test_each_side_has_its_own_edges(
    found: tuple[ComparedGraph, ComparedGraph, UnionGraph],
) -> None:
    first, second, union = found
    for graph, index, other in ((first, union.before, AFTER), (second, union.after, BEFORE)):
        mine = union.edge_origin != other
        ends = zip(index[union.source[mine]].tolist(), index[union.target[mine]].tolist(),
                   strict=True)  # fmt: skip
        expected = zip(graph.source.tolist(), graph.target.tolist(), strict=True)
        assert Counter(ends) == Counter(expected)


@given(joined())
def test_forward_edges_form_no_cycle_and_only_edges_before_yield(
    found: tuple[ComparedGraph, ComparedGraph, UnionGraph],
) -> None:
    _, _, union = found
    rank_rows(len(union), *union.forward())  # raises CycleError
    assert set(union.edge_origin[union.runs_back].tolist()) <= {BEFORE}


@given(graphs())
def test_a_graph_with_itself_is_itself(graph: ComparedGraph) -> None:
    partner = np.arange(len(graph))
    union = join_graphs(graph, graph, partner, compare_edges(graph, graph, partner))
    assert len(union) == len(graph)
    assert (union.origin == BOTH).all()
    assert (union.edge_origin == BOTH).all()
    assert not union.runs_back.any()


def test_nodes_that_changed_places_have_one_edge_that_runs_back() -> None:
    def line(a: int, b: int) -> ComparedGraph:
        none = np.full((2, 3), -1, np.int64)
        ends = np.array([[a], [b]], np.int64)
        return ComparedGraph(
            np.arange(2), np.zeros(2, np.int64), ("a", "b"), ("a", "b"), none, none, none[:, 0],
            ("", ""), ends[0], ends[1], np.zeros(1, np.int64),
        )  # fmt: skip

    before, after = line(0, 1), line(1, 0)
    partner = np.arange(2)
    union = join_graphs(before, after, partner, compare_edges(before, after, partner))
    assert union.edge_origin.tolist() == [AFTER, BEFORE]
    assert union.runs_back.tolist() == [False, True]
