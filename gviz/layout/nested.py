"""Graphs inside nodes of graphs: each open node becomes a frame around its body graphs.

A frame is a node with room for its bodies, so no node and no frame ever overlaps another, and
edges of an open node end at its frame: before all of its content, or behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import log

import numpy as np

from gviz.dag import Placement
from gviz.dataclass import dataclass
from gviz.layout.room import make_room
from gviz.stats import FloatArray, IntArray

#: Strip with the name of a frame, and of a body where a frame holds several.
FRAME_HEAD = 30.0
BODY_HEAD = 22.0
#: Between a frame and its bodies, and between bodies.
PAD = 10.0
#: Least width of a body: its name can be read.
BODY_WIDTH_LEAST = 200.0
#: Height of a body without nodes.
EMPTY_HEIGHT = 40.0
#: Width over height that bodies side by side aim for; up to so many in a row are tried.
ASPECT = 1.7
_MOST_TRIED = 33


@dataclass(frozen=True, slots=True)
class Level:
    """A graph or an open body.

    Attributes
    ----------
    place
        Its placement by itself.
    source, target
        int64: its edges, by its own nodes.
    parent
        (level, node of that level) that holds it; None for the first.
    """

    place: Placement
    source: IntArray
    target: IntArray
    parent: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of the plane."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class PlacedLevel:
    """A level in the plane of all.

    Attributes
    ----------
    place
        With room for open nodes, moved to where it stands.
    half_width, half_height
        float64, one a node: of an open one its frame's.
    box
        Of a body: with its name.
    """

    place: Placement
    half_width: FloatArray
    half_height: FloatArray
    box: Box


@dataclass(frozen=True, slots=True)
class _Body:
    """A body in its frame, from the frame's upper left corner; ``head`` is above its content."""

    left: float
    top: float
    width: float
    height: float
    head: float


def list_bodies(parents: Sequence[tuple[int, int] | None]) -> list[dict[int, list[int]]]:
    """Return for each level the bodies of its nodes, by node, in their order.

    ``parents``: the (level, node of it) of each body; None for the first level.
    """
    bodies_of: list[dict[int, list[int]]] = [{} for _ in parents]
    for number, parent in enumerate(parents):
        if parent is not None:
            bodies_of[parent[0]].setdefault(parent[1], []).append(number)
    return bodies_of


def nest_levels(levels: Sequence[Level]) -> list[PlacedLevel]:
    """Return the levels in one plane, each body inside its parent node.

    Parameters
    ----------
    levels
        The first holds the others, directly or not; one comes after that of its parent node. Bodies
        of one node stand side by side in their order here.
    """
    bodies_of = list_bodies([level.parent for level in levels])
    places: list[Placement] = [level.place for level in levels]
    sizes: list[tuple[FloatArray, FloatArray]] = [_sizes(level.place) for level in levels]
    bodies: dict[int, _Body] = {}
    for number in range(len(levels) - 1, -1, -1):
        level = levels[number]
        width, height = (np.full(len(level.place), np.nan) for _ in range(2))
        for node, nested in bodies_of[number].items():
            found = _arrange([places[at] for at in nested])
            bodies.update(zip(nested, found, strict=True))
            width[node] = max(b.left + b.width for b in found) + PAD
            height[node] = max(b.top + b.height for b in found) + PAD
        places[number] = make_room(level.place, level.source, level.target, width, height)
        sizes[number] = _sizes(level.place, width, height)
    return _move(levels, places, sizes, bodies)


def _sizes(
    place: Placement, width: FloatArray | None = None, height: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return half the width and height of each node."""
    half_w, half_h = np.full(len(place), place.node_width / 2), np.full(len(place), 0.0)
    half_h += place.node_height / 2
    if width is not None and height is not None:
        large = ~np.isnan(width)
        half_w[large] = np.maximum(half_w[large], width[large] / 2)
        half_h[large] = np.maximum(half_h[large], height[large] / 2)
    return half_w, half_h


def _arrange(places: Sequence[Placement]) -> list[_Body]:
    """Return bodies in rows from left to right, so many side by side that they come near ASPECT."""
    head = BODY_HEAD if len(places) > 1 else 0.0
    sizes = [
        (max(BODY_WIDTH_LEAST, p.width) + 2 * PAD, (p.height or EMPTY_HEIGHT) + head)
        for p in places
    ]
    widest = max(width for width, _ in sizes)
    rooms = {max(widest, sum(w + PAD for w, _ in sizes[:count])) for count in range(1, _MOST_TRIED)}
    return min((_fill(sizes, room, head) for room in sorted(rooms)), key=_miss)


def _fill(sizes: Sequence[tuple[float, float]], room: float, head: float) -> list[_Body]:
    found: list[_Body] = []
    left, top, tallest = PAD, FRAME_HEAD, 0.0
    for width, height in sizes:
        if left > PAD and left + width > room + PAD:
            left, top, tallest = PAD, top + tallest + PAD, 0.0
        found.append(_Body(left, top, width, height, head))
        left, tallest = left + width + PAD, max(tallest, height)
    return found


def _miss(bodies: Sequence[_Body]) -> float:
    """Return how far the frame around bodies is from :data:`ASPECT`."""
    width = max(b.left + b.width for b in bodies)
    return abs(log(width / max(b.top + b.height for b in bodies) / ASPECT))


def _move(
    levels: Sequence[Level],
    places: Sequence[Placement],
    sizes: Sequence[tuple[FloatArray, FloatArray]],
    bodies: dict[int, _Body],
) -> list[PlacedLevel]:
    """Move each level from its own plane to where its parent stands."""
    found: list[PlacedLevel] = []
    for number, level in enumerate(levels):
        place, (half_w, half_h) = places[number], sizes[number]
        box = Box(0.0, 0.0, place.width, place.height)
        left = top = 0.0
        if level.parent is not None:
            outer, node = found[level.parent[0]], level.parent[1]
            body = bodies[number]
            x = float(outer.place.x[node] - outer.half_width[node]) + body.left
            y = float(outer.place.y[node] - outer.half_height[node]) + body.top
            box = Box(x, y, x + body.width, y + body.height)
            left, top = x + (body.width - place.width) / 2, y + body.head
        found.append(PlacedLevel(_shifted(place, left, top), half_w, half_h, box))
    return found


def _shifted(place: Placement, left: float, top: float) -> Placement:
    return replace(
        place,
        x=place.x + left,
        y=place.y + top,
        route_x=place.route_x + left,
        route_y=place.route_y + top,
    )
