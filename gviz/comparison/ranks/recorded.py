"""One rank's record of a graph's launches: their rows, and the spans of each of its nodes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gviz.comparison.compared_tree import ComparedTree
from gviz.comparison.ranks.executions import NodeSpans
from gviz.comparison.ranks.level_pairs import LevelPairs
from gviz.dataclass import dataclass
from gviz.recording import rows
from gviz.stats import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class RecordedSide:
    """The launches of a graph that have node times, by ordinal.

    Attributes
    ----------
    tree
        The graph.
    launches
        In order of their ordinals.
    durations
        float64 (launch, node): as :func:`gviz.comparison.changes.durations.DurationReader` has
        them.
    node, launch, start_ns, duration_ns
        int64, one a span, by (node, launch, iteration): ``node`` is an index in the tree,
        ``launch`` a place in ``launches``.
    """

    tree: ComparedTree
    launches: Sequence[rows.Launch]
    durations: FloatArray
    node: IntArray
    launch: IntArray
    start_ns: IntArray
    duration_ns: IntArray

    @property
    def ordinal(self) -> IntArray:
        """The launches' numbers (int64, ascending)."""
        return np.array([x.ordinal for x in self.launches], np.int64)


def read_side(tree: ComparedTree) -> RecordedSide:
    """Return what is recorded of a graph's launches with node times."""
    spans, graph_id = tree.spans, tree.tree.graph.graph_id
    ids, at = np.unique(spans.launch_id, return_inverse=True)
    found = {x.launch_id: x for x in tree.recording.fetch_launches_with_spans(graph_id)}
    launches = [found[i] for i in ids.tolist()]
    order = np.argsort([x.ordinal for x in launches], kind="stable")
    place = np.argsort(order)
    launch = place[at.reshape(-1)]
    by_node = np.lexsort((spans.iteration, launch, spans.node))
    return RecordedSide(
        tree=tree,
        launches=[launches[i] for i in order.tolist()],
        durations=tree.durations(graph_id).launches[order],
        node=spans.node[by_node],
        launch=launch[by_node].astype(np.int64),
        start_ns=spans.start_ns[by_node],
        duration_ns=spans.duration_ns[by_node],
    )


def read_node_spans(side: RecordedSide, pairs: LevelPairs, at: int, common: IntArray) -> NodeSpans:
    """Return the spans of a level's nodes on a side, in the launches with these ordinals.

    Parameters
    ----------
    pairs, at
        The level, and which of its sides this is.
    common
        Ordinals (int64, ascending).
    """
    first, end, node = _slices(side, pairs, at)
    count = end - first
    spans = np.repeat(first - (np.cumsum(count) - count), count) + np.arange(count.sum())
    place = np.searchsorted(common, side.ordinal)
    known = np.isin(side.ordinal, common)[side.launch[spans]]
    spans = spans[known]
    return NodeSpans(
        launch=place[side.launch[spans]].astype(np.int64),
        node=np.repeat(node, count)[known],
        start_ns=side.start_ns[spans],
        duration_ns=side.duration_ns[spans],
    )


def _slices(side: RecordedSide, pairs: LevelPairs, at: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return where the spans of the nodes with partners are, and their index on the first side."""
    none = np.zeros(0, np.int64)
    graph_id = pairs.graph_ids[at]
    if graph_id is None:
        return none, none, none
    partner = pairs.partners[at]
    node = np.flatnonzero(partner >= 0)
    own = side.tree.level(graph_id).first + partner[node]
    return (
        np.searchsorted(side.node, own, "left"),
        np.searchsorted(side.node, own, "right"),
        node,
    )
