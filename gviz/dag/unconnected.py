"""Layout of nodes whose edges are unknown: in their order, line by line, as text is read."""

from __future__ import annotations

import math

import numpy as np

from gviz.dag.lanes import ASPECT
from gviz.dag.placement import LANE_GAP, NODE_HEIGHT, NODE_WIDTH, ROW_PITCH, Placement

#: Without edges to draw, lines of nodes can stand closer.
LINE_PITCH = ROW_PITCH - 16.0
COLUMN_PITCH = NODE_WIDTH + LANE_GAP - 12.0


def place_table(node_count: int, *, aspect: float = ASPECT) -> Placement:
    """Place nodes line by line so that the plane comes near ``aspect``.

    Parameters
    ----------
    node_count
        Number of nodes.
    aspect
        Width over height to aim for.
    """
    ideal = math.sqrt(max(1, node_count) * aspect * LINE_PITCH / COLUMN_PITCH)
    across = max(1, min(round(ideal), max(1, node_count)))
    number = np.arange(node_count, dtype=np.int64)
    row, lane = number // across, number % across
    lines = -(-node_count // across)
    empty = np.zeros(0, np.float64)
    zeros = np.zeros(node_count, np.int64)
    return Placement(
        x=((lane + 0.5) * COLUMN_PITCH).astype(np.float64),
        y=((row + 0.5) * LINE_PITCH).astype(np.float64),
        row=row,
        lane=lane,
        column=zeros,
        route_offset=np.zeros(1, np.int64),
        route_x=empty,
        route_y=empty,
        width=across * COLUMN_PITCH if node_count else 0.0,
        height=lines * LINE_PITCH,
        node_width=NODE_WIDTH,
        node_height=NODE_HEIGHT,
        style="table",
    )
