"""The Dash application over a set of open recordings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import dash
from dash import ALL, ClientsideFunction, Input, Output, State, no_update
from dash.development.base_component import Component
from dash.exceptions import PreventUpdate
from flask import Flask

from gviz.analysis import Ignored
from gviz.app.components import (
    GRAPH,
    INDEX,
    Addresses,
    build_first_page,
    build_header,
    build_shell,
    made_by_browser,
    message,
)
from gviz.app.files import Library, sentence_of
from gviz.app.inspector import render_memory_facts
from gviz.app.pages import (
    Comparisons,
    RankComparisons,
    Reports,
    Trends,
    show_comparison,
    show_ranks,
    show_report,
    show_trend,
)
from gviz.app.server.address_page import Page, render_page
from gviz.app.server.compare_routes import add_compared_routes
from gviz.app.server.compression import add_compression
from gviz.app.server.first_page import Application, Make
from gviz.app.server.graph_refresh import ShownGraph, refresh_graph
from gviz.app.server.ranks_routes import add_rank_routes
from gviz.app.server.refusals import add_refusals
from gviz.app.server.routes import add_payload_routes
from gviz.app.server.scripts import Scripts, add_script_route
from gviz.app.server.security import AccessRules, content_security_policy, protect
from gviz.app.server.state import add_state_route, shown_files
from gviz.app.server.uploads import MOST_BYTES, add_upload_route
from gviz.app.views import graph_view, render_kernel_table
from gviz.recording import Recording


def create_app(recordings: Iterable[Recording | Path | str], access: AccessRules) -> dash.Dash:
    """Return the application over a library of its own; see :func:`build_app`.

    Raises
    ------
    RecordingError
        If a recording cannot be opened.
    """
    return build_app(Library(recordings), access)


def build_app(
    library: Library,
    access: AccessRules,
    most_bytes: int = MOST_BYTES,
    ignored: Sequence[Ignored] = (),
) -> dash.Dash:
    """Return the application; ``.server`` is its Flask server.

    Parameters
    ----------
    library
        The recordings; uploads are added to it.
    access
        Who may use it, and the path prefix it is served at.
    most_bytes
        Size of the largest file that may be uploaded.
    ignored
        Findings that reports leave out.
    """
    addresses = Addresses(access.prefix)
    web = str(files("gviz.assets") / "web")
    app = Application(
        "gviz",
        server=cast(Any, Flask("gviz", static_folder=None)),
        title="gviz",
        update_title="",
        assets_folder=web,
        # Modules come as one script (gviz.app.server.scripts); the style of saved files is theirs.
        assets_ignore=r"\.js$|^file\.css$",
        url_base_pathname=access.prefix,
        serve_locally=True,
        use_pages=False,
        include_pages_meta=False,
        suppress_callback_exceptions=True,
        enable_mcp=False,
        add_log_handler=False,
    )
    assets = access.prefix + "assets"
    app.index_string = INDEX.replace("ASSETS", assets)
    app.layout = build_shell(addresses, assets, most_bytes)
    app.first_page = partial(_first_page, library, addresses, assets)
    own = f"{access.prefix}gviz.js"
    scripts = Scripts(Path(web), "dash/main.js")
    app.order_scripts = partial(scripts.order, address=own)
    add_script_route(app.server, scripts, own)
    _add_routing(app, library, addresses)
    _add_graph_callbacks(app, library, addresses)
    reports = Reports(ignored)
    _add_report(app, library, addresses, reports)
    _add_data_routes(app.server, library, addresses, reports, access.prefix)
    add_upload_route(app.server, library, addresses, most_bytes)
    add_refusals(app.server, access.prefix)
    add_compression(app.server)
    protect(app.server, access, content_security_policy(app.csp_hashes()))
    # Dash looks for the files of its pages before the first request, and takes that for done as
    # soon as it begins: another request beside it had a page without styles.
    with app.server.test_request_context(access.prefix):
        app.server.preprocess_request()
    return app


def _add_data_routes(
    server: Flask, library: Library, addresses: Addresses, reports: Reports, prefix: str
) -> None:
    """Serve the data of the pages' views."""
    add_payload_routes(server, library, addresses, reports)
    add_compared_routes(server, library, prefix)
    add_rank_routes(server, library, prefix)
    add_state_route(server, library, addresses)


