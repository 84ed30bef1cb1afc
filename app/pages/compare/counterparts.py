"""The graphs that one on a page can be compared with, those that correspond to it first."""

from __future__ import annotations

from collections.abc import Sequence

from dash.development.base_component import Component

from gviz.app.components import Addresses, Sides, select
from gviz.app.files import ChangedError, Library, OpenRecording
from gviz.app.views import GraphView, read_titles
from gviz.comparison import GraphPair, GraphTraits, pair_graphs, read_graph_traits
from gviz.dataclass import dataclass
from gviz.errors import RecordingError

#: Graphs that are offered; more would make the page itself slow.
OFFERED = 500
#: Pairs of graphs of two runs up to which all are compared, 0.1 s; of more the one shown alone.
_MOST_PAIRS = 10_000
#: How two graphs correspond, in words.
HOW_ALIKE = {"shape": "equal shape", "name": "same name", "work": "most work shared"}


@dataclass(frozen=True, slots=True)
class Offer:
    """A graph that can be compared with.

    Attributes
    ----------
    file, graph_id
        Which: the key of its file, and its id.
    label
        As the choice shows it.
    likely
        It corresponds to the graph on the page.
    """

    file: str
    graph_id: int
    label: str
    likely: bool


def counterpart_choice(
    library: Library, file: str, view: GraphView, addresses: Addresses
) -> Component | None:
    """Return the choice, whose options are addresses; None: there is no other graph.

    Bodies have none: they are compared with the graph that they are in.
    """
    if view.graph.parent_graph_id is not None:
        return None
    offers = offered(library, file, view)
    if not offers:
        return None
    options = [
        {
            "value": addresses.compare(Sides(o.file, file, o.graph_id, view.graph.graph_id)),
            "label": o.label,
        }
        for o in offers
    ]
    none = {"value": "", "label": "none"}
    return select("baseline", "Compare with", [none, *options], "", width=150)


def address_against(
    library: Library,
    file: str,
    view: GraphView,
    baseline: tuple[str, int | None],
    addresses: Addresses,
) -> str:
    """Return where the graph of a page is compared with a baseline; of a body the one around it.

    Parameters
    ----------
    baseline
        A file, and a graph of it; None: the one that corresponds. Where there is none such, it is
        the page on which one is chosen.
    """
    before, graph_id = baseline
    found = _find(library, file, view, before, graph_id)
    if found is None:
        return addresses.compare_files(before, file)
    return addresses.compare(Sides(before, file, found, view.root.graph_id))


def _find(
    library: Library, file: str, view: GraphView, before: str, graph_id: int | None
) -> int | None:
    opened = {f.key: f for f in library.files()}
    if before not in opened:
        return None
    try:
        with opened[before].at() as other:
            graphs = {
                g.graph_id for g in other.recording.fetch_graphs() if g.parent_graph_id is None
            }
            if graph_id is None or view.graph.parent_graph_id is not None:
                return _corresponding(library, file, view, other)
            is_itself = (before, graph_id) == (file, view.graph.graph_id)
            return graph_id if graph_id in graphs and not is_itself else None
    except ChangedError:
        raise
    except RecordingError:  # the page of the choice says why
        return None


def _corresponding(
    library: Library, file: str, view: GraphView, other: OpenRecording
) -> int | None:
    """Return the graph of another file that corresponds to the one on the page."""
    for run in other.recording.fetch_runs():
        if (other.key, run.run_id) != (file, view.run.run_id):
            for graph_id in _pairs(library, file, view, other, run.run_id):
                return graph_id
    return None


def offered(library: Library, file: str, view: GraphView) -> Sequence[Offer]:
    """Return the graphs to compare with that are launched: first those that correspond.

    A file that cannot be read now has none.
    """
    found: list[Offer] = []
    for opened in library.files():
        try:
            with opened.at():
                found += _offers_of(library, file, view, opened)
        except RecordingError:  # its own page says why
            continue
    return sorted(found, key=lambda offer: not offer.likely)[:OFFERED]


def _offers_of(library: Library, file: str, view: GraphView, opened: OpenRecording) -> list[Offer]:
    found: list[Offer] = []
    own = file, view.graph.graph_id
    for run in opened.recording.fetch_runs():
        titles = read_titles(opened, run.run_id)
        likely: dict[int, GraphPair] = {}
        if (opened.key, run.run_id) != (file, view.run.run_id):
            likely = _pairs(library, file, view, opened, run.run_id)
        for graph in opened.recording.fetch_graphs(run.run_id):
            if graph.parent_graph_id is None and (opened.key, graph.graph_id) != own:
                pair = likely.get(graph.graph_id)
                how = "" if pair is None else f" ({HOW_ALIKE[pair.how]})"
                label = f"{opened.key}: {titles[graph.graph_id]}{how}"
                found.append(Offer(opened.key, graph.graph_id, label, pair is not None))
    return found


def _pairs(
    library: Library, file: str, view: GraphView, other: OpenRecording, run_id: int
) -> dict[int, GraphPair]:
    """Return the graph of a run that corresponds to the one launched on the page, by its id."""
    mine, theirs = _works(library.file(file), view.run.run_id), _works(other, run_id)
    if len(mine) * len(theirs) > _MOST_PAIRS:
        mine = [w for w in mine if w.graph_id == view.root.graph_id]
    pairs = pair_graphs(theirs, mine)
    return {p.first: p for p in pairs if p.second == view.root.graph_id}


def _works(opened: OpenRecording, run_id: int) -> Sequence[GraphTraits]:
    return opened.derive(("works", run_id), lambda: read_graph_traits(opened.recording, run_id))
