"""Nodes that moved to another lane: they run after other nodes now, or beside them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gviz.comparison.pairing import ComparedGraph
from gviz.dag import cover_graph, rank_rows
from gviz.stats import IntArray

#: Questions about dependencies answered in one pass over a graph, a bit each.
_AT_ONCE = 4_096


def moved_lanes(
    first: ComparedGraph, second: ComparedGraph, partner: IntArray
) -> npt.NDArray[np.bool_]:
    """Return for each node of the first graph whether its partner is in another lane.

    Lanes are the chains that the viewer draws. Which branch of a fork goes on in the lane
    before it is arbitrary, so lanes are not compared by number: a node has moved if it is
    behind another node in a lane of one graph and no longer depends on it in the other, where
    both run side by side. False for nodes without a partner, and where edges are not known.

    Parameters
    ----------
    first, second
        The graphs.
    partner
        int64, one a node of the first graph: its partner in the second, -1: none.
    """
    moved = np.zeros(len(first), bool)
    if not (first.edges_known and second.edges_known):
        return moved
    back = np.full(len(second), -1, np.int64)
    paired = np.flatnonzero(partner >= 0)
    back[partner[paired]] = paired
    before, after = _neighbours_in_lanes(first, partner >= 0)
    moved[after] = ~depends(second, partner[before], partner[after])
    before, after = _neighbours_in_lanes(second, back >= 0)
    moved[back[after]] |= ~depends(first, back[before], back[after])
    return moved


def _neighbours_in_lanes(
    graph: ComparedGraph, counted: npt.NDArray[np.bool_]
) -> tuple[IntArray, IntArray]:
    """Return nodes that follow each other in a lane, the others left out."""
    cover = cover_graph(len(graph), graph.source, graph.target)
    order = np.lexsort((cover.row, cover.chain))
    order = order[counted[order]]
    same = cover.chain[order[1:]] == cover.chain[order[:-1]]
    return order[:-1][same], order[1:][same]


def depends(graph: ComparedGraph, before: IntArray, after: IntArray) -> npt.NDArray[np.bool_]:
    """Return for pairs of nodes whether the one after depends on the one before, at any distance.

    Parameters
    ----------
    graph
        The edges.
    before, after
        int64 node indices of one length.
    """
    edges = graph.source * len(graph) + graph.target
    found: npt.NDArray[np.bool_] = np.isin(before * len(graph) + after, edges)
    open_questions = np.flatnonzero(~found)
    if not len(open_questions):
        return found
    row = rank_rows(len(graph), graph.source, graph.target)
    by_row = np.argsort(row[graph.target], kind="stable")
    tails, heads = graph.source[by_row].tolist(), graph.target[by_row].tolist()
    for start in range(0, len(open_questions), _AT_ONCE):
        batch = open_questions[start : start + _AT_ONCE]
        # Bit k of a node: it is, or depends on, the node before of question k.
        reached = [0] * len(graph)
        for bit, node in enumerate(before[batch].tolist()):
            reached[node] |= 1 << bit
        for tail, head in zip(tails, heads, strict=True):
            if reached[tail]:
                reached[head] |= reached[tail]
        ends = after[batch].tolist()
        found[batch] = [reached[end] >> bit & 1 == 1 for bit, end in enumerate(ends)]
    return found