def _first_page(
    library: Library, addresses: Addresses, assets: str, path: str, search: str
) -> Make | None:
    """Return what makes a page with canvases: they can be drawn before Dash; None: another."""
    if addresses.local(path) != GRAPH:
        return None

    def make() -> tuple[Component, str]:
        content, steps, title = render_page(library, addresses, path, search)
        return build_first_page(build_header(addresses, assets, steps), content), title

    return make


def _add_routing(app: dash.Dash, library: Library, addresses: Addresses) -> None:
    def show_page(route: dict[str, Any]) -> tuple[Any, ...]:
        # Read first: what changes while the page is made is a change of the page shown.
        shown = shown_files(library, addresses, route["path"], route["search"])
        page: Page = render_page(library, addresses, route["path"], route["search"])
        # Which page this is, of all that the browser requested: assets/web/dash/history.js.
        return (*page, {**shown, "count": route["count"]})

    add: Any = app.callback
    add(
        Output("page", "children"),
        Output("trail", "children"),
        Output("title", "data"),
        Output("shown", "data"),
        Input("route", "data"),
        prevent_initial_call=True,
    )(show_page)


def _add_graph_callbacks(app: dash.Dash, library: Library, addresses: Addresses) -> None:
    def show_growth(fresh: dict[str, Any], view: dict[str, Any]) -> tuple[Any, Any]:
        file = view["file"]
        route = (f"{addresses.prefix}{GRAPH.lstrip('/')}", fresh["search"])
        shown = shown_files(library, addresses, *route)
        known = {name: fresh[name] for name in ("search", "launches", "iterations", "panes")}
        try:
            found = refresh_graph(
                library, file, view["graph"], ShownGraph(view["identity"], **known), addresses
            )
        except Exception as error:  # the next version of the file is taken in again
            return no_update, {"refused": sentence_of(error).strip()}
        if found.is_another or found.moved_to:
            return no_update, asdict(found)
        answer = {"properties": found.properties, "shown": shown}
        return found.about, answer

    add: Any = app.callback
    add(
        Output("kernels-box", "children"),
        Input("table-view", "value"),
        State("kernels-box", "children"),
        prevent_initial_call=True,
    )(show_kernels)

    add(
        Output("graph-about", "children"),
        Output("patch", "data"),
        Input("fresh", "data"),
        State("view", "data"),
        prevent_initial_call=True,
    )(show_growth)
    _add_memory(app, library)
    _add_comparison(app, library, addresses)
    _add_links(app)


def _add_memory(app: dash.Dash, library: Library) -> None:
    """Fill the memory pane when it is first looked at."""

    def show_memory(panel: str, filled: Any, view: dict[str, Any]) -> Component:
        if panel != "memory" or filled:
            raise PreventUpdate
        try:
            with library.file(view["file"]).at(view["version"]):
                graph = graph_view(library, view["file"], view["graph"])
                return render_memory_facts(library, view["file"], graph)
        except Exception as error:  # the pane shows it; the others stay as they are
            return message("Not shown", sentence_of(error))

    add: Any = app.callback
    add(
        Output("memory-facts", "children"),
        Input("panel", "value"),
        State("memory-facts", "children"),
        State("view", "data"),
    )(show_memory)


def _add_report(app: dash.Dash, library: Library, addresses: Addresses, reports: Reports) -> None:
    """Fill the Report page when its analysis is made; until then the page polls."""

    def fill(polls: int | None, view: dict[str, Any]) -> tuple[Any, Any]:
        body, again = show_report(library, reports, view, polls or 0, addresses)
        return made_by_browser(body), again

    add: Any = app.callback
    add(
        Output("report-body", "children"),
        Output("report-wait", "max_intervals"),
        Input("report-wait", "n_intervals"),
        State("report-view", "data"),
    )(fill)


