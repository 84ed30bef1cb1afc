"""Facts that DOT text of gviz must bring back: compared between two recordings."""

from __future__ import annotations

from typing import Any

from gviz.recording import rows
from gviz.recording.reader import Recording

#: Columns of nodes that the text carries.
NODE_COLUMNS = (
    "node_id", "type", "name", "device_id", "grid_x", "grid_y", "grid_z", "block_x", "block_y",
    "block_z", "shared_mem_bytes", "priority", "cooperative", "copy_kind", "bytes",
    "source_address", "destination_address", "memset_value", "memset_element_bytes",
    "conditional_type",
)  # fmt: skip


def drawn(recording: Recording) -> list[Any]:
    """Return the graphs of a file with all that is in them, without ids of ours."""
    bodies: dict[tuple[int, int], list[rows.Graph]] = {}
    for graph in recording.fetch_graphs():
        if graph.parent_graph_id is not None and graph.parent_node_id is not None:
            bodies.setdefault((graph.parent_graph_id, graph.parent_node_id), []).append(graph)
    tops = [g for g in recording.fetch_graphs() if g.parent_graph_id is None]
    return sorted((_level(recording, graph, bodies) for graph in tops), key=repr)


def _level(
    recording: Recording, graph: rows.Graph, bodies: dict[tuple[int, int], list[rows.Graph]]
) -> Any:
    functions = recording.fetch_functions(graph.run_id)
    nodes = []
    for node in sorted(recording.fetch_nodes(graph.graph_id), key=lambda n: n.node_id):
        symbol = functions[node.function_id].mangled_name if node.function_id else None
        inside = [
            (body.branch, _level(recording, body, bodies))
            for body in bodies.get((graph.graph_id, node.node_id), [])
        ]
        reported = tuple(getattr(node, name) for name in NODE_COLUMNS)
        nodes.append((reported, symbol or None, sorted(inside, key=repr)))
    edges = None
    if graph.topology_id is not None:
        found = recording.fetch_edges(graph.topology_id)
        columns = (found.from_node, found.to_node, found.type, found.from_port)
        edges = sorted(zip(*(c.tolist() for c in columns), strict=True))
    return graph.name, graph.edges_inferred, nodes, edges
