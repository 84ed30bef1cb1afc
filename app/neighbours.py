"""Dependencies and dependents of a node, and its times outside the graph: derived once a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gviz.app.graph_view import GraphView
from gviz.app.library import Library
from gviz.recording import rows
from gviz.recording.reader import Recording


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Edges of one graph level by node; both empty when the edges are unknown."""

    dependencies: Mapping[int, Sequence[int]]
    dependents: Mapping[int, Sequence[int]]


def neighbours(library: Library, file: str, view: GraphView) -> Neighbours:
    """Return who depends on whom in a graph level."""
    opened = library.file(file)
    topology_id = view.graph.topology_id
    return opened.derive(
        ("neighbours", topology_id), lambda: _neighbours(opened.recording, topology_id)
    )


def eager_durations(library: Library, file: str, view: GraphView) -> Mapping[int, Sequence[int]]:
    """Return durations (ns) of each node's matched stream operations, by node_id."""
    opened = library.file(file)
    if view.graph.graph_id != view.root.graph_id:
        return {}
    return opened.derive(
        ("eager", view.graph.graph_id), lambda: _eager_durations(opened.recording, view)
    )


def _neighbours(recording: Recording, topology_id: int | None) -> Neighbours:
    before: dict[int, list[int]] = {}
    after: dict[int, list[int]] = {}
    if topology_id is not None:
        edges = recording.fetch_edges(topology_id)
        for a, b in zip(edges.from_node.tolist(), edges.to_node.tolist(), strict=True):
            before.setdefault(b, []).append(a)
            after.setdefault(a, []).append(b)
    return Neighbours(before, after)


def _eager_durations(recording: Recording, view: GraphView) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for launch in view.stream_launches:
        key = {"launch_id": launch.launch_id}
        for node_id, duration_ns in recording.fetch_columns(
            rows.StreamOperation, ("node_id", "duration_ns"), key, "start_ns"
        ):
            if node_id is not None:
                found.setdefault(node_id, []).append(duration_ns)
    return found