def _add_comparison(app: dash.Dash, library: Library, addresses: Addresses) -> None:
    """Fill the Compare and the Trend page when they are made; until then they poll."""
    comparisons = Comparisons(library)

    def fill(polls: int | None, view: dict[str, Any], search: str | None) -> tuple[Any, Any]:
        return show_comparison(comparisons, view, polls or 0, search, addresses)

    add: Any = app.callback
    add(
        Output("compare-body", "children"),
        Output("compare-wait", "max_intervals"),
        Input("compare-wait", "n_intervals"),
        State("compare-view", "data"),
        State("location", "search"),
    )(fill)
    _add_ranks(app, library, addresses)
    trends = Trends(library)

    def fill_trend(polls: int | None, view: dict[str, Any]) -> tuple[Any, Any]:
        return show_trend(trends, library, view, polls or 0, addresses)

    add(
        Output("trend-body", "children"),
        Output("trend-wait", "max_intervals"),
        Input("trend-wait", "n_intervals"),
        State("trend-view", "data"),
    )(fill_trend)


def _add_ranks(app: dash.Dash, library: Library, addresses: Addresses) -> None:
    """Fill the Ranks page when its file's ranks are compared; until then it polls."""
    comparisons = RankComparisons(library)

    def fill(polls: int | None, view: dict[str, Any], search: str | None) -> tuple[Any, Any]:
        return show_ranks(comparisons, library, view, polls or 0, search, addresses)

    add: Any = app.callback
    add(
        Output("ranks-body", "children"),
        Output("ranks-wait", "max_intervals"),
        Input("ranks-wait", "n_intervals"),
        State("ranks-view", "data"),
        State("location", "search"),
    )(fill)


def show_kernels(table: str, shown: object) -> Any:
    """Return the table by kernel name once it is wanted; it stays."""
    return render_kernel_table() if table == "kernels" and not shown else dash.no_update


def _add_links(app: dash.Dash) -> None:
    """Join the views of the graph page in the browser, without a round trip."""
    add: Any = app.clientside_callback

    def link(function: str, *ends: Output | Input | State, at_start: bool = False) -> None:
        namespace, _, name = function.rpartition(".")
        add(
            ClientsideFunction(namespace or "gvizPage", name),
            *ends,
            prevent_initial_call=not at_start,
        )

    _link_views(link)
    link(
        "showBreakdown",
        Output("breakdown-source", "modified_timestamp"),
        Input("breakdown-source", "data"),
        at_start=True,
    )
    _link_page(link)
    _link_comparison(link)
    link(
        "gvizRanks.choose",
        Output("ranks-view", "modified_timestamp"),
        Input("ranks-launch", "value"),
        _optional("ranks-graph", "value"),
    )
    link(
        "gvizRanks.look",
        Output("ranks-shown", "modified_timestamp"),
        Input("colour-scheme", "computedColorScheme"),
        Input("ranks-shown", "data"),
        at_start=True,
    )
    add(
        ClientsideFunction("gvizCharts", "paintCharts"),
        Output({"type": "chart", "name": ALL}, "figure"),
        Input("colour-scheme", "computedColorScheme"),
        State({"type": "chart", "name": ALL}, "figure"),
    )


def _optional(name: str, prop: str) -> Input:
    """Return an input that need not be on the page.

    A graph without times has no timeline, one without nodes no DAG; the functions
    (assets/web/dash/links.js) set properties only where they are.
    """
    return Input(name, prop, allow_optional=True)


