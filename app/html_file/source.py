"""Source of a file's graphs: the open recordings, and the addresses inside the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from gviz.app.components import Addresses, Sides
from gviz.app.files import Library, OpenRecording
from gviz.app.pages import SIDES, Comparison, compare_sides
from gviz.app.views import GraphView, graph_view
from gviz.comparison import RequestedPair, pair_recordings
from gviz.dataclass import dataclass
from gviz.errors import RecordingError
from gviz.model import Bodies
from gviz.recording import Recording, rows

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class LinksInFile(Addresses):
    """Addresses inside a file: of graphs that are in it, and none of others."""

    file: str = ""
    graph_ids: frozenset[int] = frozenset()

    def graph(
        self,
        file: str,
        graph_id: int,
        node_ids: object = (),
        opened: object = (),
        selected: object = None,
    ) -> str:
        """Return the fragment that opens a graph of the file; empty for another."""
        return f"#graph={graph_id}" if file == self.file and graph_id in self.graph_ids else ""


#: Of a comparison: neither graph has a page of its own in the file.
NO_LINKS = LinksInFile("/")


@dataclass(frozen=True, slots=True)
class Source:
    """Source of a file's graphs, and their numbers.

    Attributes
    ----------
    library, file
        The open files, and the key of the recording.
    graphs
        All that are written.
    partners
        By the ids of those that are compared the graphs before, which are in the library's last
        file.
    """

    library: Library
    file: str
    graphs: Sequence[rows.Graph]
    partners: Mapping[int, int]

    @property
    def recording(self) -> Recording:
        """The recording."""
        return self.library.file(self.file).recording

    def about(self, graph_id: int) -> Mapping[str, tuple[str, set[int]]]:
        """Return the graph by side, as :func:`gviz.app.pages.laid_tables` takes it."""
        if graph_id not in self.partners:
            return {"": (self.file, self._around(graph_id))}
        sides = self.sides(graph_id)
        files, graphs = (sides.before, sides.after), (self.partners[graph_id], graph_id)
        return {
            side: (file, {graph}) for side, file, graph in zip(SIDES, files, graphs, strict=True)
        }

    def _around(self, graph_id: int) -> set[int]:
        """Return the ids of a graph and of those that it is in."""
        parents = {graph.graph_id: graph.parent_graph_id for graph in self.graphs}
        found = {graph_id}
        while (parent := parents.get(graph_id)) is not None:
            found.add(graph_id := parent)
        return found

    def keep(self, key: tuple[object, ...], build: Callable[[], _T]) -> _T:
        """Return what was read of the recording: a :class:`gviz.model.tree.keep.Keep`."""
        return self.library.file(self.file).keep(key, build)

    def sides(self, graph_id: int) -> Sides:
        """Return which graphs a graph that is compared and its counterpart are."""
        before = self.library.files()[-1].key
        return Sides(before, self.file, self.partners[graph_id], graph_id)

    def comparison(self, graph_id: int) -> Comparison:
        """Return what became of the counterpart of a graph; made once."""
        return compare_sides(self.library, self.sides(graph_id))

    def view(self, graph_id: int) -> GraphView:
        """Return the view of a graph of the recording."""
        return graph_view(self.library, self.file, graph_id)

    def links(self) -> LinksInFile:
        """Return the addresses of graphs in the file."""
        ids = {graph.graph_id for graph in self.graphs} - self.partners.keys()
        return LinksInFile("/", self.file, frozenset(ids))


def open_source(library: Library, graph_ids: Sequence[int], partners: Mapping[int, int]) -> Source:
    """Return graphs of a library's first file, with what is nested in them.

    Parameters
    ----------
    partners
        By graph of the first file the one of the last that it is compared with; the bodies in
        these are part of the comparison.

    Raises
    ------
    RecordingError
        If none of the graphs is there.
    """
    opened = library.files()[0]
    graphs = _with_bodies(opened.recording.fetch_graphs(), graph_ids, partners)
    return Source(library, opened.key, graphs, partners)


def find_partners(
    first: OpenRecording, second: OpenRecording, graph_ids: Sequence[int], before: int | None
) -> dict[int, int]:
    """Return by graph of the second file its counterpart in the first, where it has one.

    ``before`` is that of the only graph; None: what corresponds.

    Raises
    ------
    RecordingError
        If no graph has a counterpart, or the one that is named is not there.
    """
    wanted = None
    if before is not None:
        if len(graph_ids) != 1:
            raise RecordingError(
                f"graph {before} of the baseline is compared with one graph: name it by --graph"
            )
        wanted = RequestedPair(before, graph_ids[0])
    paired = pair_recordings(first.recording, second.recording, wanted)
    partners = {pair.second: pair.first for pairs in paired.graphs for pair in pairs}
    found = {graph: partners[graph] for graph in graph_ids if graph in partners}
    if not found:
        raise RecordingError(
            f"{first.key} has no graph like graph {graph_ids[0]}; 'gviz info' lists its graphs, "
            "and --baseline-graph compares any two"
        )
    return found


def _with_bodies(
    graphs: Sequence[rows.Graph], wanted: Sequence[int], compared: Mapping[int, int]
) -> list[rows.Graph]:
    """Return graphs by their ids, each followed by what is nested in it, unless it is compared."""
    by_id, bodies = {graph.graph_id: graph for graph in graphs}, Bodies(graphs)
    found: dict[int, rows.Graph] = {}
    for graph_id in wanted:
        if graph_id in by_id:
            inside = () if graph_id in compared else bodies.nested(graph_id)
            around = (by_id[graph_id], *inside)
            found |= {graph.graph_id: graph for graph in around if graph.graph_id not in found}
    if not found:
        raise RecordingError(f"there is no graph {wanted[0]}; 'gviz info' lists them")
    return list(found.values())
