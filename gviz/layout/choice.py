"""Which layout a graph gets."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gviz.layout.lanes import place_lanes
from gviz.layout.layers import count_dummies, place_layers
from gviz.layout.placement import Placement
from gviz.layout.table import place_table

#: Up to so many nodes and rows passed by long edges, layers take less than about 0.3 s.
LAYERS_MOST = 4_000


def place_graph(node_count: int, source: npt.ArrayLike, target: npt.ArrayLike) -> Placement:
    """Place a graph: in layers when it is small enough, else in lanes; a table without edges.

    Parameters
    ----------
    node_count
        Number of nodes.
    source, target
        Indices of the dependency and the dependent of each edge.

    Raises
    ------
    RecordingError
        If the edges form a cycle.
    """
    if not np.size(source):
        return place_table(node_count)
    if node_count <= LAYERS_MOST:
        size = node_count + count_dummies(node_count, source, target)
        if size <= LAYERS_MOST:
            return place_layers(node_count, source, target)
    return place_lanes(node_count, source, target)