def _link_views(link: Callable[..., None]) -> None:
    """Join table and inspector, and the choices of launches, colours and places."""
    optional = _optional
    link(
        "selectRows",
        Output("selection", "modified_timestamp"),
        Input("nodes", "selectedRows"),
    )
    link(
        "showInspector",
        Output("inspector-source", "modified_timestamp"),
        Input("inspector-source", "data"),
        State("selection", "data"),
        at_start=True,
    )
    link(
        "loadTable",
        Output("nodes", "rowData"),
        Input("table-source", "data"),
        State("selection", "data"),
        at_start=True,
    )
    link(
        "showTable",
        Output("table-view", "modified_timestamp"),
        Input("table-view", "value"),
        Input("kernels-box", "children"),
        at_start=True,
    )
    link(
        "showLaunch",
        Output("timeline", "source"),
        optional("launch", "value"),
        optional("stream-launch", "value"),
        optional("order", "value"),
        State("timeline", "source"),
    )
    link(
        "showPanel",
        Output("memory", "source"),
        Input("panel", "value"),
        optional("launch", "value"),
        State("memory-source", "data"),
        State("memory", "source"),
        at_start=True,
    )
    link("paint", Output("view", "modified_timestamp"), optional("colour", "value"))
    link(
        "place",
        Output("dag", "source"),
        optional("layout", "value"),
        optional("colour", "value"),
        optional("launch", "value"),
        optional("folding", "value"),
        optional("dag", "open"),
        optional("data", "checked"),
        State("dag", "source"),
        State("dag", "layout"),
    )
    link("drawn", Output("layout", "value"), optional("dag", "layout"), State("layout", "value"))


def _link_page(link: Callable[..., None]) -> None:
    """Join what is around the views: address, graph choice, growth, title and theme."""
    optional = _optional
    link(
        "gvizHistory.follow",
        Output("route", "data"),
        Input("location", "pathname"),
        Input("location", "search"),
        Input("again", "data"),
    )
    link("gvizState.renew", Output("shown", "data", allow_duplicate=True), Input("patch", "data"))
    link("gvizState.turned", Output("shown", "modified_timestamp"), Input("route", "data"))
    link(
        "gvizHistory.openGraph",
        Output("address", "modified_timestamp"),
        optional("graph-choice", "value"),
        optional("baseline", "value"),
        State("view", "data"),
    )
    link(
        "gvizHistory.remember",
        Output("address", "data"),
        Input("selection", "data"),
        optional("launch", "value"),
        optional("stream-launch", "value"),
        optional("order", "value"),
        optional("colour", "value"),
        optional("layout", "value"),
        optional("dag", "layout"),
        optional("folding", "value"),
        optional("dag", "open"),
        optional("table-view", "value"),
        optional("data", "checked"),
        optional("dag", "buffer"),
        Input("panel", "value"),
        State("view", "data"),
        at_start=True,
    )
    link(
        "gvizRuns.watchOrder",
        Output("runs-table", "className"),
        Input("runs-table", "id"),
        at_start=True,
    )
    link("title", Output("title", "modified_timestamp"), Input("title", "data"))
    link(
        "theme",
        Output("colour-scheme", "title"),
        Input("colour-scheme", "computedColorScheme"),
        optional("view", "data"),
        at_start=True,
    )


def _link_comparison(link: Callable[..., None]) -> None:
    """Join the choices of the Compare page with its address, and its table with its views."""
    optional = _optional
    link(
        "gvizCompare.choose",
        Output("compare-view", "modified_timestamp"),
        Input("compare-a", "value"),
        Input("compare-b", "value"),
        optional("compare-graph-a", "value"),
        optional("compare-graph-b", "value"),
    )
    link(
        "gvizCompare.fill",
        Output("compare-table", "columnDefs"),
        Output("compare-table", "rowData"),
        Input("compare-rows", "value"),
        Input("compare-tables", "data"),
        at_start=True,
    )
    link(
        "gvizCompare.look",
        Output("compare-tables", "modified_timestamp"),
        Input("colour-scheme", "computedColorScheme"),
        Input("compare-tables", "data"),
        optional("compare-colour", "value"),
        optional("compare-layout", "value"),
        optional("compare-level", "value"),
        optional("compare-dag", "open"),
        at_start=True,
    )
