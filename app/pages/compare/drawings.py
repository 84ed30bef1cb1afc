"""The drawing of a comparison: from the launch time before to that after."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from dash import html
from dash.development.base_component import Component

from gviz.app.components import Step, waterfall
from gviz.app.pages.report import steps_of
from gviz.report import Drawing
from gviz.text import duration

#: The axis begins this share of the way from zero to the shortest total, or before what is drawn.
_ROOM = 0.1


def draw_launch(found: Drawing) -> Component:
    """Return the waterfall of a launch's change."""
    steps = steps_of(found)
    begin_ns = _begin(steps)
    label = "Waterfall from the launch time before to that after"
    drawn = waterfall(steps, label=label, begin_ns=begin_ns)
    if not begin_ns:
        return drawn
    axis = html.P(f"The bars begin at {duration(begin_ns)}.", className="gv-muted")
    return html.Div([drawn, axis])


def _begin(steps: Sequence[Step]) -> float:
    """Return where the axis begins: the changes take most of it."""
    reached = list(accumulate(step.ns for step in steps[:-1]))
    least, most = min(reached), max(reached)
    return max(0.0, least - max(_ROOM * least, most - least))
