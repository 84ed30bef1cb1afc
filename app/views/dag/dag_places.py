"""Places of the items of the DAG, as arrays: by structure, in lanes, or along time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gviz.app.views.dag.intervals import LaunchIntervals
from gviz.app.views.wire import Arrays, join_offsets
from gviz.dag import NODE_HEIGHT, Cover, Placement
from gviz.dataclass import dataclass
from gviz.layout import (
    LAYERS_REQUESTED_MOST,
    Level,
    TimeLevel,
    TimePlacement,
    layers_fit,
    nest_levels,
    place_graph,
    place_time,
    stack_levels,
)
from gviz.stats import FloatArray, IntArray

#: Why a layout is not the one that is requested.
UNTIMED_NOTE = "no node of this level has a time in this launch"
LARGE_NOTE = (
    f"layers are drawn up to {LAYERS_REQUESTED_MOST:,} nodes and passed rows: shown in lanes"
)


@dataclass(frozen=True, slots=True)
class LevelItems:
    """Items of a level as a layout needs them.

    Attributes
    ----------
    parent
        (level, item of that level) of its parent node; None for the level shown.
    ran
        When the items ran; None: no launch has node times.
    breaks
        Rows at which a section begins (:func:`gviz.layout.section_breaks`).
    """

    count: int
    edge_from: IntArray
    edge_to: IntArray
    row: IntArray
    chain: IntArray
    ran: LaunchIntervals | None
    parent: tuple[int, int] | None = None
    breaks: tuple[int, ...] = ()


def place_arrays(shapes: Sequence[LevelItems], layout: str | None) -> tuple[dict[str, Any], Arrays]:
    """Return header fields and arrays of a layout, of the level shown and of open bodies in it.

    Arrays: x, y (centres), route_offset, route_x, route_y. With open bodies, and in layout 'time',
    half_width, and with open bodies half_height: of an open node the frame's. Of each body, in
    order: body_left, body_top, body_right, body_bottom. In layout 'time' x is in ns of the launch,
    and of items that ran several times there are bar_offset (cuts by item), bar_x, bar_y and
    bar_half_width. Header: layout (the one drawn), layout_note (why it is not the one requested, or
    null), width, height, node_width, node_height.
    """
    if layout == "time":
        if shapes[0].ran is not None and np.isfinite(shapes[0].ran.start_ns).any():
            return _along_time(shapes)
        return _in_plane(shapes, None, UNTIMED_NOTE)
    return _in_plane(shapes, layout, None)


def _in_plane(
    shapes: Sequence[LevelItems], layout: str | None, note: str | None
) -> tuple[dict[str, Any], Arrays]:
    layers = {"structure": True, "lanes": False}.get(layout or "")
    levels = []
    # Equal bodies, such as those of a model's layers, stand in the same way.
    known: dict[tuple[object, ...], Placement] = {}
    for shape in shapes:
        if layers and not layers_fit(shape.row, shape.edge_from, shape.edge_to):
            note = LARGE_NOTE
        key = shape.count, shape.edge_from.tobytes(), shape.edge_to.tobytes(), shape.breaks
        if key not in known:
            cover = Cover(shape.row, shape.chain, shape.breaks)
            known[key] = place_graph(
                shape.count, shape.edge_from, shape.edge_to, layers=layers, cover=cover
            )
        levels.append(Level(known[key], shape.edge_from, shape.edge_to, shape.parent))
    placed = nest_levels(levels)
    first = placed[0].place
    header = {
        "layout": first.style,
        "layout_note": note,
        "width": first.width,
        "height": first.height,
        "node_width": max(p.place.node_width for p in placed),
        "node_height": first.node_height,
    }
    arrays: Arrays = {
        "x": _floats([p.place.x for p in placed]),
        "y": _floats([p.place.y for p in placed]),
        "route_offset": join_offsets([p.place.route_offset for p in placed]),
        "route_x": _floats([p.place.route_x for p in placed]),
        "route_y": _floats([p.place.route_y for p in placed]),
    }
    if len(shapes) > 1:
        arrays["half_width"] = _floats([p.half_width for p in placed])
        arrays["half_height"] = _floats([p.half_height for p in placed])
        boxes = [(p.box.left, p.box.top, p.box.right, p.box.bottom) for p in placed[1:]]
        arrays |= _boxes(np.array(boxes))
    return header, arrays


def _floats(parts: Sequence[FloatArray]) -> npt.NDArray[np.float32]:
    return np.concatenate(parts).astype(np.float32)


def _boxes(boxes: FloatArray) -> Arrays:
    names = ("body_left", "body_top", "body_right", "body_bottom")
    return {name: boxes[:, at].astype(np.float32) for at, name in enumerate(names)}


def _along_time(shapes: Sequence[LevelItems]) -> tuple[dict[str, Any], Arrays]:
    places: list[TimePlacement] = []
    for shape in shapes:
        assert shape.ran is not None
        floor = 0.0
        if shape.parent is not None:
            floor = float(places[shape.parent[0]].start_ns[shape.parent[1]])
        places.append(
            place_time(
                shape.ran.start_ns, shape.ran.end_ns, shape.row, shape.chain,
                shape.edge_from, shape.edge_to, iterations=shape.ran.iterations, floor_ns=floor,
            )
        )  # fmt: skip
    stacked = stack_levels([TimeLevel(p, s.parent) for p, s in zip(places, shapes, strict=True)])
    header = {
        "layout": "time",
        "layout_note": None,
        "width": max(float(p.end_ns.max(initial=1.0)) for p in places),
        "height": stacked[0].bottom,
        "node_width": 1.0,
        "node_height": NODE_HEIGHT,
    }
    start, end = (np.concatenate([getattr(p, n) for p in places]) for n in ("start_ns", "end_ns"))
    arrays: Arrays = {
        "x": ((start + end) / 2).astype(np.float32),
        "y": _floats([s.y for s in stacked]),
        "half_width": ((end - start) / 2).astype(np.float32),
        "route_offset": np.zeros(sum(len(s.edge_from) for s in shapes) + 1, np.uint32),
        "route_x": np.zeros(0, np.float32),
        "route_y": np.zeros(0, np.float32),
    }
    if any(len(p.bars.node) > len(p.start_ns) for p in places):
        arrays |= _bars(places, [s.bar_y for s in stacked])
    if len(shapes) > 1:
        half = np.concatenate([s.half_height for s in stacked])
        arrays["half_height"] = np.where(np.isnan(half), NODE_HEIGHT / 2, half).astype(np.float32)
        boxes = [
            (places[level].start_ns[item], s.top, places[level].end_ns[item], s.bottom)
            for shape, s in zip(shapes[1:], stacked[1:], strict=True)
            for level, item in [shape.parent or (0, 0)]
        ]
        arrays |= _boxes(np.array(boxes))
    return header, arrays


def _bars(places: Sequence[TimePlacement], y: Sequence[FloatArray]) -> Arrays:
    start = np.concatenate([p.bars.start_ns for p in places])
    end = np.concatenate([p.bars.end_ns for p in places])
    return {
        "bar_offset": join_offsets([np.append(p.first_bar, len(p.bars.node)) for p in places]),
        "bar_x": ((start + end) / 2).astype(np.float32),
        "bar_y": _floats(y),
        "bar_half_width": ((end - start) / 2).astype(np.float32),
    }
