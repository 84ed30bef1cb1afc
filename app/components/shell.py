"""The frame around every page: header, trail, theme switch, and the place of the page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import dash_mantine_components as dmc
from dash import dcc, html
from dash.development.base_component import Component

from gviz.app.components import elements
from gviz.app.components.addresses import Addresses
from gviz.app.components.aria_attributes import aria
from gviz.app.components.keyboard import build_help, help_button
from gviz.app.components.parts import made_by_browser
from gviz.app.components.theme import MANTINE_THEME

INDEX = """<!DOCTYPE html>
<html lang="en">
<head>
{%metas%}
<title>{%title%}</title>
<link rel="icon" type="image/svg+xml" href="ASSETS/icons/gviz.svg">
<script>EARLY</script>
{%css%}
</head>
<body>
{%app_entry%}
<noscript>gviz draws graphs with JavaScript: allow it for this address.</noscript>
<footer>{%config%}{%scripts%}{%renderer%}</footer>
</body>
</html>"""


def build_shell(addresses: Addresses, assets: str, most_bytes: int) -> Component:
    """Return the layout that stays while pages change.

    ``most_bytes`` is the size of the largest file that may be uploaded.
    """
    frame: Component = dmc.MantineProvider(
        theme=MANTINE_THEME,
        defaultColorScheme="auto",
        children=[
            dcc.Location(id="location", refresh="callback-nav"),
            dcc.Store(id="route"),
            dcc.Store(id="again"),
            dcc.Store(id="shown"),
            dcc.Store(id="title"),
            _header(addresses, assets),
            *_signs(addresses, most_bytes),
            html.Main(id="page", className="gv-page", tabIndex="-1"),
            # Dash asks each of its components at every change: nine of ten would be the help's.
            made_by_browser(build_help()),
        ],
    )
    return frame


def _header(addresses: Addresses, assets: str) -> Component:
    """Return the head of every page; its trail is filled in with the page."""
    header: Component = html.Header(
        className="gv-header",
        children=[
            html.A("Skip to content", href="#page", className="gv-skip"),
            dcc.Link(
                href=addresses.runs(),
                className="gv-brand",
                children=[
                    html.Img(src=f"{assets}/icons/gviz.svg", alt="", width=22, height=22),
                    html.Span("gviz"),
                ],
            ),
            html.Nav(id="trail", className="gv-trail", **aria(label="Trail")),
            html.Div(className="gv-grow"),
            dcc.Link(
                "Compare",
                href=addresses.compare(),
                className="gv-header-link",
                title="Two graphs, before and after a change",
            ),
            dcc.Link(
                "Launch costs",
                href=addresses.bench(),
                className="gv-header-link",
                title="What graphs cost on this GPU (gviz bench)",
            ),
            help_button(),
            dmc.ColorSchemeToggle(
                id="colour-scheme",
                variant="subtle",
                color="gray",
                size="md",
                lightIcon=html.Span("☀", className="gv-glyph"),
                darkIcon=html.Span("☾", className="gv-glyph"),
                **aria(label="Switch between dark and light"),
            ),
        ],
    )
    return header


def early_page(source: str) -> str:
    """Return HTML of the place where a graph's page stands until Dash shows it.

    ``source`` is the address of what the page is made of.
    """
    return (
        f'<link rel="preload" as="fetch" crossorigin="anonymous" href="{escape(source)}">'
        '<div class="gv-early"><div class="gv-header"></div>'
        f'<main class="gv-page"><div class="gv-graph-box" data-source="{escape(source)}">'
        '<p class="gv-message" role="status">Loading…</p></div></main></div>'
    )


def _signs(addresses: Addresses, most_bytes: int) -> list[Component]:
    """Return what progress.js, state.js and upload.js of assets/web/dash speak through."""
    return [
        html.Div(id="progress", className="gv-progress", hidden=True, **aria(hidden="true")),
        html.Div("Loading…", id="progress-said", className="gv-unseen", hidden=True, role="status"),
        html.Div(
            id="notice",
            className="gv-notice",
            hidden=True,
            role="status",
            **{"data-source": addresses.state()},
        ),
        html.Div(
            id="uploads",
            className="gv-uploads",
            **{"data-source": addresses.upload(), "data-most-bytes": str(most_bytes)},
        ),
    ]


def trail(*steps: tuple[str, str | None]) -> list[Component]:
    """Return the trail of pages: (text, address) from the outermost; no address: here."""
    found: list[Component] = []
    for text, href in steps:
        found.append(html.Span("/", className="gv-trail-mark", **aria(hidden="true")))
        if href is None:
            found.append(html.Span(text, className="gv-trail-here", **aria(current="page")))
        else:
            found.append(dcc.Link(text, href=href))
    return found


def facts(
    pairs: Sequence[tuple[str, str | list[str | Component], str | None]],
    className: str = "gv-facts",
) -> Component:
    """Return a list of facts: (label, value, how it was measured; None: needs no word)."""
    return elements.Dl(
        className=className,
        children=[
            elements.Div([elements.Dt(label), elements.Dd(value)], title=method)
            if method
            else elements.Div([elements.Dt(label), elements.Dd(value)])
            for label, value, method in pairs
        ],
    )


def message(title: str, *sentences: str | Component) -> Component:
    """Return an empty state in words."""
    return html.Div(
        className="gv-message",
        children=[html.H1(title), *(html.P(s) for s in sentences)],
    )
