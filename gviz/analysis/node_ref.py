"""A node as results name it."""

from __future__ import annotations

from dataclasses import dataclass

from gviz.stats import figure


@dataclass(frozen=True, slots=True)
class NodeRef:
    """A node, as other results name it."""

    graph_id: int = figure("stated", "graph or body it is in")
    node_id: int = figure("stated", "its id there")
    name: str = figure("stated", "short name")
