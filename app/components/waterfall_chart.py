"""Waterfalls: how a time comes about part by part, as horizontal bars that follow each other.

They are elements, not drawn by a script: pages, saved files and print have the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from dash import html
from dash.development.base_component import Component

from gviz.app.components.aria_attributes import aria
from gviz.dataclass import dataclass
from gviz.text import duration, percent, signed_duration, signed_percent

#: What a part is; styles/report.css has a colour for each.
Kind = Literal["total", "work", "gap", "wait", "other", "gain", "loss"]


@dataclass(frozen=True, slots=True)
class Step:
    """One bar.

    Attributes
    ----------
    name
        What it is.
    ns
        Its length, signed: a part below zero goes back.
    kind
        Totals start at zero, parts where the bar before ended.
    """

    name: str
    ns: float
    kind: Kind


def waterfall(
    steps: Sequence[Step], *, label: str, whole_ns: float | None = None, begin_ns: float = 0.0
) -> Component:
    """Return a waterfall.

    Parameters
    ----------
    steps
        Its bars, from top to bottom.
    label
        What it is, for those who do not see it.
    whole_ns
        What shares are of; None: it says none.
    begin_ns
        Where the bars begin: between long totals small parts are not seen from zero.
    """
    spans = [
        (max(begin_ns, min(a, a + s.ns)), max(a, a + s.ns))
        for a, s in zip(_starts(steps), steps, strict=True)
    ]
    low = min([begin_ns, *(begin for begin, _ in spans)])
    reach = max(end for _, end in spans) - low or 1.0
    lines = [
        html.Div(
            [
                html.Span(step.name),
                html.Div(
                    # What lasts no time has no bar.
                    None
                    if begin == end
                    else html.Div(
                        className=f"gv-waterfall-bar gv-waterfall-{step.kind}",
                        style={
                            "--gv-from": f"{(begin - low) / reach:.4f}",
                            "--gv-long": f"{(end - begin) / reach:.4f}",
                        },
                    ),
                    className="gv-waterfall-track",
                ),
                html.Span(_words(step, whole_ns), className="gv-waterfall-value"),
            ],
            className="gv-waterfall-step",
        )
        for step, (begin, end) in zip(steps, spans, strict=True)
    ]
    return html.Div(lines, className="gv-waterfall", role="group", **aria(label=label))


def _words(step: Step, whole_ns: float | None) -> str:
    is_change = step.kind in ("gain", "loss")
    words = [signed_duration(step.ns) if is_change else duration(step.ns)]
    if whole_ns is not None:
        share = step.ns / (whole_ns or 1.0)
        words.append(signed_percent(share) if is_change else percent(share))
    return " · ".join(words).replace("-", "−")


def _starts(steps: Sequence[Step]) -> list[float]:
    found: list[float] = []
    at = 0.0
    for step in steps:
        start = 0.0 if step.kind == "total" else at
        found.append(start)
        at = start + step.ns
    return found
