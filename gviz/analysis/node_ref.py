"""A node as results name it."""

from __future__ import annotations

from gviz.dataclass import dataclass
from gviz.stats import figure


@dataclass(frozen=True, slots=True)
class NodeRef:
    """A node, as other results name it."""

    graph_id: int = figure("stated", "graph or body it is in")
    node_id: int = figure("stated", "its id there")
    name: str = figure("stated", "short name")

    def __hash__(self) -> int:
        # Without the name, which follows from both: paths of 100,000 nodes are made sets.
        return hash((self.graph_id, self.node_id))
