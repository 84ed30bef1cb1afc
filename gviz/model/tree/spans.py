"""Spans of launches, and their statistics, on the nodes of a tree."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np

from gviz.dataclass import dataclass
from gviz.model.tree.keep import Keep, build_anew
from gviz.model.tree.tree_times import TreeStatistics, statistics_of
from gviz.stats import BoolArray, IntArray, is_ascending

if TYPE_CHECKING:
    from gviz.model.tree.graph_tree import GraphTree
    from gviz.recording import Recording, SpanArrays

_MOST_ID = 2**63 - 1


@dataclass(frozen=True, slots=True)
class TreeSpans:
    """Spans as int64 arrays of one length.

    Attributes
    ----------
    launch_id
        Of the recording.
    node
        Index of the node in its tree.
    iteration
        Which of the node's executions in the launch, from 0.
    start_ns, duration_ns
        Starts count from the launch's first span's start.
    stream_id
        The hardware-side stream.
    stray_count
        Spans of nodes that the tree does not have; left out.
    """

    launch_id: IntArray
    node: IntArray
    iteration: IntArray
    start_ns: IntArray
    duration_ns: IntArray
    stream_id: IntArray
    stray_count: int = 0

    def __len__(self) -> int:
        return len(self.node)

    @property
    def end_ns(self) -> IntArray:
        """Return the times at which they ended."""
        return self.start_ns + self.duration_ns

    def take(self, chosen: BoolArray | IntArray) -> TreeSpans:
        """Return some of them, in the order that they are chosen in."""
        columns = {f.name: getattr(self, f.name)[chosen] for f in fields(self)[:-1]}
        return replace(self, **columns)


def read_launch_spans(
    recording: Recording, tree: GraphTree, launch_id: int, keep: Keep = build_anew
) -> TreeSpans:
    """Return the spans of one launch, by node and iteration.

    ``keep`` remembers what was read, for the other trees that the launch has spans of.
    """
    return _on_nodes(tree, read_raw_spans(recording, launch_id, keep))


def read_raw_spans(recording: Recording, launch_id: int, keep: Keep = build_anew) -> SpanArrays:
    """Return the spans of one launch as the recording has them."""
    return keep(("spans", launch_id), lambda: recording.fetch_spans(launch_id))


def read_spans(
    recording: Recording, tree: GraphTree, launches: Collection[int] | None = None
) -> TreeSpans:
    """Return the spans of recorded launches, by launch, node and iteration.

    ``launches`` are the ids of those wanted; None: all.
    """
    found = recording.fetch_graph_spans(tree.outermost.graph_id, launches=launches)
    return _on_nodes(tree, found)


def read_nested_spans(recording: Recording, tree: GraphTree) -> TreeSpans:
    """Return those of nodes in bodies (:func:`in_bodies`) of a tree that has bodies, or is one."""
    shown = 0 if tree.graph.parent_graph_id is not None else 1
    ids = [level.graph.graph_id for level in tree.levels[shown:]]
    # The nodes of what is launched need not be read.
    wanted = (min(ids), 0), (max(ids), _MOST_ID)
    found = _on_nodes(tree, recording.fetch_graph_spans(tree.outermost.graph_id, wanted))
    return found.take(in_bodies(tree, found.node))


def in_bodies(tree: GraphTree, node: IntArray) -> BoolArray:
    """Return which nodes are in a body of what is launched: all of a tree whose root is a body."""
    if tree.graph.parent_graph_id is not None:
        return np.ones(len(node), bool)
    return tree.level[node] > 0


def read_spans_in_parts(recording: Recording, tree: GraphTree, parts: int) -> Iterator[TreeSpans]:
    """Yield the spans of all recorded launches, those of some nodes at a time."""
    for some in tree.index.parts(parts):
        yield _on_nodes(tree, recording.fetch_graph_spans(tree.outermost.graph_id, some))


def read_statistics(recording: Recording, tree: GraphTree, names: Sequence[str]) -> TreeStatistics:
    """Return columns of the statistics of a tree's nodes over all recorded launches."""
    levels = [level.graph.graph_id for level in tree.levels]
    return statistics_of(recording, levels, len(tree), tree.index, names)


def by_start(spans: TreeSpans) -> TreeSpans:
    """Return spans in order of start."""
    return spans.take(np.argsort(spans.start_ns, kind="stable"))


def _on_nodes(tree: GraphTree, spans: SpanArrays) -> TreeSpans:
    """Return spans by node index: the one place where keys of spans become nodes."""
    node = tree.index.find(spans.graph_id, spans.node_id)
    found = TreeSpans(
        launch_id=spans.launch_id,
        node=node,
        iteration=spans.iteration,
        start_ns=spans.start_ns,
        duration_ns=spans.duration_ns,
        stream_id=spans.stream_id,
        stray_count=int((node < 0).sum()),
    )
    found = found.take(node >= 0) if found.stray_count else found
    # A recording has them by the numbers of graphs, which need not be in the order of the tree.
    order = (found.launch_id, found.node, found.iteration)
    return found if is_ascending(order) else found.take(np.lexsort(order[::-1]))
