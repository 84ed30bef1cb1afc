"""The Dash application over a set of open recordings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import dash
from dash import ClientsideFunction, Input, Output, State
from flask import Flask

from gviz.analysis import Ignored
from gviz.app.components import (
    BENCH,
    COMPARE,
    FLEET,
    GRAPH,
    INDEX,
    REPORT,
    TREND,
    Addresses,
    GraphPage,
    build_shell,
    join_modules,
    join_styles,
    made_by_browser,
    parse_query,
    read_source,
    source_hash,
)
from gviz.app.files import Library
from gviz.app.pages import (
    Overviews,
    RankComparisons,
    Reports,
    Trends,
    show_fleet,
    show_ranks,
    show_report,
    show_trend,
    unbroken,
)
from gviz.app.server.access import AccessRules, content_security_policy, protect
from gviz.app.server.address_page import landing_address, render_page
from gviz.app.server.bundle import Bundle
from gviz.app.server.compare_routes import add_compared_routes
from gviz.app.server.compression import add_compression
from gviz.app.server.overlay_route import add_overlay_route
from gviz.app.server.page_html import Application
from gviz.app.server.ranks_routes import add_fleet_routes, add_rank_routes
from gviz.app.server.refusals import add_refusals, check_given
from gviz.app.server.routes import add_payload_routes
from gviz.app.server.share_routes import add_share_route
from gviz.app.server.state import add_state_route, shown_files
from gviz.app.server.uploads import MOST_BYTES, add_upload_route
from gviz.errors import GvizError
from gviz.recording import Recording

#: Pages that show charts, all or most of the time.
_CHARTED = (BENCH, FLEET, REPORT, TREND)


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
        # Modules come as one script, styles as one sheet: gviz.app.server.bundle.
        assets_ignore=r"\.(js|css)$",
        url_base_pathname=access.prefix,
        serve_locally=True,
        use_pages=False,
        include_pages_meta=False,
        suppress_callback_exceptions=True,
        enable_mcp=False,
        add_log_handler=False,
    )
    assets = access.prefix + "assets"
    early = read_source(Path(web), "early/theme.js")
    app.index_string = INDEX.replace("ASSETS", assets).replace("EARLY", early)
    app.layout = build_shell(addresses, assets, most_bytes)
    app.early_source = partial(_early_source, library, addresses)
    app.has_charts = lambda path: addresses.local(path) in _CHARTED
    _serve_own_files(app, Path(web), access.prefix)
    _add_routing(app, library, addresses)
    _add_links(app)
    reports = Reports(ignored)
    _add_polled_pages(app, library, addresses, reports)
    _add_data_routes(app.server, library, addresses, reports, access.prefix)
    add_upload_route(app.server, library, addresses, most_bytes)
    add_refusals(app.server, access.prefix)
    add_compression(app.server)
    policy = content_security_policy([*app.csp_hashes(), source_hash(early)])
    protect(app.server, access, policy, partial(landing_address, library, addresses))
    # Dash looks for the files of its pages before the first request, and takes that for done as
    # soon as it begins: another request beside it had a page without them.
    with app.server.test_request_context(access.prefix):
        app.server.preprocess_request()
    return app


def _serve_own_files(app: Application, web: Path, prefix: str) -> None:
    """Serve gviz's own script and styles, and what draws charts, as pages name them."""
    join, style = partial(join_modules, web, "dash/main.js"), partial(join_styles, web, "runs")
    script = Bundle(web, ".js", join, "text/javascript", f"{prefix}gviz.js")
    styles = Bundle(web, ".css", style, "text/css", f"{prefix}gviz.css")
    # Dash's own address of it says nothing of its version: a browser would ask again each time.
    draws = Path(str(files("plotly") / "package_data"))
    plotly = Bundle(
        draws, ".js", (draws / "plotly.min.js").read_text, "text/javascript", f"{prefix}plotly.js"
    )
    app.script, app.style, app.plotly = script.address, styles.address, plotly.address
    for bundle in (script, styles, plotly):
        bundle.serve(app.server)


def _add_data_routes(
    server: Flask, library: Library, addresses: Addresses, reports: Reports, prefix: str
) -> None:
    """Serve the data of the pages' views."""
    add_payload_routes(server, library, addresses, reports)
    add_compared_routes(server, library, addresses)
    add_rank_routes(server, library, prefix)
    add_fleet_routes(server, library, addresses)
    add_share_route(server, library, prefix)
    add_overlay_route(server, library, prefix)
    add_state_route(server, library, addresses)


def _early_source(library: Library, addresses: Addresses, path: str, search: str) -> str | None:
    """Return where what a page of graphs is made of is; None: it is none, or of no such graph."""
    query = parse_query(search)
    if addresses.local(path) == COMPARE:
        return addresses.compare_page(query)
    if addresses.local(path) != GRAPH or query.file is None or query.graph_id is None:
        return None
    try:
        with library.file(query.file).at() as opened:
            opened.recording.fetch_graph(query.graph_id)
            key = opened.versioned_key
    except GvizError:  # Dash's page says what is wrong, in a sentence
        return None
    return addresses.page_payload(key, query.graph_id, query)


