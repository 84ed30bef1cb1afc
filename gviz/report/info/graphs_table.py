"""The graphs of a recording in a table: what a notebook shows of it."""

from __future__ import annotations

from collections.abc import Sequence

from gviz.dataclass import dataclass
from gviz.errors import NO_GRAPH
from gviz.model import LaunchTimes
from gviz.report.document import (
    AlikeLink,
    Block,
    Content,
    Document,
    Verdict,
    capitalized,
    column,
    joined,
    line,
    number,
    numbers,
    say,
    section,
    share,
    table,
)
from gviz.report.info.info_verdict import against_eager, length_of
from gviz.report.summary import LaunchSummary

#: Graphs of a summary; a notebook's cell is no place for hundreds.
_MOST_GRAPHS = 20


@dataclass(frozen=True, slots=True)
class GraphEntry:
    """A graph as the table has it.

    Attributes
    ----------
    run
        Name of its run.
    graph_id, name
        Its own.
    gpus
        Names of the GPUs that its run used.
    node_count, launch_count
        Of the graph.
    launch
        Times of its launches.
    kernels
        Names with the most node time, each with its share of all node time.
    launches
        Of the graph and of its work run eagerly.
    """

    run: str
    graph_id: int
    name: str
    gpus: str
    node_count: int
    launch_count: int
    launch: LaunchTimes
    kernels: tuple[tuple[str, float], ...]
    launches: tuple[LaunchSummary, ...]


def graphs_document(title: str, runs: Sequence[str], graphs: Sequence[GraphEntry]) -> Document:
    """Return a recording's graphs as a document; ``runs``: the names of all of its runs."""
    several = len(runs) > 1
    full = f"{title}: " + (f"{len(runs)} runs" if several else ", ".join(runs))
    if not graphs:
        verdict = Verdict("", (say(f"{capitalized(NO_GRAPH)}."),))
        return Document(full, (verdict,), ())
    first = max(graphs, key=lambda x: x.launch_count * (x.launch.median_ns or 0.0))
    sentences = [against_eager(first.graph_id, first.launches)]
    if first.kernels:
        name, fraction = first.kernels[0]
        sentences.append(
            say("Most node time: ", AlikeLink("name", name), " (", share(fraction), ").")
        )
    sentences.append(say("graph.analyze() says what to change, .show() embeds the view."))
    listed: Block = table(
        "Graphs",
        [
            *([column("Run")] if several else []),
            column("Graph"), column("GPU"), numbers("Nodes"), numbers("Launches"),
            numbers("Launch", "On the GPU; measured as .launch_times says"),
            column("Most node time"),
        ],
        [_row(entry, named=several) for entry in graphs[:_MOST_GRAPHS]],
        left_out=max(0, len(graphs) - _MOST_GRAPHS),
        row_noun=("more graph", "more graphs"),
    )  # fmt: skip
    return Document(full, (Verdict("", tuple(sentences)),), (section("graphs", "", listed),))


def _row(entry: GraphEntry, *, named: bool) -> list[Content]:
    kernels = [
        line(share(fraction), " ", AlikeLink("name", name)) for name, fraction in entry.kernels
    ]
    return [
        *([entry.run] if named else []),
        entry.name, entry.gpus, number(entry.node_count), number(entry.launch_count),
        length_of(entry.launch),
        joined(kernels),
    ]  # fmt: skip
