"""The page at an address: its content, the trail to it and its title, or a sentence instead."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qs

from dash import dcc
from dash.development.base_component import Component

from gviz.app.components import (
    BENCH,
    COMPARE,
    FLEET,
    GRAPH,
    PAGES,
    RANKS,
    REPORT,
    RUN,
    RUNS,
    TREND,
    Addresses,
    GraphPage,
    Query,
    message,
    parse_query,
    trail,
)
from gviz.app.files import ChangedError, GoneError, Library, sentence_of
from gviz.app.pages import (
    ranks_of,
    render_fleet_page,
    render_launch_costs,
    render_ranks_page,
    render_report,
    render_run,
    render_runs,
    render_trend,
)
from gviz.app.views import RunView, file_views, find_only_graph, graph_view, run_files
from gviz.errors import GvizError, RecordingError
from gviz.model import graph_title
from gviz.text import counted

Page = tuple[Component, list[Component], str]

#: A file that is replaced again and again while its page is made: then a sentence says so.
_TRIES = 3
_NO_PAGE = "There is no page at this address; the Runs page lists what is open."


def landing_address(library: Library, addresses: Addresses) -> str:
    """Return where a person begins: at the only graph, at a fleet alone, else at the runs."""
    if library.fleet is not None and not library.files():
        return addresses.fleet()
    try:
        only = find_only_graph(library)
    except GvizError:  # the Runs page says what is wrong with the file
        only = None
    return addresses.runs() if only is None else addresses.graph(*only)


def render_page(library: Library, addresses: Addresses, path: str, search: str | None) -> Page:
    """Return the content, the trail and the title of the page at an address."""
    for _ in range(_TRIES - 1):
        try:
            return _page_or_sentence(library, addresses, path, search)
        except ChangedError:
            continue
    try:
        return _page_or_sentence(library, addresses, path, search)
    except ChangedError as error:
        return _instead("It keeps changing", str(error), addresses)


def _page_or_sentence(
    library: Library, addresses: Addresses, path: str, search: str | None
) -> Page:
    try:
        return _page(library, addresses, path, search)
    except ChangedError:
        raise
    except GoneError as error:
        return _instead("The file is gone", str(error), addresses)
    except GvizError as error:
        return _instead("Not here", str(error), addresses)
    except Exception as error:  # whatever a damaged file does: a page must come
        return _instead("This page failed", sentence_of(error), addresses)


def _page(library: Library, addresses: Addresses, path: str, search: str | None) -> Page:
    local, query = addresses.local(path), parse_query(search)
    if local not in PAGES:
        return _instead("Not here", _NO_PAGE, addresses)
    query = completed(library, local, query, search or "")
    if local == RUNS:
        page = render_runs(
            run_files(library), query, addresses, has_fleet=library.fleet is not None
        )
        return page, trail(("Runs", None)), "gviz"
    if local == RUN and query.file is not None and query.run_id is not None:
        return _run_page(library, addresses, query.file, query.run_id)
    if local == GRAPH and query.file is not None and query.graph_id is not None:
        return _graph_page(library, addresses, query, search)
    if local == REPORT and query.file is not None and query.graph_id is not None:
        return _report_page(library, addresses, query.file, query.graph_id)
    if local == RANKS and query.file is not None:
        return _ranks_page(library, addresses, query.file)
    if local == COMPARE:
        for key in filter(None, (query.before_file, query.after_file)):
            library.file(key)  # its error says what is open
        steps = trail(("Runs", addresses.runs()), ("Compare", None))
        page = GraphPage("graph-page", addresses.compare_page(query), _beginning(search))
        return page, steps, "Compare – gviz"
    if local == TREND:
        steps = trail(("Runs", addresses.runs()), ("Trend", None))
        return render_trend(library, query, addresses), steps, "Trend – gviz"
    if local == FLEET:
        steps = trail(("Runs", addresses.runs()), ("Fleet", None))
        return render_fleet_page(library.fleet, query), steps, "Fleet – gviz"
    if local == BENCH:
        steps = trail(("Runs", addresses.runs()), ("Launch costs", None))
        return render_launch_costs(library, query.file, query.run_id), steps, "Launch costs – gviz"
    return _instead("Not here", _NO_PAGE, addresses)


def completed(library: Library, local: str, query: Query, search: str) -> Query:
    """Return a query with the run or the graph that it leaves out and its file has one of."""
    if query.file is None or local not in (RUN, GRAPH, REPORT):
        return query
    # What is no number names nothing that there is.
    if ("run" if local == RUN else "graph") in parse_qs(search.lstrip("?"), keep_blank_values=True):
        return query
    with library.file(query.file).at() as opened:
        runs = file_views(opened)
    if local == RUN:
        return replace(query, run_id=_only(query.file, "run", [view.run.run_id for view in runs]))
    graphs = [line.graph.graph_id for view in runs for line in view.graphs]
    return replace(query, graph_id=_only(query.file, "graph", graphs))


def _only(file: str, kind: str, ids: list[int]) -> int:
    """Return the id of the one run or graph of a file; RecordingError where there are others."""
    if len(ids) == 1:
        return ids[0]
    raise RecordingError(
        f"{file} has {counted(len(ids), kind)}, and the address names none: choose one on the "
        "Runs page"
        if ids
        else f"{file} has no {kind}; the Runs page says why"
    )


def _run_page(library: Library, addresses: Addresses, file: str, run_id: int) -> Page:
    with library.file(file).at() as opened:
        view = _find_run(file_views(opened), file, run_id)
        ranks = ranks_of(opened)
    steps = trail(("Runs", addresses.runs()), (view.run.name, None))
    return render_run(view, addresses, ranks), steps, f"{view.run.name} – gviz"


def _ranks_page(library: Library, addresses: Addresses, file: str) -> Page:
    with library.file(file).at() as opened:
        page = render_ranks_page(opened, addresses)
    steps = trail(("Runs", addresses.runs()), (f"Ranks of {file}", None))
    return page, steps, f"Ranks of {file} – gviz"


def _graph_page(library: Library, addresses: Addresses, query: Query, search: str | None) -> Page:
    file, graph_id = query.file or "", query.graph_id or 0
    with library.file(file).at() as opened:
        graph = graph_view(library, file, graph_id)
        source = addresses.page_payload(opened.versioned_key, graph_id, query)
        titles = graph.titles
    page: Component = GraphPage("graph-page", source, _beginning(search))
    steps = trail(
        ("Runs", addresses.runs()),
        (graph.run.name, addresses.run(file, graph.run.run_id)),
        *((titles[g.graph_id], addresses.graph(file, g.graph_id)) for g in graph.ancestors),
        (titles[graph_id], None),
    )
    return page, steps, f"{titles[graph_id]} – gviz"


def _beginning(search: str | None) -> dict[str, object]:
    """Return the state that a page of graphs begins with."""
    return {"query": search or "", "steps": 0}


def _report_page(library: Library, addresses: Addresses, file: str, graph_id: int) -> Page:
    with library.file(file).at() as opened:
        graph = opened.recording.fetch_graph(graph_id)
        run = next(r for r in opened.recording.fetch_runs() if r.run_id == graph.run_id)
        page = render_report(library, file, run, graph, addresses)
        title = graph_title(opened.recording, graph)
    steps = trail(
        ("Runs", addresses.runs()),
        (run.name, addresses.run(file, run.run_id)),
        (title, addresses.graph(file, graph_id)),
        ("Report", None),
    )
    return page, steps, f"Report: {title} – gviz"


def _find_run(views: list[RunView], file: str, run_id: int) -> RunView:
    for view in views:
        if view.run.run_id == run_id:
            return view
    raise RecordingError(f"{file} has no run {run_id}; the Runs page lists what is open")


def _instead(title: str, sentence: str, addresses: Addresses) -> Page:
    back = dcc.Link("To the Runs page", href=addresses.runs())
    return (
        message(title, sentence.strip().removesuffix(".") + ".", back),
        trail(("Runs", addresses.runs())),
        "gviz",
    )
