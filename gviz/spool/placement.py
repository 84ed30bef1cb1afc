"""Where nodes ran, from their records: the template's word is a guess for copies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gviz.spool.graphs import Graphs


def take_recorded_devices(graphs: Graphs, activities: npt.NDArray[np.void]) -> None:
    """Give each node the device of its first record; a node without records keeps its own."""
    ids, first = np.unique(activities["graph_node_id"], return_index=True)
    recorded = dict(zip(ids.tolist(), activities["device_id"][first].tolist(), strict=True))
    for exec_id, execution in graphs.execs.items():
        for level in graphs.family(execution.graph_id):
            for node_id, node in level.nodes.items():
                if node.exec_node_id is None:
                    continue
                device = recorded.get(exec_id << 32 | node.exec_node_id)
                if device is not None and device != node.device_id:
                    level.nodes[node_id] = replace(node, device_id=device)
