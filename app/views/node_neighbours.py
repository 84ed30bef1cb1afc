"""Dependencies and dependents of a node, and its times outside the graph: derived once a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gviz.app.files import Library
from gviz.app.views.graph_data import GraphView
from gviz.app.views.timeline import called_in
from gviz.dataclass import dataclass
from gviz.model import read_level_edges
from gviz.recording import Recording, rows
from gviz.stats import IntArray


class Grouped:
    """Numbers that belong to nodes, in their order.

    Parameters
    ----------
    node, value
        int64 arrays of one length.
    """

    def __init__(self, node: IntArray, value: IntArray) -> None:
        order = np.argsort(node, kind="stable")
        self._value = value[order]
        self._nodes, first = np.unique(node[order], return_index=True)
        self._begin = np.append(first, len(self._value))

    def __len__(self) -> int:
        return len(self._nodes)

    def lists(self, nodes: Sequence[int]) -> list[list[int]]:
        """Return the numbers of each of some nodes, by their ids; none of one that has none."""
        found: list[list[int]] = [[] for _ in nodes]
        wanted = np.asarray(nodes, np.int64)
        at = np.searchsorted(self._nodes, wanted)
        # Behind the last is none, whatever number stands there.
        known = np.flatnonzero((np.append(self._nodes, -1)[at] == wanted) & (at < len(self)))
        if not len(known):
            return found
        begin, end = self._begin[at[known]], self._begin[at[known] + 1]
        low = int(begin.min())
        values: list[int] = self._value[low : int(end.max())].tolist()
        bounds = zip(known.tolist(), (begin - low).tolist(), (end - low).tolist(), strict=True)
        for place, first, last in bounds:
            found[place] = values[first:last]
        return found


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Edges of one graph level by node; both empty when the edges are unknown."""

    dependencies: Grouped
    dependents: Grouped


def neighbours(library: Library, file: str, view: GraphView) -> Neighbours:
    """Return who depends on whom in a graph level."""
    opened = library.file(file)
    return opened.derive(
        ("neighbours", view.graph.graph_id), lambda: _neighbours(opened.recording, view)
    )


def eager_durations(library: Library, file: str, view: GraphView) -> Grouped:
    """Return durations (ns) of each node's matched stream operations, by node_id."""
    opened = library.file(file)
    if view.graph.graph_id != view.root.graph_id:
        return Grouped(np.zeros(0, np.int64), np.zeros(0, np.int64))
    return opened.derive(
        ("eager", view.graph.graph_id), lambda: _eager_durations(opened.recording, view)
    )


def eager_ranges(library: Library, file: str, view: GraphView) -> Mapping[int, Sequence[str]]:
    """Return in which ranges each node's matched stream operations were called, by node_id."""
    opened = library.file(file)
    if view.graph.graph_id != view.root.graph_id:
        return {}
    return opened.derive(
        ("eager ranges", view.graph.graph_id), lambda: _eager_ranges(opened.recording, view)
    )


def _neighbours(recording: Recording, view: GraphView) -> Neighbours:
    level = view.tree.levels[view.at]
    edges = read_level_edges(recording, view.tree, level)
    ids = view.tree.nodes[level.part].integers("node_id")
    source, target = ids[edges.source], ids[edges.target]
    return Neighbours(Grouped(target, source), Grouped(source, target))


def _eager_durations(recording: Recording, view: GraphView) -> Grouped:
    nodes, durations = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for launch in view.stream_launches:
        found = recording.fetch_arrays(
            rows.StreamOperation, {"launch_id": launch.launch_id}, ("node_id", "duration_ns")
        )
        node = found.integers("node_id", -1)
        nodes.append(node[node >= 0])
        durations.append(found.integers("duration_ns")[node >= 0])
    return Grouped(np.concatenate(nodes), np.concatenate(durations))


def _eager_ranges(recording: Recording, view: GraphView) -> Mapping[int, Sequence[str]]:
    found: dict[int, list[str]] = {}
    for launch in view.stream_launches:
        operations = recording.fetch_arrays(
            rows.StreamOperation,
            {"launch_id": launch.launch_id},
            ("node_id", "thread_id", "host_start_ns"),
        )
        node, thread, called = (
            operations.integers(name, -1) for name in ("node_id", "thread_id", "host_start_ns")
        )
        codes, texts = called_in(recording, view.graph.run_id, thread, called)
        for node_id, code in zip(node.tolist(), codes.tolist(), strict=True):
            if node_id >= 0:
                found.setdefault(node_id, []).append(texts[code] if code >= 0 else "")
    return found