def _add_routing(app: dash.Dash, library: Library, addresses: Addresses) -> None:
    def show_page(route: dict[str, Any]) -> tuple[Any, ...]:
        path, search = route["path"], route["search"]
        # Read first: what changes while the page is made is a change of the page shown.
        shown = shown_files(library, addresses, path, search)
        content, steps, title = render_page(library, addresses, path, search)
        if isinstance(content, GraphPage):
            content.serial = route["count"]
        # Which page this is, of all that the browser requested: assets/web/dash/history.js.
        return unbroken(content), steps, title, {**shown, "count": route["count"]}

    add: Any = app.callback
    add(
        Output("page", "children"),
        Output("trail", "children"),
        Output("title", "data"),
        Output("shown", "data"),
        Input("route", "data"),
        prevent_initial_call=True,
    )(show_page)


def _add_polled_pages(
    app: dash.Dash, library: Library, addresses: Addresses, reports: Reports
) -> None:
    """Fill the pages whose analysis runs in the background."""
    trends, comparisons, overviews = Trends(library), RankComparisons(library), Overviews()
    if library.fleet is not None:
        overviews.begin(library.fleet)

    def fill_report(view: dict[str, Any], polls: int) -> tuple[Any, Any]:
        return show_report(library, reports, view, polls, addresses)

    def fill_trend(view: dict[str, Any], polls: int) -> tuple[Any, Any]:
        return show_trend(trends, library, view, polls, addresses)

    def fill_ranks(view: dict[str, Any], polls: int, search: str | None) -> tuple[Any, Any]:
        return show_ranks(comparisons, library, view, polls, search, addresses)

    def fill_fleet(view: dict[str, Any], polls: int) -> tuple[Any, Any]:
        return show_fleet(overviews, library, view, polls, addresses)

    report = {"file": str, "version": str, "graph": int}
    _add_polled(app, "report", report, fill_report, by_browser=True)
    _add_polled(app, "trend", {"files": list}, fill_trend)
    _add_polled(app, "ranks", {"file": str}, fill_ranks, State("location", "search"))
    _add_polled(app, "fleet", {"graph": int}, fill_fleet, by_browser=True)


def _add_polled(
    app: dash.Dash,
    page: str,
    kinds: Mapping[str, type],
    show: Callable[..., tuple[Any, Any]],
    *others: State,
    by_browser: bool = False,
) -> None:
    """Fill a page when its analysis is made; until then it polls.

    Parameters
    ----------
    page
        The beginning of the ids of its body, its polls and what it holds.
    kinds
        The types of what it holds.
    show
        Returns the body and how many polls the page may make, given what it holds, how often it
        has polled and the values of other states.
    by_browser
        Whether the browser makes the body's elements, not Dash.
    """

    def fill(polls: int | None, view: dict[str, Any], *values: Any) -> tuple[Any, Any]:
        check_given(view, kinds)
        body, again = show(view, polls or 0, *values)
        return unbroken(made_by_browser(body) if by_browser else body), again

    add: Any = app.callback
    add(
        Output(f"{page}-body", "children"),
        Output(f"{page}-wait", "max_intervals"),
        Input(f"{page}-wait", "n_intervals"),
        State(f"{page}-view", "data"),
        *others,
    )(fill)


def _add_links(app: dash.Dash) -> None:
    """Join what is on the pages in the browser, without a round trip."""
    add: Any = app.clientside_callback

    def link(function: str, *ends: Output | Input | State, at_start: bool = False) -> None:
        namespace, _, name = function.rpartition(".")
        add(
            ClientsideFunction(namespace or "gvizPage", name),
            *ends,
            prevent_initial_call=not at_start,
        )

    _link_page(link)
    link(
        "gvizRanks.choose",
        Output("ranks-view", "modified_timestamp"),
        Input("ranks-launch", "value"),
        _optional("ranks-graph", "value"),
        _optional("ranks-timeline", "brush"),
    )
    link(
        "gvizRanks.look",
        Output("ranks-shown", "modified_timestamp"),
        Input("ranks-shown", "data"),
        at_start=True,
    )


def _optional(name: str, prop: str) -> Input:
    """Return an input that need not be on the page.

    Pages differ, and the functions of assets/web/dash set properties only where they are.
    """
    return Input(name, prop, allow_optional=True)


def _link_page(link: Callable[..., None]) -> None:
    """Join what all pages have: address, title and theme, and the graph page's state."""
    link(
        "gvizHistory.follow",
        Output("route", "data"),
        Input("location", "pathname"),
        Input("location", "search"),
        Input("again", "data"),
    )
    link("gvizState.turned", Output("shown", "modified_timestamp"), Input("route", "data"))
    link(
        "gvizHistory.remember",
        Output("graph-page", "id"),
        Input("graph-page", "state"),
    )
    link(
        "gvizRuns.watchTable",
        Output("runs-table", "className"),
        Input("runs-table", "id"),
        at_start=True,
    )
    link("title", Output("title", "modified_timestamp"), Input("title", "data"))
    link(
        "theme",
        Output("colour-scheme", "title"),
        Input("colour-scheme", "computedColorScheme"),
        at_start=True,
    )
