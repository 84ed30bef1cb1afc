"""The graph that the one on the page is compared with: which it is, and the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gviz.app.components import Baseline
from gviz.app.files import ChangedError, Library, OpenRecording
from gviz.app.views.baseline.tree_comparison import TreeComparison
from gviz.app.views.graph_data import GraphView
from gviz.comparison import GraphPair, GraphTraits, pair_graphs, read_graph_traits
from gviz.errors import RecordingError
from gviz.model import TimedTree, in_nested_order, read_timed_tree
from gviz.recording import rows

#: Graphs offered as a baseline; more would make the page itself slow.
OFFERED = 500
#: Pairs of graphs of two runs up to which all are compared, 0.1 s; of more the one shown alone.
_MOST_PAIRS = 10_000
_HOW = {"shape": "equal shape", "name": "same name", "work": "most work shared"}


@dataclass(frozen=True, slots=True)
class Offer:
    """A graph that can be chosen as the baseline.

    Attributes
    ----------
    baseline
        Which.
    label
        As the choice shows it.
    likely
        It corresponds to the graph on the page.
    """

    baseline: Baseline
    label: str
    likely: bool


@dataclass(frozen=True, slots=True)
class Compared:
    """A page's baseline, as far as it is compared.

    Attributes
    ----------
    comparison
        None: no baseline was requested, or there is no such graph.
    problem
        Why there is none although one was requested, as a sentence.
    """

    comparison: TreeComparison | None = None
    problem: str = ""

    @property
    def baseline(self) -> Baseline | None:
        """The graph that is compared with."""
        return None if self.comparison is None else self.comparison.baseline


def find_baseline(
    library: Library,
    file: str,
    view: GraphView,
    requested_file: str | None,
    requested_graph: int | None,
) -> Compared:
    """Return the baseline that an address names.

    An address may leave the graph out: then it is the one that corresponds to the page's.
    """
    if requested_file is None:
        return Compared()
    opened = {f.key: f for f in library.files()}
    if requested_file not in opened:
        return Compared(problem=f"No open recording is called {requested_file}: no baseline.")
    try:
        with opened[requested_file].at() as other:
            return _find(library, file, view, other, requested_graph)
    except ChangedError:
        raise
    except RecordingError as error:
        return Compared(problem=f"Not compared: {error}")


def _find(
    library: Library, file: str, view: GraphView, other: OpenRecording, requested_graph: int | None
) -> Compared:
    if requested_graph is None:
        requested_graph = _corresponding(library, file, view, other)
        if requested_graph is None:
            return Compared(problem=f"{other.key} has no graph like this one: no baseline.")
    if requested_graph not in {g.graph_id for g in other.recording.fetch_graphs()}:
        return Compared(problem=f"{other.key} has no graph {requested_graph}: no baseline.")
    baseline = Baseline(other.key, requested_graph)
    if baseline == Baseline(file, view.graph.graph_id):
        return Compared(problem="A graph is its own baseline: choose another.")
    return Compared(compare(library, file, view.tree, baseline))


def compare(library: Library, file: str, tree: TimedTree, baseline: Baseline) -> TreeComparison:
    """Return what became of a baseline; kept until one of the files changes.

    Raises
    ------
    RecordingError
        If a graph is not open, or has a cycle.
    """
    shown, other = library.file(file), library.file(baseline.file)
    key = ("comparison", tree.graph.graph_id, baseline, other.version)
    return shown.derive(key, lambda: TreeComparison(shown, tree, other, baseline.graph_id))


def _tree(opened: OpenRecording, graph_id: int) -> TimedTree:
    """Return a tree, the same that the payloads are made of."""
    return read_timed_tree(opened.recording, graph_id, opened.keep)


# -- which graphs could be it -------------------------------------------------------------


def offered(library: Library, file: str, view: GraphView) -> Sequence[Offer]:
    """Return the graphs that can be the baseline: first those that correspond.

    Of a graph that is launched, such graphs; of a body all. A file that cannot be read now has
    none.
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
    own = Baseline(file, view.graph.graph_id)
    for run in opened.recording.fetch_runs():
        graphs = in_nested_order(opened.recording.fetch_graphs(run.run_id))
        if view.graph.parent_graph_id is None:
            graphs = [g for g in graphs if g.parent_graph_id is None]
        likely: dict[int, GraphPair] = {}
        if (opened.key, run.run_id) != (file, view.run.run_id):
            likely = _pairs(library, file, view, opened, run.run_id)
        for graph in graphs:
            if Baseline(opened.key, graph.graph_id) != own:
                found.append(_offer(opened.key, graph, likely.get(graph.graph_id)))
    return found


def _offer(file: str, graph: rows.Graph, pair: GraphPair | None) -> Offer:
    label = f"{file}: {graph.name}"
    if pair is not None:
        label += f" ({_HOW[pair.how]})"
    return Offer(Baseline(file, graph.graph_id), label, pair is not None)


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


def _corresponding(
    library: Library, file: str, view: GraphView, other: OpenRecording
) -> int | None:
    """Return the graph of another file that corresponds to the one on the page."""
    for run in other.recording.fetch_runs():
        if (other.key, run.run_id) == (file, view.run.run_id):
            continue
        for root_id in _pairs(library, file, view, other, run.run_id):
            if view.graph.parent_graph_id is None:
                return root_id
            return _corresponding_body(library, file, view, Baseline(other.key, root_id))
    return None


def _corresponding_body(library: Library, file: str, view: GraphView, root: Baseline) -> int | None:
    tree = _tree(library.file(file), view.root.graph_id)
    levels: Mapping[int, int] = {x.graph.graph_id: at for at, x in enumerate(tree.levels)}
    found = compare(library, file, tree, root).counterpart(levels[view.graph.graph_id])
    return None if found is None else found.graph_id
