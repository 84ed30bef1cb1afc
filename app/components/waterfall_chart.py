"""Waterfalls: how a time comes about part by part, as horizontal bars that follow each other."""

from __future__ import annotations

import html as escaping
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from dash import html
from dash.development.base_component import Component

from gviz.app.components.aria_attributes import aria
from gviz.app.components.charts import COLOURS, plot
from gviz.text import duration, percent, signed_duration, signed_percent

#: What a part is; each has a colour and a pattern of its own.
Kind = Literal["total", "work", "gap", "wait", "other", "gain", "loss"]

_BLUE, _ORANGE, _GREEN, _PINK, _YELLOW, _SKY, _GREY = COLOURS
_LOOK: dict[Kind, tuple[str, str]] = {
    "total": (_GREY, ""),
    "work": (_BLUE, ""),
    "gap": (_ORANGE, "/"),
    "wait": (_PINK, "x"),
    "other": (_YELLOW, "."),
    "gain": (_GREEN, "\\"),
    "loss": (_ORANGE, "/"),
}
_UNITS = ((1e3, "ns", 1.0), (1e6, "µs", 1e3), (1e9, "ms", 1e6), (float("inf"), "s", 1e9))
#: Pixels of a bar with what is around it, and of what is above and below all of them.
_BAR, _AROUND = 34, 56
#: Room right of the longest bar for its words, as a share of it.
_WORDS = 0.45


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
    name: str,
    steps: Sequence[Step],
    *,
    label: str,
    whole_ns: float | None,
    begin_ns: float = 0.0,
) -> Component:
    """Return a waterfall; shares are of ``whole_ns``. Its numbers are to stand beside it.

    ``whole_ns`` None: without shares, which takes less room.
    ``begin_ns`` is where its axis begins: between long totals small parts are not seen from zero.
    """
    starts = _starts(steps)
    reach = max(
        [abs(x) for x in starts] + [abs(a + s.ns) for a, s in zip(starts, steps, strict=True)]
    )
    unit, scale = next((unit, scale) for limit, unit, scale in _UNITS if reach < limit)
    rows = list(range(len(steps)))
    looks = [_LOOK[step.kind] for step in steps]
    words = [_words(step, whole_ns) for step in steps]
    bars: dict[str, Any] = {
        "type": "bar",
        "orientation": "h",
        "y": rows,
        "x": [step.ns / scale for step in steps],
        "base": [start / scale for start in starts],
        "text": words,
        "textposition": "none",
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {
            "color": [colour for colour, _ in looks],
            "pattern": {"shape": [shape for _, shape in looks], "solidity": 0.25},
        },
    }
    ends = [max(a, a + s.ns) / scale for a, s in zip(starts, steps, strict=True)]
    low = min([begin_ns, *(a + min(s.ns, 0.0) for a, s in zip(starts, steps, strict=True)
                           if s.kind != "total")])  # fmt: skip
    return plot(
        name,
        [bars, _beside(ends, words)],
        label=label,
        numbers=None,
        height=_AROUND + _BAR * len(steps),
        showlegend=False,
        bargap=0.35,
        margin={"l": 10, "r": 12, "t": 8, "b": 44},
        xaxis={
            "title": {"text": unit},
            "range": [low / scale, (reach + (reach - low) * _WORDS) / scale],
            "zeroline": False,
        },
        yaxis=named_rows([step.name for step in steps]),
        shapes=[_joint(at, starts, steps, scale) for at in rows[1:]],
    )


def bridge(steps: Sequence[Step], *, label: str, begin_ns: float = 0.0) -> Component:
    """Return a waterfall of changes as elements, without a script: bars that follow each other.

    ``begin_ns`` as of :func:`waterfall`; totals begin there.
    """
    starts = _starts(steps)
    spans = [
        (max(begin_ns, min(a, a + s.ns)), max(a, a + s.ns))
        for a, s in zip(starts, steps, strict=True)
    ]
    low = min([begin_ns, *(begin for begin, _ in spans)])
    reach = max(end for _, end in spans) - low or 1.0
    lines = [
        html.Div(
            [
                html.Span(step.name),
                html.Div(
                    html.Div(
                        className=f"gv-bridge-bar gv-bridge-{step.kind}",
                        style={
                            "--gv-from": f"{(begin - low) / reach:.4f}",
                            "--gv-long": f"{(end - begin) / reach:.4f}",
                        },
                    ),
                    className="gv-bridge-track",
                ),
                html.Span(_words(step, None), className="gv-bridge-value"),
            ],
            className="gv-bridge-step",
        )
        for step, (begin, end) in zip(steps, spans, strict=True)
    ]
    return html.Div(lines, className="gv-bridge", role="group", **aria(label=label))


def _beside(ends: Sequence[float], words: Sequence[str]) -> dict[str, Any]:
    """Return words to the right of bars, where nothing else is, also of those that go back."""
    return {
        "type": "scatter",
        "mode": "text",
        "y": list(range(len(words))),
        "x": list(ends),
        "text": [f" {text}" for text in words],
        "textposition": "middle right",
        "cliponaxis": False,
        "hoverinfo": "skip",
    }


def _words(step: Step, whole_ns: float | None) -> str:
    is_change = step.kind in ("gain", "loss")
    words = [signed_duration(step.ns) if is_change else duration(step.ns)]
    if whole_ns is not None:
        share = step.ns / (whole_ns or 1.0)
        words.append(signed_percent(share) if is_change else percent(share))
    return " · ".join(words).replace("-", "−")


def named_rows(names: Sequence[str]) -> dict[str, Any]:
    """Return an axis on which row i, from the top, is called by the i-th name."""
    return {
        "tickvals": list(range(len(names))),
        # plotly takes tags and entities for markup.
        "ticktext": [escaping.escape(name, quote=False) for name in names],
        "range": [len(names) - 0.5, -0.5],
        "automargin": True,
        "showgrid": False,
        "zeroline": False,
    }


def _starts(steps: Sequence[Step]) -> list[float]:
    found: list[float] = []
    at = 0.0
    for step in steps:
        start = 0.0 if step.kind == "total" else at
        found.append(start)
        at = start + step.ns
    return found


def _joint(at: int, starts: Sequence[float], steps: Sequence[Step], scale: float) -> dict[str, Any]:
    """Return the line from the end of the bar before to this one."""
    x = (starts[at - 1] + steps[at - 1].ns) / scale
    line = {"color": _GREY, "width": 1, "dash": "dot"}
    return {
        "type": "line",
        "x0": x,
        "x1": x,
        "y0": at - 1,
        "y1": at,
        "line": line,
        "layer": "below",
    }
