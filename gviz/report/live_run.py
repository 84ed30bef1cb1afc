"""The document of a running program: its graphs with how often they are launched just now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gviz.report.document import (
    Block,
    Content,
    Document,
    Section,
    Verdict,
    average,
    column,
    ns,
    number,
    numbers,
    say,
    share,
    table,
)
from gviz.report.summary import GraphSummary, LaunchSummary, RecordingSummary, RunSummary
from gviz.text import counted

#: Graphs that are shown of each run, those first that are launched most often now.
_MOST = 12
#: Ends of a period after which a request may begin another; None: there was none so far.
_STARTED_AGAIN = (None, "request", "call", "signal")


def live_document(found: RecordingSummary, rates: Mapping[int, float], state: str) -> Document:
    """Return what a program does now, from what it has recorded so far.

    Parameters
    ----------
    rates
        Launches a second since the snapshot before, by graph_id; without one not known yet.
    state
        What the program does, for the title.
    """
    sections = tuple(
        Section(f"run-{run.run.run_id}", f"{run.run.name}, process {run.run.process_id}",
                tuple(_run(run, rates)))
        for run in found.runs
    )  # fmt: skip
    return Document("", (Verdict("", (say(f"{state}."),)),), sections)


def launch_counts(found: RecordingSummary) -> dict[int, int]:
    """Return how many launches each graph has had so far, by graph_id."""
    return {graph.graph_id: _launches(graph) for run in found.runs for graph in run.graphs}


def _launches(graph: GraphSummary) -> int:
    return sum(executable.launch_count for executable in graph.execs)


def _run(run: RunSummary, rates: Mapping[int, float]) -> Iterator[Block]:
    graphs = sorted(run.graphs, key=lambda g: (-rates.get(g.graph_id, 0.0), -_launches(g)))
    yield from _paused(run)
    if not graphs:
        yield say("No graph was instantiated so far.")
    columns = [
        column("Graph"),
        numbers("Nodes"),
        numbers("Launches"),
        numbers("A second"),
        numbers("Launch"),
        numbers("Host call"),
        numbers("GPU in it"),
    ]
    body = [_row(graph, rates.get(graph.graph_id)) for graph in graphs[:_MOST]]
    yield table("Graphs", columns, body, left_out=max(0, len(graphs) - _MOST))
    yield say("GPU in it: launches a second times the median launch.", note=True)
    yield from _eager(run)
    if run.windows.count:
        windows = counted(run.windows.count, "window")
        length = ns(run.windows.total_ns, "measured")
        yield say(f"CUPTI recorded node times in {windows} so far, ", length, ".")
    if failed := len(run.capture_failures):
        yield say(f"{counted(failed, 'capture')} failed.")


def _paused(run: RunSummary) -> Iterator[Block]:
    """Yield that nothing is recorded now, and how that begins, if it can."""
    is_on = any(period.end_ns is None for period in run.periods)
    no_word = not run.periods and any(map(_launches, run.graphs))  # of gviz before periods
    if run.run.state != "recording" or is_on or no_word:
        return
    last = run.periods[-1].end_reason if run.periods else None
    begins = f"; 'gviz start {run.run.process_id}' begins" if last in _STARTED_AGAIN else ""
    yield say(f"Recording is paused: launches are not counted{begins}.")


def _row(graph: GraphSummary, rate: float | None) -> list[Content]:
    side = next((one for one in graph.launches if one.side == "graph"), None)
    length = None if side is None else side.length.median_ns
    busy = None if rate is None or length is None else min(1.0, rate * length / 1e9)
    return [
        f"{graph.graph_id} {graph.title}",
        number(graph.node_count, "measured"),
        number(_launches(graph), "measured"),
        average(rate),
        ns(length, "measured"),
        ns(_host(side), "measured"),
        share(busy),
    ]


def _host(side: LaunchSummary | None) -> float | None:
    return None if side is None else side.host_median_ns


def _eager(run: RunSummary) -> Iterator[Block]:
    stream = run.stream_operations
    if stream is None:
        return
    inside = sum(graph.node_time_ns or 0 for graph in run.graphs)
    whole = stream.total_ns + inside
    if whole:
        yield say("Outside graphs: ", share(stream.total_ns / whole), " of the node time recorded.")
