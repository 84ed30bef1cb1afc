"""The frame of a page in a file: header, help on keys, and a note at the foot."""

from __future__ import annotations

from dash import html
from dash.development.base_component import Component

from gviz.app.components import KEYS, Keys, aria, build_help, help_button, trail

#: The table of a file is another one.
_TABLE: Keys = (
    (
        "Table, when focused",
        (
            ("up  down", "to the next row, which is selected"),
            ("Page up, down", "a screen up or down"),
            ("Home  End", "first and last row"),
        ),
    ),
)


def render_frame(run: str) -> Component:
    """Return the frame of graphs of a run: the scripts fill ``page`` and ``file-note``."""
    header = html.Header(
        className="gv-header",
        children=[
            html.A("Skip to content", href="#page", className="gv-skip"),
            html.Span(
                [html.Span(id="brand-mark", **aria(hidden="true")), html.Span("gviz")],
                className="gv-brand",
            ),
            html.Nav([*trail((run, None))], className="gv-trail", **aria(label="Trail")),
            html.Div(className="gv-grow"),
            help_button(),
            html.Button(
                type="button",
                id="theme-switch",
                className="gv-button gv-round gv-glyph",
                **aria(label="Switch between dark and light"),
            ),
        ],
    )
    return html.Div(
        [
            header,
            # What is selected, in a sentence: assets/web/core/announce.js.
            html.Div(id="said", role="status", className="gv-unseen"),
            html.Main(id="page", className="gv-page", tabIndex="-1"),
            html.Footer(id="file-note", className="gv-file-note"),
            build_help((*(k for k in KEYS if not k[0].startswith("Table")), *_TABLE)),
        ],
        className="gv-file",
    )
