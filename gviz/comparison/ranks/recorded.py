"""One rank's record of a graph's launches: their rows, and the spans of each of its nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gviz.comparison.changes import DurationReader
from gviz.comparison.ranks.executions import NodeSpans
from gviz.comparison.ranks.level_pairs import LevelPairs
from gviz.recording import Recording, rows
from gviz.stats import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class RecordedSide:
    """The launches of a graph that have node times, by ordinal.

    Attributes
    ----------
    launches
        In order of their ordinals.
    durations
        float64 (launch, node): as :func:`gviz.comparison.changes.durations.DurationReader` has
        them.
    exec_node_id, launch, start_ns, duration_ns
        int64, one a span of the graph or of a body in it, by (node, launch, iteration); ``launch``
        is a place in ``launches``.
    """

    launches: Sequence[rows.Launch]
    durations: FloatArray
    exec_node_id: IntArray
    launch: IntArray
    start_ns: IntArray
    duration_ns: IntArray

    @property
    def ordinal(self) -> IntArray:
        """The launches' numbers (int64, ascending)."""
        return np.array([x.ordinal for x in self.launches], np.int64)


def read_side(recording: Recording, graph_id: int) -> RecordedSide:
    """Return what is recorded of a graph's launches with node times."""
    spans = recording.fetch_graph_spans(graph_id)
    ids, at = np.unique(spans.launch_id, return_inverse=True)
    found = {x.launch_id: x for x in recording.fetch_launches(graph_id)}
    launches = [found[i] for i in ids.tolist()]
    order = np.argsort([x.ordinal for x in launches], kind="stable")
    place = np.argsort(order)
    launch = place[at.reshape(-1)]
    by_node = np.lexsort((spans.iteration, launch, spans.node_id))
    return RecordedSide(
        launches=[launches[i] for i in order.tolist()],
        durations=DurationReader(recording).read(graph_id).launches[order],
        exec_node_id=spans.node_id[by_node],
        launch=launch[by_node].astype(np.int64),
        start_ns=spans.start_ns[by_node],
        duration_ns=spans.duration_ns[by_node],
    )


def read_node_spans(
    recording: Recording, side: RecordedSide, pairs: LevelPairs, at: int, common: IntArray
) -> NodeSpans:
    """Return the spans of a level's nodes on a side, in the launches with these ordinals.

    Parameters
    ----------
    pairs, at
        The level, and which of its sides this is.
    common
        Ordinals (int64, ascending).
    """
    first, end, node = _slices(recording, side, pairs, at)
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


def _slices(
    recording: Recording, side: RecordedSide, pairs: LevelPairs, at: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Return where the spans of the nodes with partners are, and their index on the first side."""
    none = np.zeros(0, np.int64)
    graph_id = pairs.graph_ids[at]
    if graph_id is None:
        return none, none, none
    found = recording.fetch_arrays(rows.Node, {"graph_id": graph_id}, ("node_id", "exec_node_id"))
    ids = dict(zip(found.integers("node_id").tolist(),
                   found.integers("exec_node_id", -1).tolist(), strict=True))  # fmt: skip
    node = np.flatnonzero(pairs.partners[at] >= 0)
    exec_ids = np.array([ids[pairs.node_id(at, n) or 0] for n in node.tolist()], np.int64)
    timed = exec_ids >= 0
    exec_ids, node = exec_ids[timed], node[timed]
    return (
        np.searchsorted(side.exec_node_id, exec_ids, "left"),
        np.searchsorted(side.exec_node_id, exec_ids, "right"),
        node,
    )
