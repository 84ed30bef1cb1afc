"""Facts of nodes that their records report, where the walk of the graph reports less."""

from __future__ import annotations

import numpy as np

from gviz.cuda import NodeType
from gviz.runs import operation_name
from gviz.spool.folding.graphs import Graphs
from gviz.spool.streams import Samples
from gviz.stats import UNKNOWN


def take_recorded_devices(graphs: Graphs, samples: Samples) -> None:
    """Give each node the device of its first record; a node without records keeps its own.

    The template's device is a guess for copies.
    """
    for exec_id, execution in graphs.execs.items():
        for level in graphs.family(execution.graph_id):
            timed = np.flatnonzero(level.nodes["exec_node_id"] != UNKNOWN)
            records, has_one = samples.of(exec_id, level.nodes["exec_node_id"][timed])
            level.nodes["device_id"][timed[has_one]] = records["device_id"]


def take_copy_kinds(graphs: Graphs, samples: Samples) -> None:
    """Take the direction of copies between unified addresses from records of them."""
    for exec_id, execution in graphs.execs.items():
        for level in graphs.family(execution.graph_id):
            nodes = level.nodes
            at = np.flatnonzero(
                (nodes["type"] == NodeType.MEMCPY)
                & (nodes["copy_kind"] == UNKNOWN)
                & (nodes["exec_node_id"] != UNKNOWN)
            )
            records, has_one = samples.of(exec_id, nodes["exec_node_id"][at])
            is_known = records["copy_kind"] != UNKNOWN
            at, kinds = at[has_one][is_known], records["copy_kind"][is_known]
            nodes["copy_kind"][at] = kinds
            nodes["name"][at] = [operation_name(NodeType.MEMCPY, kind) for kind in kinds.tolist()]
