"""The graph page of a recording that has grown: what of it changes, so that the rest stays.

Selection, zoom, sorting and what is being typed live in the browser; a page made anew would lose
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dash.development.base_component import Component

from gviz.app.components import Addresses, Query, parse_query
from gviz.app.files import Library
from gviz.app.pages import render_graph
from gviz.app.views import GraphView, graph_identity, graph_view
from gviz.errors import RecordingError
from gviz.recording import Recording

#: What is set anew where the page has it, by id.
_RENEWED = {
    "dag": ("source",),
    "timeline": ("source",),
    "launch": ("data", "value"),
    "stream-launch": ("data", "value"),
    "graph-choice": ("data",),
    "baseline": ("data", "value"),
    "baseline-note": ("children",),
    "inspector-source": ("data",),
    "table-source": ("data",),
    "breakdown-source": ("data",),
    "view": ("data",),
}
#: A page that has other ones of these now is another page.
_PANES = ("dag", "timeline", "graph-choice", "baseline")

Options = Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class ShownGraph:
    """The graph that the browser shows: the address' query, and the launches it offers.

    Attributes
    ----------
    launches, iterations
        Options of the choice of a graph launch, and of an eager iteration.
    panes
        Which of the panes that need not be there are.
    identity
        Of the graph (:func:`gviz.app.views.graph_data.graph_identity`).
    """

    identity: str
    search: str
    launches: Options
    iterations: Options
    panes: Sequence[str]


@dataclass(frozen=True, slots=True)
class Refreshed:
    """The changed parts of a graph page.

    Attributes
    ----------
    about
        Children of that part of the page.
    properties
        By id of a component, its new properties.
    is_another
        The page has other panes now: it must be made anew.
    moved_to
        Address of the graph, where another one has its number now.
    """

    about: Any = None
    properties: dict[str, dict[str, Any]] = field(default_factory=dict)
    is_another: bool = False
    moved_to: str | None = None


def refresh_graph(
    library: Library, file: str, graph_id: int, shown: ShownGraph, addresses: Addresses
) -> Refreshed:
    """Return what changes on a graph's page now that its file is another one.

    Raises
    ------
    RecordingError
        If the file or the graph is gone, or the file changes again meanwhile.
    """
    with library.file(file).at() as opened:
        view = graph_view(library, file, graph_id)
        if graph_identity(view.run, view.graph) != shown.identity:
            moved = _find(opened.recording, shown.identity)
            return Refreshed(moved_to=addresses.graph(file, moved))
        query = _same_launches(parse_query(shown.search), shown, view)
        page = render_graph(library, file, view, query, addresses)
    parts = {c.id: c for c in _components(page) if isinstance(getattr(c, "id", None), str)}
    if [name for name in _PANES if name in parts] != [n for n in _PANES if n in shown.panes]:
        return Refreshed(is_another=True)
    properties = {
        name: {prop: getattr(parts[name], prop, None) for prop in props}
        for name, props in _RENEWED.items()
        if name in parts
    }
    return Refreshed(
        about=parts["graph-about"].children,
        properties=properties,
    )


def _find(recording: Recording, identity: str) -> int:
    for run in recording.fetch_runs():
        for graph in recording.fetch_graphs(run.run_id):
            if graph_identity(run, graph) == identity:
                return graph.graph_id
    raise RecordingError("the graph of this page is not in the recording any more")


def _same_launches(query: Query, shown: ShownGraph, view: GraphView) -> Query:
    """Return the query with the numbers that the launches shown have now.

    Launches are numbered over the whole recording: with more graph launches, eager iterations move.
    """
    recorded = {f"#{x.ordinal}": x.launch_id for x in view.recorded_launches}
    eager = {f"iteration {x.ordinal}": x.launch_id for x in view.stream_launches}
    return replace(
        query,
        launch_id=recorded.get(_name_of(query.launch_id, shown.launches)),
        stream_launch_id=eager.get(_name_of(query.stream_launch_id, shown.iterations)),
    )


def _name_of(launch_id: int | None, options: Options) -> str:
    """Return what a launch is called in a choice: ``#12`` or ``iteration 0``; "" for none."""
    for option in options:
        if option.get("value") == str(launch_id):
            return option.get("label", "").partition(" · ")[0]
    return ""


def _components(node: Any) -> Iterator[Component]:
    if isinstance(node, list | tuple):
        for child in node:
            yield from _components(child)
    elif isinstance(node, Component):
        yield node
        yield from _components(getattr(node, "children", None))
