"""Places where nodes ran, from their records: the template's word is a guess for copies."""

from __future__ import annotations

from dataclasses import replace

from gviz.spool.folding.graphs import Graphs
from gviz.spool.streams import Samples


def take_recorded_devices(graphs: Graphs, samples: Samples) -> None:
    """Give each node the device of its first record; a node without records keeps its own."""
    for exec_id, execution in graphs.execs.items():
        for level in graphs.family(execution.graph_id):
            for node_id, node in level.nodes.items():
                if node.exec_node_id is None:
                    continue
                record = samples.get(exec_id, node.exec_node_id)
                if record is None:
                    continue
                device = int(record["device_id"])
                if device != node.device_id:
                    level.nodes[node_id] = replace(node, device_id=device)
