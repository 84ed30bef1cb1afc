"""Room in a placement for nodes that are larger than the others, such as an open body.

The plane is stretched where they stand: rows grow in their column, and everything beside moves
apart. Order, gaps and the course of edges stay, so that what was known is found again.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gviz.dag import Placement, join_routes
from gviz.stats import FloatArray, IntArray, distinct_values


def make_room(
    place: Placement, source: IntArray, target: IntArray, width: FloatArray, height: FloatArray
) -> Placement:
    """Return a placement in which some nodes have the room they need around their centre.

    It is the one given where no node needs any.

    Parameters
    ----------
    place
        The placement of nodes of equal size.
    source, target
        The edges that it was made of.
    width, height
        float64, one a node: what it needs; NaN: it is as large as all.
    """
    large = np.flatnonzero(~np.isnan(width))
    if not len(large):
        return place
    half_w, half_h = place.node_width / 2, place.node_height / 2
    left, right = place.x[large] - half_w, place.x[large] + half_w
    across = _Stretch(left, right, width[large])
    x = across.of(place.x)
    x[large] = (across.of(left) + across.of(right)) / 2
    down = {}
    for column in distinct_values(place.column[large]).tolist():
        inside = large[place.column[large] == column]
        down[column] = _Stretch(place.y[inside] - half_h, place.y[inside] + half_h, height[inside])
    y = _map(down, place.column, place.y)
    bottom = _map(down, place.column, place.y + half_h)
    edge = np.repeat(np.arange(len(source)), np.diff(place.route_offset))
    number = np.arange(len(edge)) - place.route_offset[edge]
    # An edge to another column bends twice: first beside its source, then beside its target.
    is_late = 2 * number >= np.diff(place.route_offset)[edge]
    beside = place.column[np.where(is_late, target[edge], source[edge])]
    route_y = _map(down, beside, place.route_y)
    moved = replace(
        place,
        x=x,
        y=y,
        route_x=across.of(place.route_x),
        route_y=route_y,
        width=float(across.of(np.array([place.width]))[0]),
        height=float(bottom.max() + place.height - (place.y + half_h).max()),
    )
    return _clear_rows(moved, edge, source, target, np.isnan(width), bottom)


def _map(down: dict[int, _Stretch], column: IntArray, values: FloatArray) -> FloatArray:
    """Return where values go, each in its column."""
    found = values.copy()
    for number, stretch in down.items():
        inside = column == number
        found[inside] = stretch.of(values[inside])
    return found


def _clear_rows(
    place: Placement,
    edge: IntArray,
    source: IntArray,
    target: IntArray,
    is_small: npt.NDArray[np.bool_],
    bottom: FloatArray,
) -> Placement:
    """Lead edges straight out of rows that have grown before they bend, clear of what is large."""
    grown = is_small & (bottom - place.y > place.node_height / 2 + 1e-6)
    same = place.column[source] == place.column[target]
    out, into = np.flatnonzero(same & grown[source]), np.flatnonzero(same & grown[target])
    top = 2 * place.y - bottom
    offset, route_x, route_y = join_routes(
        np.concatenate((out, edge, into)),
        np.concatenate((place.x[source[out]], place.route_x, place.x[target[into]])),
        np.concatenate((bottom[source[out]], place.route_y, top[target[into]])),
        len(source),
    )
    return replace(place, route_offset=offset, route_x=route_x, route_y=route_y)


class _Stretch:
    """A map of a line onto itself that nowhere shrinks and makes some intervals long enough.

    Parameters
    ----------
    low, high
        float64: the intervals.
    least
        float64: how long each must become.
    """

    def __init__(self, low: FloatArray, high: FloatArray, least: FloatArray) -> None:
        self._at = distinct_values(np.concatenate((low, high)))
        length = np.diff(self._at)
        added = np.zeros(len(length))
        first, last = np.searchsorted(self._at, low), np.searchsorted(self._at, high)
        pairs, group = np.unique(np.stack((first, last)), axis=1, return_inverse=True)
        wanted = np.zeros(pairs.shape[1])
        np.maximum.at(wanted, group.reshape(-1), least)
        # The largest first: what it stretches serves those that stand in part above it.
        for number in np.argsort(-wanted).tolist():
            inside = slice(int(pairs[0, number]), int(pairs[1, number]))
            is_long = float((length[inside] + added[inside]).sum())
            lack = wanted[number] - is_long
            if lack > 0:
                added[inside] += lack * length[inside] / length[inside].sum()
        self._shift = np.concatenate(([0.0], np.cumsum(added)))

    def of(self, values: FloatArray) -> FloatArray:
        """Return where values go."""
        moved: FloatArray = values + np.interp(values, self._at, self._shift)
        return moved
