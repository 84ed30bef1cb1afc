"""A graph level as it was walked: the records between one GRAPH record and the next."""

from __future__ import annotations

from dataclasses import field

import numpy as np

from gviz.dataclass import dataclass
from gviz.spool.records.graph_records import ConditionalRecord, NodeRecord
from gviz.stats import IntArray


@dataclass(slots=True)
class GraphWalk:
    """One graph level as walked at one instantiation."""

    graph_id: int
    exec_id: int
    parent_graph_id: int
    parent_node_id: int
    branch: int = 0
    nodes: list[NodeRecord] = field(default_factory=list)
    conditionals: dict[int, ConditionalRecord] = field(default_factory=dict)  # by node id
    parameters: list[tuple[int, str, str]] = field(default_factory=list)  # node id, name, value
    #: (from, to, type, from_port, to_port), int64, shape (n, 5)
    edges: IntArray = field(default_factory=lambda: np.zeros((0, 5), np.int64))
