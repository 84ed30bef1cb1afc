"""Pairs of nodes of two graphs, though ids, addresses and order differ.

Method
------
1. Both graphs are put in line so that chains stay in one piece (:mod:`.order`).
2. The lines are aligned (:mod:`.alignment`). A pair scores by kind, kernel name, launch
   shape, size and the work around it (:mod:`.likeness`); what was inserted or removed is a
   gap, and one long gap is cheaper than many short ones: a layer more among equal layers is one
   gap between two layers, and the others are shifted as a whole.
3. The pairs are mended by the edges, which the line does not show (:mod:`.repair`): branches
   that stood in another order, and nodes of another kind or kernel between the same neighbours.
4. Nodes still alone are paired with equal work close by: they were moved.

Where equal layers follow each other and one is added, nothing shows which of them it is; the
last of them is called added, or that whose NVTX ranges have no counterpart.

Not found: work that moved far, and nodes that stand for each other only by what they compute.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from gviz.comparison.pairing.alignment import GapCosts, align
from gviz.comparison.pairing.compared_graph import ComparedGraph
from gviz.comparison.pairing.likeness import Likeness
from gviz.comparison.pairing.order import Lines, line_up
from gviz.comparison.pairing.repair import Repair
from gviz.layout import Line, invert
from gviz.stats import IntArray

#: To open a gap, for each place in it, and for each node whose result crosses its ends.
_OPEN, _EXTEND, _CROSSED = 4.0, 1.0, 0.3
#: More results than so many do not make a cut worse.
_MOST_CROSSED = 8
#: Both ways to put a graph in line are tried up to so many nodes of both graphs.
_BOTH_WAYS = 2_000
#: Equal work moved by so many places is paired.
_MOVED_PLACES = 24


def pair_nodes(first: ComparedGraph, second: ComparedGraph) -> IntArray:
    """Return the partner of each node of the first graph in the second (int64 index, -1: none).

    No two nodes have the same partner. The result depends on the graphs alone. For graphs
    of n nodes that differ in k, O(n k) cells of numpy and O(n) steps; the whole table of n by n
    at worst.

    Raises
    ------
    RecordingError
        If the edges of a graph form a cycle.
    """
    likeness = Likeness(first, second)
    ways = line_up(first, second, likeness)
    for lines in ways:
        if _is_same(first, second, likeness, lines):
            partner = np.full(len(first), -1, np.int64)
            partner[lines[0]] = lines[1]
            return partner
    best: tuple[float, IntArray] | None = None
    for lines in ways if len(first) + len(second) <= _BOTH_WAYS else ways[:1]:
        partner = _align_lines(first, second, likeness, lines)
        repair = Repair(first, second, likeness, partner)
        partner = repair.run()
        _pair_moved(partner, likeness, lines)
        if best is None or repair.total() > best[0]:
            best = repair.total(), partner
    assert best is not None
    return best[1]


def _is_same(first: ComparedGraph, second: ComparedGraph, likeness: Likeness, lines: Lines) -> bool:
    """Return whether two lines hold equal work with equal edges."""
    graphs = (first, second)
    if len(first) != len(second) or len(first.source) != len(second.source):
        return False
    if not np.array_equal(likeness.work[0][lines[0]], likeness.work[1][lines[1]]):
        return False
    keys = []
    for graph, line in zip(graphs, lines, strict=True):
        place = invert(line)
        keys.append(np.sort(place[graph.source] * len(graph) + place[graph.target]))
    return np.array_equal(keys[0], keys[1])


def _align_lines(
    first: ComparedGraph, second: ComparedGraph, likeness: Likeness, lines: Lines
) -> IntArray:
    known = first.edges_known and second.edges_known
    costs = [_gap_costs(g, line, known) for g, line in zip((first, second), lines, strict=True)]
    one, two = align(likeness.along(*lines), costs[0], costs[1])
    partner = np.full(len(first), -1, np.int64)
    partner[lines[0][one]] = lines[1][two]
    return partner


def _gap_costs(graph: ComparedGraph, line: IntArray, edges_known: bool) -> GapCosts:
    labels = np.zeros(len(graph), np.int64)
    # Without the edges of one graph the line is the order of creation: edges may lead back in it.
    edges = (graph.source, graph.target) if edges_known else (graph.source[:0], graph.target[:0])
    live = Line(labels, *edges, line).live
    crossed = _CROSSED * np.minimum(live, _MOST_CROSSED)
    return GapCosts(_OPEN + crossed, crossed, _EXTEND)


def _pair_moved(partner: IntArray, likeness: Likeness, lines: Lines) -> None:
    """Pair nodes that are left with nodes of equal work near where they would be; in place."""
    place, there = invert(lines[0]), invert(lines[1])
    left: dict[int, list[int]] = {}
    for node in lines[1][~np.isin(lines[1], partner)].tolist():
        left.setdefault(int(likeness.work[1][node]), []).append(int(there[node]))
    paired = lines[0][partner[lines[0]] >= 0]
    anchors, reached = place[paired].tolist(), there[partner[paired]].tolist()
    for node in lines[0][partner[lines[0]] < 0].tolist():
        offers = left.get(int(likeness.work[0][node]))
        if not offers:
            continue
        at = bisect_left(anchors, int(place[node])) - 1
        wanted = reached[at] + 1 if at >= 0 else 0
        nearest = min(offers, key=lambda other: abs(other - wanted))
        if abs(nearest - wanted) <= _MOVED_PLACES:
            offers.remove(nearest)
            partner[node] = lines[1][nearest]
