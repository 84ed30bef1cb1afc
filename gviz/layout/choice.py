"""Choice of the layout of a graph."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gviz.dag import Cover, Placement, cover_graph, place_lanes, place_table
from gviz.layout.layers import count_dummies, place_layers
from gviz.stats import IntArray

#: Up to so many nodes and rows passed by long edges, layers take less than about 0.3 s.
LAYERS_MOST = 4_000
#: And up to so many less than about 4 s, where layers are requested.
LAYERS_REQUESTED_MOST = 40_000


def layers_fit(
    row: IntArray, source: npt.ArrayLike, target: npt.ArrayLike, most: int = LAYERS_REQUESTED_MOST
) -> bool:
    """Return whether a graph of these rows can be drawn in layers in bearable time."""
    return len(row) <= most and len(row) + count_dummies(row, source, target) <= most


def place_graph(
    node_count: int,
    source: npt.ArrayLike,
    target: npt.ArrayLike,
    *,
    layers: bool | None = None,
    cover: Cover | None = None,
) -> Placement:
    """Place a graph: in layers when it is small enough, else in lanes; a table without edges.

    Parameters
    ----------
    node_count
        Number of nodes.
    source, target
        Indices of the dependency and the dependent of each edge.
    layers
        Layers or lanes; None: what suits its size. Layers that do not fit become lanes.
    cover
        Its rows and chains, where they are known.

    Raises
    ------
    RecordingError
        If the edges form a cycle.
    """
    if not np.size(source):
        return place_table(node_count)
    tail = np.asarray(source, np.int64).reshape(-1)
    head = np.asarray(target, np.int64).reshape(-1)
    cover = cover or cover_graph(node_count, tail, head)
    most = LAYERS_MOST if layers is None else LAYERS_REQUESTED_MOST
    if layers is not False and layers_fit(cover.row, tail, head, most):
        return place_layers(node_count, tail, head, cover=cover)
    return place_lanes(node_count, tail, head, cover=cover)
