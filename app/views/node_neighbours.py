"""Dependencies and dependents of a node, and its times outside the graph: derived once a graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gviz.app.files import Library
from gviz.app.views.graph_data import GraphView
from gviz.app.views.timeline import called_in
from gviz.model import read_level_edges
from gviz.recording import Recording, rows
from gviz.stats import IntArray


class Grouped(Mapping[int, Sequence[int]]):
    """Numbers that belong to nodes: a mapping from the node id to its numbers, in their order.

    Parameters
    ----------
    node, value
        int64 arrays of one length.
    """

    def __init__(self, node: IntArray, value: IntArray) -> None:
        order = np.argsort(node, kind="stable")
        self._value = value[order]
        self._nodes, self._first = np.unique(node[order], return_index=True)

    def __len__(self) -> int:
        return len(self._nodes)

    def __iter__(self) -> Iterator[int]:
        return iter(self._nodes.tolist())

    def __getitem__(self, key: int) -> Sequence[int]:
        at = int(np.searchsorted(self._nodes, key))
        if at == len(self._nodes) or self._nodes[at] != key:
            raise KeyError(key)
        last = self._first[at + 1] if at + 1 < len(self._first) else len(self._value)
        found: list[int] = self._value[self._first[at] : last].tolist()
        return found


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Edges of one graph level by node; both empty when the edges are unknown."""

    dependencies: Mapping[int, Sequence[int]]
    dependents: Mapping[int, Sequence[int]]


def neighbours(library: Library, file: str, view: GraphView) -> Neighbours:
    """Return who depends on whom in a graph level."""
    opened = library.file(file)
    return opened.derive(
        ("neighbours", view.graph.graph_id), lambda: _neighbours(opened.recording, view)
    )


def eager_durations(library: Library, file: str, view: GraphView) -> Mapping[int, Sequence[int]]:
    """Return durations (ns) of each node's matched stream operations, by node_id."""
    opened = library.file(file)
    if view.graph.graph_id != view.root.graph_id:
        return {}
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
