"""Open bodies along time: a frame over the lanes of its nodes, in a lane of its own height."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gviz.dag import ROW_PITCH
from gviz.dataclass import dataclass
from gviz.layout.nested import BODY_HEAD, FRAME_HEAD, PAD, list_bodies
from gviz.layout.timed import TimePlacement
from gviz.stats import FloatArray

#: Between a frame and those in the lanes over and under it.
FRAME_GAP = 12.0


@dataclass(frozen=True, slots=True)
class TimeLevel:
    """A graph or an open body along time; ``parent`` is (level, node of it), None for the first."""

    place: TimePlacement
    parent: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class StackedLevel:
    """A level in the plane of all: x is time, y grows downwards.

    Attributes
    ----------
    y
        float64, one a node: its middle; of an open one its frame's.
    bar_y
        float64, one a bar.
    half_height
        float64, one a node: of an open one half its frame's, NaN for the others.
    top, bottom
        Of a body: with its name.
    """

    y: FloatArray
    bar_y: FloatArray
    half_height: FloatArray
    top: float
    bottom: float


def stack_levels(levels: Sequence[TimeLevel]) -> list[StackedLevel]:
    """Return the levels in one plane, each body inside the frame of its parent node.

    Parameters
    ----------
    levels
        The first holds the others, directly or not; one comes after that of its parent node. Bodies
        of one node stand under each other in their order here.
    """
    bodies_of = list_bodies([level.parent for level in levels])
    tops: list[FloatArray] = [np.zeros(0) for _ in levels]
    frames: list[dict[int, float]] = [{} for _ in levels]
    for number in range(len(levels) - 1, -1, -1):
        frames[number] = {
            node: _frame_height([float(tops[at][-1]) for at in nested])
            for node, nested in bodies_of[number].items()
        }
        tops[number] = _lane_tops(levels[number].place, frames[number])
    return _stack(levels, bodies_of, tops, frames)


def _frame_height(bodies: Sequence[float]) -> float:
    head = BODY_HEAD if len(bodies) > 1 else 0.0
    return FRAME_HEAD + sum(height + head + PAD for height in bodies)


def _lane_tops(place: TimePlacement, frames: dict[int, float]) -> FloatArray:
    """Return where each lane begins, and where the last one ends."""
    height = np.full(place.lane_count, ROW_PITCH)
    first = place.first_bar
    for node, frame in frames.items():
        lane = int(place.lane[first[node]])
        height[lane] = max(height[lane], frame + FRAME_GAP)
    return np.concatenate(([0.0], np.cumsum(height)))


def _stack(
    levels: Sequence[TimeLevel],
    bodies_of: Sequence[dict[int, list[int]]],
    tops: Sequence[FloatArray],
    frames: Sequence[dict[int, float]],
) -> list[StackedLevel]:
    begin = [0.0] * len(levels)
    box = [(0.0, float(tops[0][-1])) for _ in levels]
    found: list[StackedLevel] = []
    for number, level in enumerate(levels):
        place = level.place
        lane_top = tops[number][place.lane] + begin[number]
        bar_y = lane_top + ROW_PITCH / 2
        first = place.first_bar
        y, half = bar_y[first], np.full(len(first), np.nan)
        for node, nested in bodies_of[number].items():
            height = frames[number][node]
            half[node] = height / 2
            top = float(lane_top[first[node]]) + FRAME_GAP / 2
            y[node] = bar_y[first[node]] = top + height / 2
            at = top + FRAME_HEAD
            head = BODY_HEAD if len(nested) > 1 else 0.0
            for body in nested:
                begin[body] = at + head
                box[body] = (at, begin[body] + float(tops[body][-1]))
                at = box[body][1] + PAD
        found.append(StackedLevel(y, bar_y, half, *box[number]))
    return found
