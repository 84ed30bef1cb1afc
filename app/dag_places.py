"""Where the nodes of the DAG stand, as arrays: by structure, in lanes, or along time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gviz.app.graph_level import GraphLevel
from gviz.app.launch_intervals import LaunchIntervals
from gviz.app.wire import Arrays
from gviz.layout.choice import LAYERS_ASKED_MOST, layers_fit, place_graph
from gviz.layout.placement import NODE_HEIGHT, ROW_PITCH
from gviz.layout.timed import place_time

IntArray = npt.NDArray[np.int64]

#: As addresses name them.
LAYOUTS = ("structure", "lanes", "time")


@dataclass(frozen=True, slots=True)
class Shape:
    """What a layout needs of a graph: of nodes, or of visible items."""

    count: int
    edge_from: IntArray
    edge_to: IntArray
    row: IntArray
    chain: IntArray
    ran: LaunchIntervals | None


def shape_of_level(level: GraphLevel, ran: LaunchIntervals | None) -> Shape:
    """Return the shape of a level without folds."""
    return Shape(len(level.nodes), level.edge_from, level.edge_to, level.row, level.chain, ran)


def place_arrays(shape: Shape, layout: str | None) -> tuple[dict[str, Any], Arrays]:
    """Return header fields and arrays of a layout.

    Arrays: x, y (centres), route_offset, route_x, route_y; of layout 'time' also half_width,
    and x and half_width in ns of the launch. Header: layout (the one drawn), layout_note (why it
    is not the one asked for, or null), width, height, node_width, node_height.
    """
    if layout == "time":
        if shape.ran is not None and np.isfinite(shape.ran.start_ns).any():
            return _along_time(shape, shape.ran)
        return _in_plane(shape, None, "no node of this level has a time in this launch")
    return _in_plane(shape, layout, None)


def _in_plane(shape: Shape, layout: str | None, note: str | None) -> tuple[dict[str, Any], Arrays]:
    count = shape.count
    asked = {"structure": True, "lanes": False}.get(layout or "")
    if asked and not layers_fit(count, shape.edge_from, shape.edge_to):
        note = f"layers are drawn up to {LAYERS_ASKED_MOST:,} nodes and passed rows: shown in lanes"
    place = place_graph(count, shape.edge_from, shape.edge_to, layers=asked)
    header = {
        "layout": place.style,
        "layout_note": note,
        "width": place.width,
        "height": place.height,
        "node_width": place.node_width,
        "node_height": place.node_height,
    }
    return header, {
        "x": place.x.astype(np.float32),
        "y": place.y.astype(np.float32),
        "route_offset": place.route_offset.astype(np.uint32),
        "route_x": place.route_x.astype(np.float32),
        "route_y": place.route_y.astype(np.float32),
    }


def _along_time(shape: Shape, ran: LaunchIntervals) -> tuple[dict[str, Any], Arrays]:
    place = place_time(
        ran.start_ns, ran.end_ns, shape.row, shape.chain, shape.edge_from, shape.edge_to
    )
    lanes = int(place.lane.max(initial=0)) + 1
    header = {
        "layout": "time",
        "layout_note": None,
        "width": float(place.end_ns.max(initial=1.0)),
        "height": lanes * ROW_PITCH,
        "node_width": 1.0,
        "node_height": NODE_HEIGHT,
    }
    half = (place.end_ns - place.start_ns) / 2
    return header, {
        "x": (place.start_ns + half).astype(np.float32),
        "y": ((place.lane + 0.5) * ROW_PITCH).astype(np.float32),
        "half_width": half.astype(np.float32),
        "route_offset": np.zeros(len(shape.edge_from) + 1, np.uint32),
        "route_x": np.zeros(0, np.float32),
        "route_y": np.zeros(0, np.float32),
    }
