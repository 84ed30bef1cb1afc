"""Durations of the nodes of a graph level, in each recorded launch and as statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gviz.dataclass import dataclass
from gviz.recording import rows
from gviz.stats import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from gviz.model import TimedTree, TreeLevel, TreeSpans
    from gviz.recording import Recording


@dataclass(frozen=True, slots=True)
class NodeDurations:
    """Durations of the nodes of a level, in order of node id; NaN: none (ns).

    Attributes
    ----------
    launches
        float64 of shape (launches, nodes): a row for each launch whose spans are kept; the mean
        of a node's iterations, or the sum of what is nested in it.
    typical
        float64, one a node: the median over all its spans, as the viewer shows it; of a node with
        a body the mean time of a launch inside it (derived).
    methods
        How they were measured: ``cupti``, ``events``.
    """

    launches: FloatArray
    typical: FloatArray
    methods: frozenset[str]


def add_up(durations: NodeDurations, groups: Sequence[IntArray]) -> NodeDurations:
    """Return the durations of groups of nodes: of a range, a kernel name, a fold.

    Summed in each launch; a node that did not run in one counts as nothing there. A group of
    which nothing was timed has none. ``typical`` is the sum of the nodes' own.

    Parameters
    ----------
    durations
        Of nodes.
    groups
        int64 node indices of each group.
    """
    launches = np.full((len(durations.launches), len(groups)), np.nan)
    typical = np.full(len(groups), np.nan)
    for i, group in enumerate(groups):
        timed = group[~np.isnan(durations.typical[group])]
        if len(timed):
            launches[:, i] = np.nansum(durations.launches[:, timed], axis=1)
            typical[i] = durations.typical[timed].sum()
    return NodeDurations(launches, typical, durations.methods)


class DurationReader:
    """Durations of the levels of a tree; the spans are put in order once.

    Parameters
    ----------
    recording
        Where the tree is from.
    tree
        Its root is launched.
    spans
        Those of all recorded launches on the tree.
    """

    def __init__(self, recording: Recording, tree: TimedTree, spans: TreeSpans) -> None:
        self._tree = tree
        launches, launch = np.unique(spans.launch_id, return_inverse=True)
        order = np.argsort(spans.node, kind="stable")
        self._launch_count = len(launches)
        self._launch = launch.reshape(-1)[order].astype(np.int64)
        self._node = spans.node[order]
        self._duration_ns = spans.duration_ns[order]
        #: Where the spans of each node begin, and one more.
        self._begin = np.searchsorted(self._node, np.arange(len(tree) + 1))
        key = {"graph_id": tree.graph.graph_id, "node_level": 1}
        ways = recording.fetch_columns(rows.Launch, ("side", "node_method"), key, "ordinal")
        self._methods = frozenset(method or "cupti" for side, method in ways if side == "graph")

    def read(self, level: TreeLevel) -> NodeDurations:
        """Return the durations of the nodes of a level."""
        owner, nested = _owners(self._tree, level)
        launches = self._by_launch(level, owner, nested)
        return NodeDurations(launches, self._typical(level, owner, launches), self._methods)

    def _by_launch(self, level: TreeLevel, owner: IntArray, nested: slice) -> FloatArray:
        parts = [
            np.arange(self._begin[part.start], self._begin[part.stop])
            for part in (level.part, nested)
        ]
        spans = np.concatenate(parts)
        is_own = np.repeat((1.0, 0.0), [len(part) for part in parts])
        size = self._launch_count * level.count
        cell = self._launch[spans] * level.count + owner[self._node[spans]]
        total = np.bincount(cell, weights=self._duration_ns[spans], minlength=size)
        # Of what is nested each span counts, of the node itself their mean.
        iterations = np.bincount(cell, weights=is_own, minlength=size)
        present = np.bincount(cell, minlength=size) > 0
        mean = np.where(present, total / np.maximum(iterations, 1), np.nan)
        return mean.reshape(self._launch_count, level.count)

    def _typical(self, level: TreeLevel, owner: IntArray, launches: FloatArray) -> FloatArray:
        timed = ~np.isnan(launches)
        inside = _have_nested(self._tree, level, owner) & timed.any(axis=0)
        total = np.where(timed, launches, 0).sum(axis=0)
        typical = np.where(inside, total / max(len(launches), 1), np.nan)
        median = self._tree.times.median_ns[level.part]
        return np.where(np.isnan(median), typical, median)


def _owners(tree: TimedTree, level: TreeLevel) -> tuple[IntArray, slice]:
    """Return the place in a level of each node in or nested in it, and which are nested.

    The first is int64, one a node of the tree; -1: it is elsewhere.
    """
    owner = np.full(len(tree), -1, np.int64)
    owner[level.part] = np.arange(level.count)
    nested = [tree.inside(parent) for parent in tree.parents_in(level.at)]
    for parent, inside in zip(tree.parents_in(level.at), nested, strict=True):
        owner[inside.start : inside.stop] = parent - level.first
    # What is in the bodies of one node follows what is in those of the node before.
    return owner, slice(nested[0].start, nested[-1].stop) if nested else slice(0, 0)


def _have_nested(tree: TimedTree, level: TreeLevel, owner: IntArray) -> BoolArray:
    """Return which nodes of a level have something nested in them that can be timed."""
    timed = np.flatnonzero(tree.nodes.integers("exec_node_id", -1) >= 0)
    inner = timed[(owner[timed] >= 0) & (tree.level[timed] != level.at)]
    found = np.zeros(level.count, bool)
    found[owner[inner]] = True
    return found
