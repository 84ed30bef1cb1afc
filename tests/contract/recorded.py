"""Asking a recording what the contract wants to know."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from waiting import eventually

from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.spool.processes.snapshot import Snapshots

Record = Callable[..., Recording]

RUN = 1
STREAM = "stream"


def top_graphs(recording: Recording) -> list[rows.Graph]:
    """Return the graphs that are no bodies and could be made, in order of instantiation."""
    found = [g for g in recording.fetch_graphs() if g.parent_graph_id is None]
    return [g for g in found if not g.origin.startswith("failed")]


#: How launches that are waited for get their node times at first: by copies, but for one that these
#: are held against.
TURN = ["events", "events", "events", None]


def methods(recording: Recording, graph: rows.Graph) -> list[str | None]:
    """Return how node times were taken, launch by launch."""
    return [x.node_method for x in recording.fetch_launches(graph.graph_id)]


def bodies(recording: Recording, graph: rows.Graph) -> list[rows.Graph]:
    """Return every level nested in a graph, at any depth."""
    found = [graph]
    for level in recording.fetch_graphs():
        if any(level.parent_graph_id == f.graph_id for f in found):
            found.append(level)
    return found[1:]


def edges(recording: Recording, graph: rows.Graph) -> set[tuple[int, int]]:
    """Return a graph's edges by node id."""
    assert graph.topology_id is not None
    found = recording.fetch_edges(graph.topology_id)
    return set(zip(found.from_node.tolist(), found.to_node.tolist(), strict=True))


def span_counts(recording: Recording, graph: rows.Graph) -> Counter[tuple[int, int, int]]:
    """Return how many spans each (launch, level, node) has."""
    spans = recording.fetch_graph_spans(graph.graph_id)
    columns = (spans.launch_id, spans.graph_id, spans.node_id)
    return Counter(zip(*(c.tolist() for c in columns), strict=True))


def launch_ids(recording: Recording, graph: rows.Graph) -> list[int]:
    """Return the graph-side launches in order of time."""
    return [launch.launch_id for launch in recording.fetch_launches(graph.graph_id)]


def shape_of(row: rows.Node | rows.StreamOperation) -> tuple[list[int | None], list[int | None]]:
    """Return a launch shape."""
    return [row.grid_x, row.grid_y, row.grid_z], [row.block_x, row.block_y, row.block_z]


def await_recorded(spool: Path, snapshot: Path, is_there: Callable[[Recording], bool]) -> None:
    """Wait until a snapshot of a running program has something: it flushes twice a second."""
    snapshots = Snapshots(spool, snapshot)

    def answer() -> bool:
        snapshots.take()
        if not snapshot.exists():
            return False
        with Recording(snapshot) as recording:
            return is_there(recording)

    eventually(answer, "flush of what the program did")


def await_own_launches(count: int) -> None:
    """Wait, in a process that ``gviz run`` watches, until so many of its launches are written."""
    spool, process_id = Path(os.environ["GVIZ_SPOOL"]), os.getpid()

    def are_there(found: Recording) -> bool:
        own = [run.run_id for run in found.fetch_runs() if run.process_id == process_id]
        graphs = [graph.graph_id for run in own for graph in found.fetch_graphs(run)]
        return sum(len(found.fetch_launches(graph_id)) for graph_id in graphs) == count

    await_recorded(spool, spool.with_name(f"awaited by {process_id}.gviz"), are_there)
