"""The small picture of a graph as SVG: a launch in lanes, over a band as wide as the graph is.

An element of a page; kernel families have the colours that they have on the graph page.
"""

from __future__ import annotations

import math

from gviz.app.views.miniature import UNITS, MiniatureShapes
from gviz.formats import INKS, Pen, family_colour
from gviz.text import counted, duration

#: Of a lane's height, what a bar takes.
_BAR = 0.78
#: Height of a lane (pixels): few lanes are higher, many share what there is.
_LANE, _LANES_HEIGHT = (4.0, 22.0), 44.0
#: Height of the band (pixels) under a launch, and without one; and what is between.
_BAND, _BAND_ALONE, _GAP = 16.0, 40.0, 4.0
#: A graph this wide fills the band's height, so that a chain stays a line.
_WIDE = 4


def draw_miniature(found: MiniatureShapes) -> str:
    """Return the picture; its title says what it shows."""
    pen = Pen(INKS["light"])
    height = 0.0
    if found.lane_count:
        lane = max(_LANE[0], min(_LANE[1], _LANES_HEIGHT / found.lane_count))
        height = round(lane * found.lane_count)
        for place, bars in enumerate(found.spans):
            if bars:
                shape = f'class="gv-mini-bars" fill="{family_colour(place)}"'
                pen.path(_bars(bars, height / found.lane_count), shape)
    if found.widths:
        top = height + _GAP if height else 0.0
        band = _BAND if height else _BAND_ALONE
        pen.path(_band(found.widths, top, band), f'class="gv-mini-band" fill="{pen.ink.edge}"')
        height = top + band
    shape = f'class="gv-mini-picture" height="{height:g}" aria-hidden="true"'
    return pen.drawing(UNITS, height, _words(found), shape)


def draw_reason(reason: str) -> str:
    """Return an empty picture; its title says why."""
    return Pen(INKS["light"]).drawing(UNITS, 0, f"No picture: {reason}", 'height="0"')


def _bars(bars: list[float], lane_height: float) -> str:
    """Return bars of one colour (start, length, lane, and so on) as one path."""
    high = f"{_BAR * lane_height:.2f}"
    return "".join(
        f"M{x:g} {lane * lane_height:.2f}h{width:g}v{high}h{-width:g}z"
        for x, width, lane in zip(bars[::3], bars[1::3], bars[2::3], strict=True)
    )


def _band(widths: list[int], top: float, height: float) -> str:
    """Return a band around its middle; logarithmic, for a thousand nodes side by side."""
    most = math.log2(1 + max(_WIDE, *widths))
    middle, step = top + height / 2, UNITS / len(widths)
    upper, lower = [], []
    for i, width in enumerate(widths):
        half = height * math.log2(1 + width) / most / 2
        upper.append(f"L{i * step:.1f} {middle - half:.2f}h{step:.1f}")
        lower.append(f"L{(i + 1) * step:.1f} {middle + half:.2f}h{-step:.1f}")
    return f"M0 {middle:.2f}{''.join(upper)}{''.join(reversed(lower))}z"


def _words(found: MiniatureShapes) -> str:
    parts = ["No launch has node times"]
    if found.lane_count:
        length = "" if found.gpu_ns is None else f"{duration(found.gpu_ns)}, "
        if found.is_by_copy:
            length = "the gaps are of its events, "
        which = "event copy" if found.is_by_copy else "launch with node times"
        drawn = f"#{found.ordinal}, the median {which}"
        if found.ordinal is None:
            drawn = "The median of event copies, each of a part of the nodes"
        parts = [f"{drawn}: {length}{counted(found.lane_count, 'lane')}"]
    if found.widths:
        most = max(found.widths)
        parts.append("a chain" if most == 1 else f"at most {most:,} nodes side by side")
    return " · ".join(parts)
