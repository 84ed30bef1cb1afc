"""The Dash application over a set of open recordings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import dash
from dash import ALL, ClientsideFunction, Input, Output, State
from dash.development.base_component import Component
from dash.exceptions import PreventUpdate
from flask import Flask

from gviz.app.address import BENCH, GRAPH, RUN, RUNS, Addresses, parse_query
from gviz.app.compression import add_compression
from gviz.app.graph_view import graph_view
from gviz.app.inspector import render_inspector
from gviz.app.kernel_table import render_kernel_table
from gviz.app.library import Library
from gviz.app.memory_panel import render_memory_facts
from gviz.app.pages.bench import render_bench
from gviz.app.pages.graph import render_graph
from gviz.app.pages.run import render_run
from gviz.app.pages.runs import render_runs
from gviz.app.routes import add_payload_routes
from gviz.app.run_view import RunView, run_views
from gviz.app.security import Access, content_security_policy, protect
from gviz.app.shell import INDEX, build_shell, message, trail
from gviz.errors import RecordingError
from gviz.recording.reader import Recording

Page = tuple[Component, list[Component], str]


def create_app(recordings: Iterable[Recording | Path | str], access: Access) -> dash.Dash:
    """Return the application; ``.server`` is its Flask server.

    Parameters
    ----------
    recordings
        Paths of recordings, or open recordings.
    access
        Who may use it, and the path prefix it is served at.

    Raises
    ------
    RecordingError
        If a recording cannot be opened.
    """
    library = Library(recordings)
    addresses = Addresses(access.prefix)
    web = str(files("gviz.assets") / "web")
    app = dash.Dash(
        "gviz",
        server=cast(Any, Flask("gviz", static_folder=None)),
        title="gviz",
        update_title="",
        assets_folder=web,
        # Loaded by the index page itself, before anything is drawn.
        assets_ignore=r"^early",
        assets_path_ignore=["early"],
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
    app.layout = build_shell(addresses, assets)
    _add_routing(app, library, addresses)
    _add_graph_callbacks(app, library, addresses)
    add_payload_routes(app.server, library, access.prefix)
    add_compression(app.server)
    protect(app.server, access, content_security_policy(app.csp_hashes()))
    return app


def render_page(library: Library, addresses: Addresses, path: str, search: str | None) -> Page:
    """Return the content, the trail and the title of the page at an address."""
    query = parse_query(search)
    home = ("Runs", addresses.runs())
    local = "/" + path.removeprefix(addresses.prefix.rstrip("/")).strip("/")
    try:
        if local == RUNS:
            return render_runs(run_views(library), addresses), trail(("Runs", None)), "gviz"
        if local == RUN and query.file is not None and query.run_id is not None:
            view = _find_run(library, query.file, query.run_id)
            steps = trail(home, (view.run.name, None))
            return render_run(view, addresses), steps, f"{view.run.name} – gviz"
        if local == GRAPH and query.file is not None and query.graph_id is not None:
            graph = graph_view(library, query.file, query.graph_id)
            steps = trail(
                home,
                (graph.run.name, addresses.run(query.file, graph.run.run_id)),
                *((g.name, addresses.graph(query.file, g.graph_id)) for g in graph.ancestors),
                (graph.graph.name, None),
            )
            page = render_graph(library, query.file, graph, query, addresses)
            return page, steps, f"{graph.graph.name} – gviz"
        if local == BENCH:
            page = render_bench(library, query.file, query.run_id)
            return page, trail(home, ("Launch costs", None)), "Launch costs – gviz"
    except RecordingError as error:
        return message("Not here", str(error)), trail(home), "gviz"
    sentence = "There is no page at this address; the Runs page lists what is open."
    return message("Not here", sentence), trail(home), "gviz"


def _find_run(library: Library, file: str, run_id: int) -> RunView:
    library.file(file)
    for view in run_views(library):
        if (view.file, view.run.run_id) == (file, run_id):
            return view
    raise RecordingError(f"{file} has no run {run_id}; the Runs page lists what is open")


def _add_routing(app: dash.Dash, library: Library, addresses: Addresses) -> None:
    def show_page(path: str | None, search: str | None) -> Page:
        return render_page(library, addresses, path or addresses.prefix, search)

    add: Any = app.callback
    add(
        Output("page", "children"),
        Output("trail", "children"),
        Output("title", "data"),
        Input("location", "pathname"),
        Input("location", "search"),
        prevent_initial_call=True,
    )(show_page)


def _add_graph_callbacks(app: dash.Dash, library: Library, addresses: Addresses) -> None:
    def show_selection(selected: list[int], view: dict[str, Any]) -> Component:
        graph = graph_view(library, view["file"], view["graph"])
        return render_inspector(library, view["file"], graph, selected or [], addresses)

    add: Any = app.callback
    add(
        Output("inspector", "children"),
        Input("selection", "data"),
        State("view", "data"),
        prevent_initial_call=True,
    )(show_selection)
    add(
        Output("kernels-box", "children"),
        Input("table-view", "value"),
        State("kernels-box", "children"),
        prevent_initial_call=True,
    )(show_kernels)

    def show_memory(wanted: bool, view: dict[str, Any]) -> Component:
        if not wanted:
            raise PreventUpdate
        graph = graph_view(library, view["file"], view["graph"])
        return render_memory_facts(library, view["file"], graph)

    add(
        Output("memory-facts", "children"),
        Input("memory-wanted", "data"),
        State("view", "data"),
        prevent_initial_call=True,
    )(show_memory)
    _add_links(app)


def show_kernels(table: str, shown: object) -> Any:
    """Return the table by kernel name once it is wanted; it stays."""
    return render_kernel_table() if table == "kernels" and not shown else dash.no_update


def _add_links(app: dash.Dash) -> None:
    """Join the views of the graph page in the browser, without a round trip."""
    add: Any = app.clientside_callback

    def link(function: str, output: Output, *inputs: Input | State, at_start: bool = False) -> None:
        add(
            ClientsideFunction("gvizPage", function),
            output,
            *inputs,
            prevent_initial_call=not at_start,
        )

    _link_views(link)
    _link_page(link)
    add(
        ClientsideFunction("gvizCharts", "paintCharts"),
        Output({"type": "chart", "name": ALL}, "figure"),
        Input("colour-scheme", "computedColorScheme"),
        State({"type": "chart", "name": ALL}, "figure"),
    )


def _optional(name: str, prop: str) -> Input:
    """Return an input that need not be on the page.

    A graph without times has no timeline, one without nodes no DAG; the functions
    (assets/web/page_links.js) set properties only where they are.
    """
    return Input(name, prop, allow_optional=True)


def _link_views(link: Callable[..., None]) -> None:
    """Join selection, table rows, and the choice of launches and colours."""
    optional = _optional
    link(
        "select",
        Output("selection", "data"),
        optional("dag", "selected"),
        optional("timeline", "selected"),
        optional("memory", "selected"),
        Input("nodes", "selectedRows"),
        Input({"type": "pick", "node": ALL, "where": ALL}, "n_clicks"),
        State("selection", "data"),
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
    link("colour", Output("view", "modified_timestamp"), optional("colour", "value"))
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
    """Join what is around the views: graph choice, address, title and theme."""
    optional = _optional
    link(
        "openGraph",
        Output("location", "search"),
        optional("graph-choice", "value"),
        State("view", "data"),
    )
    link(
        "remember",
        Output("address", "data"),
        Input("selection", "data"),
        optional("launch", "value"),
        optional("stream-launch", "value"),
        optional("order", "value"),
        optional("colour", "value"),
        optional("layout", "value"),
        optional("folding", "value"),
        optional("dag", "open"),
        optional("table-view", "value"),
        optional("data", "checked"),
        optional("dag", "buffer"),
        Input("panel", "value"),
        State("view", "data"),
    )
    link("title", Output("title", "modified_timestamp"), Input("title", "data"))
    link(
        "theme",
        Output("colour-scheme", "title"),
        Input("colour-scheme", "computedColorScheme"),
        optional("view", "data"),
        at_start=True,
    )
