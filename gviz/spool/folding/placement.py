"""Places where nodes ran, from their records: the template's word is a guess for copies."""

from __future__ import annotations

import numpy as np

from gviz.spool.folding.graphs import Graphs
from gviz.spool.streams import Samples
from gviz.stats import UNKNOWN


def take_recorded_devices(graphs: Graphs, samples: Samples) -> None:
    """Give each node the device of its first record; a node without records keeps its own."""
    for exec_id, execution in graphs.execs.items():
        for level in graphs.family(execution.graph_id):
            timed = np.flatnonzero(level.nodes["exec_node_id"] != UNKNOWN)
            records, has_one = samples.of(exec_id, level.nodes["exec_node_id"][timed])
            level.nodes["device_id"][timed[has_one]] = records["device_id"]
