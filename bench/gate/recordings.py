"""Two recordings of one program compared: one without CUPTI, one with it."""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gviz.recording.reader import Recording
from gviz.recording.rows import Graph, Node

#: Of a node, what differs between two processes, or is a number of the file's own.
_OWN = {
    "graph_id", "function_id", "source_address", "destination_address", "created_ns",
    "created_thread_id", "nvtx_path_id", "stack_id", "capture_stream_id",
}  # fmt: skip


def compare_recordings(told: Path, cupti: Path) -> dict[str, Any]:
    """Return what both recordings hold and how they differ; empty differences: they agree.

    Graphs are compared in the order in which they were made: nodes with all their parameters and
    the names of their kernels, edges with types and ports.
    """
    with Recording(told) as ours, Recording(cupti) as theirs:
        graphs, expected = list(ours.fetch_graphs()), list(theirs.fetch_graphs())
        differences = [
            difference
            for graph, other in zip(graphs, expected, strict=False)
            for difference in _graph_differences(ours, graph, theirs, other)
        ]
        if len(graphs) != len(expected):
            differences.insert(0, f"{len(graphs)} graphs, {len(expected)} with CUPTI")
        return {
            "collector": [run.collector_reason for run in ours.fetch_runs()],
            "graphs": len(graphs),
            "nodes": [len(ours.fetch_nodes(graph.graph_id)) for graph in graphs],
            "edges": [len(_edges(ours, graph)) for graph in graphs],
            "launches": _launches(ours),
            "launches, CUPTI": _launches(theirs),
            "stacks": _known(ours, graphs),
            "stacks, CUPTI": _known(theirs, expected),
            "node times": _time_differences(ours, graphs, theirs, expected),
            "notes": [n.text for run in ours.fetch_runs() for n in ours.fetch_notes(run.run_id)],
            "measured": {
                m.name: m.value
                for run in ours.fetch_runs()
                for m in ours.fetch_measurements(run.run_id)
                if m.name.startswith("gate_")
            },
            "differences": differences,
        }


def _graph_differences(ours: Recording, graph: Graph, theirs: Recording, other: Graph) -> list[str]:
    found = []
    if (graph.name, graph.origin) != (other.name, other.origin):
        found.append(f"{graph.name} ({graph.origin}): {other.name} ({other.origin}) with CUPTI")
    nodes = {node.node_id: node for node in ours.fetch_nodes(graph.graph_id)}
    expected = {node.node_id: node for node in theirs.fetch_nodes(other.graph_id)}
    if nodes.keys() != expected.keys():
        found.append(f"{graph.name}: {len(nodes)} nodes, {len(expected)} with CUPTI")
    fields: Counter[str] = Counter()
    for number in nodes.keys() & expected.keys():
        mine, its = _facts(nodes[number]), _facts(expected[number])
        fields.update(
            f"{key}: {mine[key]!r}, {its[key]!r}" for key in mine if mine[key] != its[key]
        )
    found += [f"{graph.name}: {text} ({count} nodes)" for text, count in fields.most_common(5)]
    edges, their_edges = _edges(ours, graph), _edges(theirs, other)
    if edges != their_edges:
        found.append(f"{graph.name}: {len(edges ^ their_edges)} edges differ")
    return found


def _edges(recording: Recording, graph: Graph) -> set[tuple[int, ...]]:
    """Return the edges: nodes, type and ports."""
    if graph.topology_id is None:
        return set()
    edges = recording.fetch_edges(graph.topology_id)
    columns = (edges.from_node, edges.to_node, edges.type, edges.from_port, edges.to_port)
    return set(zip(*(column.tolist() for column in columns), strict=True))


def _time_differences(
    ours: Recording, graphs: list[Graph], theirs: Recording, others: list[Graph]
) -> dict[str, float]:
    """Return how medians of node times differ in microseconds; empty where a side has none."""
    differences = []
    for graph, other in zip(graphs, others, strict=False):
        expected = {s.node_id: s.median_ns for s in theirs.fetch_statistics(other.graph_id)}
        differences += [
            (s.median_ns - expected[s.node_id]) / 1e3
            for s in ours.fetch_statistics(graph.graph_id)
            if s.node_id in expected
        ]
    if not differences:
        return {}
    absolute = sorted(abs(difference) for difference in differences)
    return {
        "nodes": len(differences),
        "median difference": statistics.median(differences),
        "median absolute difference": statistics.median(absolute),
        "95th percentile of it": absolute[int(0.95 * (len(absolute) - 1))],
    }


def _facts(node: Node) -> dict[str, Any]:
    return {name: value for name, value in asdict(node).items() if name not in _OWN}


def _known(recording: Recording, graphs: list[Graph]) -> int:
    """Return how many nodes have a stack."""
    return sum(
        node.stack_id is not None
        for graph in graphs
        for node in recording.fetch_nodes(graph.graph_id)
    )


def _launches(recording: Recording) -> dict[str, int]:
    launches = [
        launch
        for graph in recording.fetch_graphs()
        for launch in recording.fetch_launches(graph.graph_id)
    ]
    return {
        "all": len(launches),
        "with GPU time": sum(launch.event_duration_ns is not None for launch in launches),
        "with node times": sum(bool(launch.node_level) for launch in launches),
    }
