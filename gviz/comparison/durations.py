"""How long the nodes of a graph level took, in each recorded launch and as statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gviz.recording import rows
from gviz.span_owners import Owner, read_span_nodes, span_owners

if TYPE_CHECKING:
    from gviz.recording.reader import Recording

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


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


def read_durations(recording: Recording, graph_id: int) -> NodeDurations:
    """Return the durations of a graph level; RecordingError if there is no such graph."""
    graph = recording.fetch_graph(graph_id)
    outermost = recording.fetch_outermost(graph)
    nodes = read_span_nodes(recording, graph_id)
    owners = span_owners(recording, graph, nodes)
    launches = _by_launch(recording, outermost.graph_id, owners, len(nodes))
    key = {"graph_id": outermost.graph_id, "node_level": 1}
    ways = recording.fetch_columns(rows.Launch, ("side", "node_method"), key, "ordinal")
    return NodeDurations(
        launches=launches,
        typical=_typical(recording, outermost.graph_id, owners, launches),
        methods=frozenset(method or "cupti" for side, method in ways if side == "graph"),
    )


def _by_launch(
    recording: Recording, graph_id: int, owners: dict[int, Owner], count: int
) -> FloatArray:
    spans = recording.fetch_graph_spans(graph_id)
    launch, row = np.unique(spans.launch_id, return_inverse=True)
    ran, which = np.unique(spans.node_id, return_inverse=True)
    found = [owners.get(node) for node in ran.tolist()]
    owner = np.array([-1 if f is None else f.node for f in found], np.int64)[which]
    nested = np.array([f is not None and f.nested for f in found], bool)[which]
    mine = np.flatnonzero(owner >= 0)
    cell = row.reshape(-1)[mine] * count + owner[mine]
    size = len(launch) * count
    total = np.bincount(cell, weights=spans.duration_ns[mine], minlength=size)
    # Of what is nested each span counts, of the node itself their mean.
    turns = np.bincount(cell, weights=~nested[mine], minlength=size)
    present = np.bincount(cell, minlength=size) > 0
    mean = np.where(present, total / np.maximum(turns, 1), np.nan)
    return mean.reshape(len(launch), count)


def _typical(
    recording: Recording, graph_id: int, owners: dict[int, Owner], launches: FloatArray
) -> FloatArray:
    found = np.full(launches.shape[1], np.nan)
    timed = ~np.isnan(launches)
    total = np.where(timed, launches, 0).sum(axis=0)
    holds = np.zeros(len(found), bool)
    holds[[owner.node for owner in owners.values() if owner.nested]] = True
    inside = holds & timed.any(axis=0)
    found[inside] = total[inside] / len(launches)
    columns = ("node_id", "median_ns")
    key = {"graph_id": graph_id}
    for node, median in recording.fetch_columns(rows.NodeStatistics, columns, key, "node_id"):
        owner = owners.get(node)
        if owner is not None and not owner.nested:
            found[owner.node] = median
    return found
