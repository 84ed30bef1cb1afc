"""Edges of the driver's DOT dumps."""

from __future__ import annotations

import re
from pathlib import Path

from oracle.raw import Edge

_ARROW = re.compile(r'"graph_(\d+)_node_(\d+)" -> "graph_(\d+)_node_(\d+)"')


def read_edges(path: Path) -> dict[int, list[Edge]]:
    """Return the edges of each graph of a dump, by the dump's number of the graph."""
    found: dict[int, list[Edge]] = {}
    for graph, tail, _, head in _ARROW.findall(path.read_text()):
        found.setdefault(int(graph), []).append(Edge(int(tail), int(head)))
    return found
