"""A run's state, GPUs and notes as every page shows them."""

from __future__ import annotations

from collections.abc import Sequence

from dash import html
from dash.development.base_component import Component

from gviz.recording import DAMAGE, rows
from gviz.text import MISSING

_MEANING = {
    "completed": "The process ended and everything was written",
    "aborted": "The process was killed, or failed, with its recording open: some of it is lost",
    "recording": "The process is still being recorded",
}


def state_badge(run: rows.Run) -> Component:
    """Return the run's state as a badge that says what an aborted run means."""
    return html.Span(
        run.state, className=f"gv-badge gv-badge-{run.state}", title=_MEANING.get(run.state)
    )


def gpu_names(devices: Sequence[rows.Device]) -> str:
    """Return the GPUs of a run, equal ones counted."""
    names: dict[str, int] = {}
    for device in devices:
        names[device.name] = names.get(device.name, 0) + 1
    return ", ".join(n if c == 1 else f"{c} × {n}" for n, c in names.items()) or MISSING


def note_list(notes: Sequence[rows.Note]) -> Component | None:
    """Return notes as a list, warnings first; None without notes."""
    order = {DAMAGE: 0, "warning": 1, "limit": 2}
    found = sorted(notes, key=lambda n: order.get(n.kind, 3))
    if not found:
        return None
    return html.Ul(
        className="gv-notes",
        children=[
            html.Li([html.Span(n.kind, className=f"gv-note gv-note-{n.kind}"), n.text])
            for n in found
        ],
    )
