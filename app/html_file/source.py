"""Source of a file's graphs: the open recordings, and the addresses inside the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gviz.app.components import Addresses
from gviz.app.files import Library
from gviz.app.views import Compared, GraphView, find_baseline, graph_view
from gviz.errors import RecordingError
from gviz.model import Bodies
from gviz.recording import Recording, rows


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
        baseline: object = None,
    ) -> str:
        """Return the fragment that opens a graph of the file; empty for another."""
        return f"#graph={graph_id}" if file == self.file and graph_id in self.graph_ids else ""


@dataclass(frozen=True, slots=True)
class Source:
    """Source of a file's graphs, and their numbers.

    Attributes
    ----------
    library, file
        The open files, and the key of the recording.
    graphs
        All that are written.
    baseline
        The key of the recording that they are compared with; None: they are not.
    """

    library: Library
    file: str
    graphs: Sequence[rows.Graph]
    baseline: str | None = None

    @property
    def recording(self) -> Recording:
        """The recording."""
        return self.library.file(self.file).recording

    def compared(self, view: GraphView) -> Compared:
        """Return what became of the graph of the baseline that corresponds to a level."""
        return find_baseline(self.library, self.file, view, self.baseline, None)

    def view(self, graph_id: int) -> GraphView:
        """Return the view of a graph of the recording."""
        return graph_view(self.library, self.file, graph_id)

    def links(self) -> LinksInFile:
        """Return the addresses of graphs in the file."""
        return LinksInFile("/", self.file, frozenset(g.graph_id for g in self.graphs))


def open_source(library: Library, graph_ids: Sequence[int]) -> Source:
    """Return graphs of a library's first file, with what is nested in them; its second one is the
    baseline.

    Raises
    ------
    RecordingError
        If none of the graphs is there.
    """
    opened, *others = library.files()
    graphs = _with_bodies(opened.recording.fetch_graphs(), graph_ids)
    return Source(library, opened.key, graphs, others[0].key if others else None)


def _with_bodies(graphs: Sequence[rows.Graph], wanted: Sequence[int]) -> list[rows.Graph]:
    """Return graphs by their ids, each followed by what is nested in it."""
    by_id, bodies = {graph.graph_id: graph for graph in graphs}, Bodies(graphs)
    found: dict[int, rows.Graph] = {}
    for graph_id in wanted:
        if graph_id in by_id:
            around = (by_id[graph_id], *bodies.nested(graph_id))
            found |= {graph.graph_id: graph for graph in around if graph.graph_id not in found}
    if not found:
        raise RecordingError(f"there is no graph {wanted[0]}; 'gviz info' lists them")
    return list(found.values())
