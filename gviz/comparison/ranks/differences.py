"""Nodes by which the graph of a rank differs from that of the first."""

from __future__ import annotations

import numpy as np

from gviz.comparison.ranks.level_pairs import LevelPairs
from gviz.comparison.ranks.rank_graph import RankGraph
from gviz.comparison.ranks.result import LoneNode, OtherNode, RankDifference
from gviz.stats import IntArray

#: Nodes of a difference that are named.
NAMED = 5


def rank_differences(graph: RankGraph) -> tuple[RankDifference, ...]:
    """Return how each rank's graph differs from that of the first; none for one that does not.

    Bodies that only one of both has are not among them: :func:`body_skews` says of them.
    """
    found = (_difference(graph, at) for at in range(1, len(graph.sides)))
    return tuple(one for one in found if one.more_count or one.less_count or one.other_count)


def _difference(graph: RankGraph, at: int) -> RankDifference:
    more: list[LoneNode] = []
    less: list[LoneNode] = []
    other: list[OtherNode] = []
    for level in graph.levels:
        pairs = level.pairs
        there = pairs.graphs[at]
        if there is None:
            continue
        partner = pairs.partners[at]
        less += _named(pairs, 0, np.flatnonzero(partner < 0))
        more += _named(pairs, at, np.setdiff1d(np.arange(len(there)), partner))
        other += _renamed(pairs, at)
    return RankDifference(
        rank=graph.sides[at].rank,
        more_count=len(more),
        less_count=len(less),
        other_count=len(other),
        more=tuple(more[:NAMED]),
        less=tuple(less[:NAMED]),
        other=tuple(other[:NAMED]),
    )


def _renamed(pairs: LevelPairs, at: int) -> list[OtherNode]:
    there, partner = pairs.graphs[at], pairs.partners[at].tolist()
    assert there is not None  # the level is there
    return [
        OtherNode(_node(pairs, at, other), _node(pairs, 0, node))
        for node, other in enumerate(partner)
        if other >= 0 and there.title[other] != pairs.first.title[node]
    ]


def _named(pairs: LevelPairs, side: int, which: IntArray) -> list[LoneNode]:
    return [_node(pairs, side, node) for node in which.tolist()]


def _node(pairs: LevelPairs, side: int, node: int) -> LoneNode:
    graph, graph_id = pairs.graphs[side], pairs.graph_ids[side]
    assert graph is not None  # the level is there
    assert graph_id is not None
    return LoneNode(
        name=graph.title[node],
        context=graph.context[node],
        body=pairs.body,
        graph_id=graph_id,
        node_id=int(graph.node_id[node]),
    )
