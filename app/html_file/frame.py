"""The frame of a page in a file: header, help on keys, and a note at the foot."""

from __future__ import annotations

from dash import html
from dash.development.base_component import Component

from gviz.app.components import aria, build_help, help_button, trail


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
            html.Main(id="page", className="gv-page", tabIndex="-1"),
            html.Footer(id="file-note", className="gv-file-note"),
            build_help(),
        ],
        className="gv-file",
    )
