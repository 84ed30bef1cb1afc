"""Durations of the nodes of a graph level, in each recorded launch and as statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gviz.model import LevelNodes, Owner, span_owners
from gviz.recording import rows
from gviz.stats import FloatArray, IntArray

if TYPE_CHECKING:
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
        float64, one a node: the median over all its spans, as the viewer shows it; of a node that
        holds a body the mean time of a launch inside it (derived).
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


@dataclass(frozen=True, slots=True)
class _Spans:
    """The spans of a launched graph's node-level launches, node by node.

    Attributes
    ----------
    graph_id
        The graph that is launched.
    launch_count
        How many launches have spans.
    exec_node_id
        int64, ascending: the nodes that ran, by their ids in the executable.
    begin
        int64, one a node and one more: where its spans begin in the arrays below.
    launch, duration_ns
        int64, one a span: which launch it is of, and its duration.
    median_ns
        By id in the executable, of nodes that have one.
    methods
        How the launches were measured.
    """

    graph_id: int
    launch_count: int
    exec_node_id: IntArray
    begin: IntArray
    launch: IntArray
    duration_ns: IntArray
    median_ns: dict[int, float]
    methods: frozenset[str]

    @classmethod
    def read(cls, recording: Recording, graph_id: int) -> _Spans:
        """Return those of a graph."""
        spans = recording.fetch_graph_spans(graph_id)
        launches, launch = np.unique(spans.launch_id, return_inverse=True)
        order = np.argsort(spans.node_id, kind="stable")
        ran, begin = np.unique(spans.node_id[order], return_index=True)
        key = {"graph_id": graph_id}
        columns = ("node_id", "median_ns")
        ways = recording.fetch_columns(
            rows.Launch, ("side", "node_method"), {**key, "node_level": 1}, "ordinal"
        )
        return cls(
            graph_id=graph_id,
            launch_count=len(launches),
            exec_node_id=ran,
            begin=np.append(begin, len(order)).astype(np.int64),
            launch=launch.reshape(-1)[order].astype(np.int64),
            duration_ns=spans.duration_ns[order],
            median_ns=dict(recording.fetch_columns(rows.NodeStatistics, columns, key, "node_id")),
            methods=frozenset(method or "cupti" for side, method in ways if side == "graph"),
        )


class DurationReader:
    """Reads the durations of graph levels; what levels have in common is read once.

    The spans of one launched graph are kept at a time: ask for its levels one after the other.

    Parameters
    ----------
    recording
        Stays open as long as anything is asked.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._levels: dict[int, LevelNodes] = {}
        self._spans: _Spans | None = None

    def read(self, graph_id: int) -> NodeDurations:
        """Return the durations of a graph level; RecordingError if there is no such graph."""
        graph = self._recording.fetch_graph(graph_id)
        if graph.run_id not in self._levels:
            self._levels[graph.run_id] = LevelNodes(self._recording, graph.run_id)
        levels = self._levels[graph.run_id]
        outermost = self._recording.fetch_outermost(graph).graph_id
        if self._spans is None or self._spans.graph_id != outermost:
            self._spans = _Spans.read(self._recording, outermost)
        owners = span_owners(levels, graph_id)
        launches = _by_launch(self._spans, owners, len(levels.of(graph_id)))
        return NodeDurations(
            launches=launches,
            typical=_typical(self._spans, owners, launches),
            methods=self._spans.methods,
        )


def _by_launch(spans: _Spans, owners: dict[int, Owner], count: int) -> FloatArray:
    ids = np.array(sorted(owners), np.int64)
    owned = [owners[node] for node in ids.tolist()]
    _, own, ran = np.intersect1d(ids, spans.exec_node_id, return_indices=True)
    owner = np.array([found.node for found in owned], np.int64)[own]
    nested = np.array([found.nested for found in owned], bool)[own]
    first, length = spans.begin[ran], np.diff(spans.begin)[ran]
    # The spans of each node that ran, one after the other.
    before = np.cumsum(length) - length
    mine = np.repeat(first - before, length) + np.arange(int(length.sum()))
    cell = spans.launch[mine] * count + np.repeat(owner, length)
    size = spans.launch_count * count
    total = np.bincount(cell, weights=spans.duration_ns[mine], minlength=size)
    # Of what is nested each span counts, of the node itself their mean.
    turns = np.bincount(cell, weights=np.repeat(~nested, length), minlength=size)
    present = np.bincount(cell, minlength=size) > 0
    mean = np.where(present, total / np.maximum(turns, 1), np.nan)
    return mean.reshape(spans.launch_count, count)


def _typical(spans: _Spans, owners: dict[int, Owner], launches: FloatArray) -> FloatArray:
    found = np.full(launches.shape[1], np.nan)
    timed = ~np.isnan(launches)
    total = np.where(timed, launches, 0).sum(axis=0)
    holds = np.zeros(len(found), bool)
    holds[[owner.node for owner in owners.values() if owner.nested]] = True
    inside = holds & timed.any(axis=0)
    found[inside] = total[inside] / len(launches)
    for node, owner in owners.items():
        if not owner.nested and node in spans.median_ns:
            found[owner.node] = spans.median_ns[node]
    return found
