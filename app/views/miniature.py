"""The small picture of a graph: its most typical launch in lanes, and how wide it is on its way.

gviz.app.views.miniature_picture draws what is computed here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gviz.app.views.family_colours import REST, read_family_colours
from gviz.app.views.timeline import read_median_launch, timed_launches
from gviz.dataclass import dataclass
from gviz.model import Keep, TimedLevel, build_anew, by_start, read_launch_spans
from gviz.stats import FloatArray, IntArray, merge_spans

if TYPE_CHECKING:
    from gviz.app.views.graph_data import ShownLaunch
    from gviz.recording import Recording

#: The launch is this many units long; spans closer than one are drawn as one.
UNITS = 400
#: More lanes than these share the rows of the picture.
_MOST_LANES = 12
#: Steps along the graph, from its roots to its ends.
_STEPS = 120


@dataclass(frozen=True, slots=True)
class MiniatureShapes:
    """Content of the picture.

    Attributes
    ----------
    spans
        Bars of the launch: start and length (units of a :data:`UNITS`-th of it) and lane, one
        after another in one list for each place of a colour, that of the family of what ran
        longest in the bar. Empty: no launch has node times.
    lane_count
        Rows of bars.
    gpu_ns, ordinal
        Of the launch drawn: the one nearest to the median of those with node times. None: the
        median of copies is drawn, for each times a slice of the nodes.
    is_by_copy
        True where a copy with events ran in its place, whose length and gaps are its own.
    widths
        How many nodes stand side by side at each step from the roots to the ends (the most of
        the rows that share a step); empty: edges unknown.
    """

    spans: list[list[float]]
    lane_count: int
    gpu_ns: int | None
    ordinal: int | None
    is_by_copy: bool
    widths: list[int]


def build_miniature(
    recording: Recording, level: TimedLevel, launch: ShownLaunch | None, keep: Keep = build_anew
) -> MiniatureShapes:
    """Return the picture of a graph and one of its launches."""
    spans: list[list[float]] = []
    lanes = 0
    is_sliced = level.tree.times.is_sliced
    if launch is not None:
        ran = _read_median(recording, level) if is_sliced else _read(recording, level, launch)
        spans, lanes = _bars(recording, level, ran, keep)
    if is_sliced:
        launch = None
    return MiniatureShapes(
        spans=spans,
        lane_count=lanes,
        gpu_ns=None if launch is None else launch.gpu_ns,
        ordinal=None if launch is None else launch.ordinal,
        is_by_copy=level.tree.times.is_by_copy,
        widths=[] if level.graph.topology_id is None else row_widths(level.row, _STEPS),
    )


def row_widths(row: IntArray, steps: int) -> list[int]:
    """Return the greatest number of nodes in a row, for each of up to ``steps`` groups of rows."""
    if not len(row):
        return []
    widths = np.bincount(row)
    step = -(-len(widths) // steps)
    padded = np.append(widths, np.zeros(-len(widths) % step, np.int64))
    return [int(n) for n in padded.reshape(-1, step).max(axis=1)]


@dataclass(frozen=True, slots=True)
class _Ran:
    """Nodes of a tree that ran, by start, and when (float64, ns)."""

    node: IntArray
    start: FloatArray
    end: FloatArray


def _read(recording: Recording, level: TimedLevel, launch: ShownLaunch) -> _Ran:
    spans = by_start(read_launch_spans(recording, level.tree, launch.launch_id))
    return _Ran(spans.node, spans.start_ns.astype(np.float64), spans.end_ns.astype(np.float64))


def _read_median(recording: Recording, level: TimedLevel) -> _Ran:
    launches = timed_launches(recording, level.tree)
    found = read_median_launch(recording, level, launches)
    return _Ran(found.node_id, found.start_ns, found.start_ns + found.duration_ns)


def _bars(
    recording: Recording, level: TimedLevel, ran: _Ran, keep: Keep
) -> tuple[list[list[float]], int]:
    if not len(ran.node):
        return [], 0
    start, end = ran.start, ran.end
    lane = level.lanes(ran.node, start, end)
    count = int(lane.max()) + 1
    lane = lane // -(-count // _MOST_LANES)
    unit = max(float(end.max()), 1.0) / UNITS
    merged = merge_spans(lane, start, end, unit, np.zeros(len(lane), bool))
    place = read_family_colours(recording, level.tree, keep).slots()[ran.node].tolist()
    bars: list[list[float]] = [[] for _ in range(REST + 1)]
    for at, begin, finish in zip(
        merged.slowest.tolist(), merged.start_ns.tolist(), merged.end_ns.tolist(), strict=True
    ):
        # A bar thinner than this could not be seen.
        length = max((finish - begin) / unit, 0.6)
        bars[place[at]] += (round(begin / unit, 1), round(length, 1), int(lane[at]))
    return bars, int(lane.max()) + 1
