"""The nodes of a graph in a line, so that two graphs can be aligned."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import numpy as np

from gviz.comparison.pairing.compared_graph import ComparedGraph
from gviz.comparison.pairing.likeness import Likeness
from gviz.dag import rank_rows
from gviz.layout import follow_chains
from gviz.stats import IntArray

#: Neighbouring places compared at once to see how well two lines agree.
_STRETCH = 6

Lines = tuple[IntArray, IntArray]


def line_up(first: ComparedGraph, second: ComparedGraph, likeness: Likeness) -> list[Lines]:
    """Return lines of both graphs in two ways, those first that agree better.

    A line is a topological order in which chains stand in one piece (int64 node indices).
    Between branches the order of creation decides, or the work of their first nodes, which
    does not depend on the order in which a program happens to capture its branches. Without
    known edges there is the order of creation only.

    Raises
    ------
    RecordingError
        If edges form a cycle.
    """
    graphs = (first, second)
    if not (first.edges_known and second.edges_known):
        return [(np.arange(len(first)), np.arange(len(second)))]
    rows = [rank_rows(len(g), g.source, g.target) for g in graphs]
    by_creation: list[IntArray] = []
    by_work: list[IntArray] = []
    for side, (graph, row) in enumerate(zip(graphs, rows, strict=True)):
        created = np.arange(len(graph))
        works = (created, likeness.around[1][side], likeness.work[side], row)
        for keys, found in (((created, row), by_creation), (works, by_work)):
            order = follow_chains(len(graph), graph.source, graph.target, np.lexsort(keys))
            found.append(order)
    ways = [(by_creation[0], by_creation[1]), (by_work[0], by_work[1])]
    return sorted(ways, key=lambda lines: -_agreement(lines, likeness))


def _agreement(lines: Lines, likeness: Likeness) -> int:
    """Return how many short stretches of equal work two lines share."""
    counts = []
    for work, line in zip(likeness.work, lines, strict=True):
        works = work[line].tolist()
        stretches = zip(*(islice(works, i, None) for i in range(_STRETCH)), strict=False)
        counts.append(Counter(stretches))
    return (counts[0] & counts[1]).total()
