"""A placement: positions of nodes and routes of edges, in units of the drawing."""

from __future__ import annotations

import numpy as np

from gviz.dataclass import dataclass
from gviz.stats import FloatArray, IntArray

#: Height of a node: two lines of 12 px text and padding (units are CSS pixels at zoom 1).
NODE_HEIGHT = 40.0
#: Distance of rows: a node and a gap in which edges turn.
ROW_PITCH = 68.0
#: Widest node: room for about 24 characters of a kernel's name.
NODE_WIDTH = 176.0
#: Narrowest node, used when very many stand side by side.
NODE_WIDTH_LEAST = 52.0
#: Gap between neighbours in a row; long edges run in it.
LANE_GAP = 28.0
#: Extra gap between wrapped columns, where edges from one to the next run.
COLUMN_GAP = 56.0


@dataclass(frozen=True, slots=True)
class Placement:
    """Places of nodes and paths of edges.

    Attributes
    ----------
    x, y
        float64, one a node: its centre. The plane starts at (0, 0), y grows downwards.
    row
        int64, one a node: length of the longest path from a root, in edges.
    lane
        int64, one a node: the lane (chain position) within its column, from 0.
    column
        int64, one a node: which wrapped column it stands in, from 0.
    route_offset
        int64, edges + 1 entries: edge e runs from its dependency's lower side through the
        points ``route_offset[e]:route_offset[e + 1]`` to its dependent's upper side.
    route_x, route_y
        float64: those points. Most edges have none.
    width, height
        Size of the plane.
    node_width, node_height
        Size of every node.
    style
        'structure' (layers), 'lanes' or 'table' (edges unknown).
    """

    x: FloatArray
    y: FloatArray
    row: IntArray
    lane: IntArray
    column: IntArray
    route_offset: IntArray
    route_x: FloatArray
    route_y: FloatArray
    width: float
    height: float
    node_width: float
    node_height: float
    style: str

    def __len__(self) -> int:
        return len(self.x)


def join_routes(
    edges: IntArray, points_x: FloatArray, points_y: FloatArray, edge_count: int
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return ``route_offset, route_x, route_y`` of points that belong to ``edges``.

    Parameters
    ----------
    edges
        The edge of each point; points of one edge in their order along it.
    points_x, points_y
        The points.
    edge_count
        Number of edges.
    """
    order = np.argsort(edges, kind="stable")
    counts = np.bincount(edges, minlength=edge_count).astype(np.int64)
    offset = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    return offset, points_x[order], points_y[order]
