"""Questions to a graph of a recording: edits, or without any the ranking of its parts."""

from __future__ import annotations

from collections.abc import Sequence

from gviz.analysis import GraphSubject, PartRanking, rank_parts
from gviz.dataclass import dataclass
from gviz.errors import RecordingError, no_such_graph
from gviz.recording import Recording
from gviz.stats import figure
from gviz.system import NO_PROGRESS, Progress
from gviz.whatif.answer import GraphWhatIf, WhatIf
from gviz.whatif.edits import Edit

#: Raised when a key of the JSON goes away or changes its meaning.
WHATIF_VERSION = 1
#: Share of the work that reads the graph.
_READ = 0.25


@dataclass(frozen=True, slots=True)
class WhatIfReport:
    """The result of ``gviz what-if``: an answer, or a ranking."""

    whatif_version: int = figure("stated", "version of these keys")
    path: str = figure("stated", "the file")
    graph_id: int = figure("stated", "the graph")
    title: str = figure("stated", "its name among the graphs of its run")
    answer: WhatIf | None = figure("estimated", "to the edits; null: none were given")
    ranking: PartRanking | None = figure("estimated", "without edits: the parts of the launch")


def read_what_if(recording: Recording, graph_id: int) -> GraphWhatIf:
    """Return a top-level graph of a recording, to be questioned.

    Raises
    ------
    RecordingError
        If there is no such graph, or nothing can be computed of it; with the reason.
    """
    found = [g for g in recording.fetch_graphs() if g.graph_id == graph_id]
    if not found or found[0].parent_graph_id is not None:
        raise RecordingError(no_such_graph(recording.path, graph_id))
    return GraphWhatIf(GraphSubject(recording, found[0]))


def ask_recording(
    recording: Recording,
    graph_id: int,
    edits: Sequence[Edit] = (),
    progress: Progress = NO_PROGRESS,
) -> WhatIfReport:
    """Return what a graph's launch would take with edits; without, what its parts would bring.

    Raises
    ------
    RecordingError, UsageError
        As :func:`read_what_if` and :meth:`GraphWhatIf.ask`.
    """
    progress.at(0.0, f"graph {graph_id}")
    graph = read_what_if(recording, graph_id)
    computing = progress.part(_READ, 1.0)
    computing.at(0.0, graph.subject.title)
    return WhatIfReport(
        whatif_version=WHATIF_VERSION,
        path=str(recording.path),
        graph_id=graph_id,
        title=graph.subject.title,
        answer=graph.ask(edits, computing) if edits else None,
        ranking=None if edits else rank_parts(graph.subject, computing),
    )
