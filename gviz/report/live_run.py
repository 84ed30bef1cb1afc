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
    length = _length_ns(graph)
    busy = None if rate is None or length is None else min(1.0, rate * length / 1e9)
    return [
        f"{graph.graph_id} {graph.title}",
        number(graph.node_count, "measured"),
        number(_launches(graph), "measured"),
        average(rate),
        ns(length, "measured"),
        ns(_host_ns(graph), "measured"),
        share(busy),
    ]


def _host_ns(graph: GraphSummary) -> float | None:
    side = _graph_side(graph)
    return None if side is None else side.host_median_ns


def _eager(run: RunSummary) -> Iterator[Block]:
    """Yield the share of the GPU's time that was outside graphs."""
    stream = run.stream_operations
    if stream is None:
        return
    if run.windows.count:  # both sides were recorded in them, and nothing else was
        inside: float = sum(graph.node_time_ns or 0 for graph in run.graphs)
        of = " of the node time in CUPTI's windows"
    else:
        launched = [(_launches(graph), _length_ns(graph)) for graph in run.graphs]
        if any(count and length is None for count, length in launched):
            return
        inside = sum(count * (length or 0.0) for count, length in launched)
        of = " of the GPU's time so far, warm-up included"
    whole = stream.total_ns + inside
    if whole:
        at_least = "at least " if _is_cut(run) else ""
        operations = counted(stream.count, "operation")
        yield say(f"Outside graphs: {at_least}", share(stream.total_ns / whole),
                  f"{of}, in {operations}.")  # fmt: skip


def _is_cut(run: RunSummary) -> bool:
    """Return whether more ran outside graphs than is recorded."""
    return any(m.name == "stream_operations_left_out" for m in run.measurements)


def _length_ns(graph: GraphSummary) -> float | None:
    """Return the median length of a launch; None: not measured."""
    side = _graph_side(graph)
    return None if side is None else side.length.median_ns


def _graph_side(graph: GraphSummary) -> LaunchSummary | None:
    return next((one for one in graph.launches if one.side == "graph"), None)
