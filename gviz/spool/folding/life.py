"""A graph's life: what became of it, what was updated, and what failed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace

import numpy as np

from gviz.dataclass import dataclass
from gviz.model import reinstantiation
from gviz.recording import rows
from gviz.runs import Rows, blank_rows, integers
from gviz.spool.folding.failures import fold_capture_failures, fold_instantiate_failures
from gviz.spool.folding.graphs import GraphFolder, Graphs
from gviz.spool.folding.updates import fold_updates
from gviz.spool.records import GraphWalk
from gviz.spool.streams import Contents
from gviz.stats import UNKNOWN


@dataclass(slots=True)
class FoldedLife:
    """Rows of the tables of gviz.recording.rows.life; ``calls``: columns of rows.ApiCall."""

    calls: Rows
    captures: list[rows.CaptureFailure] = field(default_factory=list)
    instantiates: list[rows.InstantiateFailure] = field(default_factory=list)
    updates: list[rows.GraphUpdate] = field(default_factory=list)

    def rows(self) -> list[object]:
        """Return every row but those of calls."""
        return [*self.captures, *self.instantiates, *self.updates]


def fold_life(contents: Contents, folder: GraphFolder) -> FoldedLife:
    """Return the life's rows; graphs and executables get theirs filled in, failed ones are added.

    To be called once the launches are known, and before the graphs are written.
    """
    graphs = folder.graphs
    _fill_destroyed(contents, graphs)
    _fill_memory(contents, graphs)
    walks = walks_by_exec(contents.walks)
    _fill_updatable(contents, graphs, walks)
    captures = fold_capture_failures(contents, folder)
    instantiates = fold_instantiate_failures(contents, folder)
    updates = fold_updates(contents, graphs, walks)
    # Last: calls may be about graphs that failed.
    return FoldedLife(_calls(contents, graphs), captures, instantiates, updates)


def walks_by_exec(walks: Iterable[GraphWalk]) -> dict[int, list[GraphWalk]]:
    """Return the levels that were read at each instantiation, by executable."""
    found: dict[int, list[GraphWalk]] = {}
    for walk in walks:
        found.setdefault(walk.exec_id, []).append(walk)
    return found


def _calls(contents: Contents, graphs: Graphs) -> Rows:
    """Return the driver calls of graphs' lives in order of time, as columns of rows.ApiCall."""
    by_cuda_id = {level.row.cuda_graph_id: level.row.graph_id for level in graphs.levels.values()}
    by_cuda_id[0] = 0  # a call about no graph
    lives = sorted(contents.lives, key=lambda life: life.start_ns)
    execs = [graphs.execs.get(life.exec_id) for life in lives]
    return blank_rows(
        rows.ApiCall,
        len(lives),
        api_call_id=np.arange(1, len(lives) + 1),
        run_id=graphs.run_id,
        name=[contents.call_names.get(life.call, f"driver call {life.call}") for life in lives],
        start_ns=integers(life.start_ns for life in lives),
        end_ns=integers(life.end_ns for life in lives),
        thread_id=integers(life.thread_id for life in lives),
        result=integers(life.result for life in lives),
        graph_id=integers(
            by_cuda_id.get(life.graph_id) or (made.graph_id if made else UNKNOWN)
            for life, made in zip(lives, execs, strict=True)
        ),
        graph_exec_id=integers(made.graph_exec_id if made else UNKNOWN for made in execs),
    )


def _fill_destroyed(contents: Contents, graphs: Graphs) -> None:
    destroyed = {
        life.graph_id: life.end_ns
        for life in contents.lives
        if life.result == 0 and contents.call_names.get(life.call, "").startswith("cuGraphDestroy")
    }
    for level in graphs.levels.values():
        when = destroyed.get(level.row.cuda_graph_id or 0)
        if when is not None:
            level.row = replace(level.row, destroyed_ns=when)


def _fill_memory(contents: Contents, graphs: Graphs) -> None:
    taken: dict[int, int] = {}
    for record in contents.life.device_memory:
        change = record.free_before - record.free_after
        taken[record.exec_id] = taken.get(record.exec_id, 0) + change
    for exec_id, amount in taken.items():
        # Below zero, something else gave memory back meanwhile: nothing is known.
        if exec_id in graphs.execs and amount >= 0:
            graphs.execs[exec_id] = replace(graphs.execs[exec_id], device_memory_bytes=amount)


# -- instantiated again ---------------------------------------------------------------------------


def _fill_updatable(contents: Contents, graphs: Graphs, walks: dict[int, list[GraphWalk]]) -> None:
    launched = contents.launch_stream.bounds
    found = reinstantiation.updatable(
        reinstantiation.Instantiation(
            exec_id,
            _identity(graphs, row, walks.get(exec_id, [])),
            row.instantiate_start_ns,
            *launched.get(exec_id, (None, None)),
        )
        for exec_id, row in graphs.execs.items()
    )
    for exec_id, earlier in found.items():
        graphs.execs[exec_id] = replace(
            graphs.execs[exec_id], could_update_graph_exec_id=graphs.execs[earlier].graph_exec_id
        )


def _identity(graphs: Graphs, row: rows.GraphExec, walks: list[GraphWalk]) -> object | None:
    levels = graphs.family(row.graph_id)
    if not walks or any(level.topology is None for level in levels):
        return None
    fixed = tuple(
        (
            n.type, n.device_id, n.cooperative, n.priority, n.source_type, n.destination_type,
            n.bytes, n.element_bytes,
        )
        for walk in walks
        for n in walk.nodes
    )  # fmt: skip
    hashes = [level.topology.hash for level in levels if level.topology is not None]
    types = [node.type for walk in walks for node in walk.nodes]
    return reinstantiation.identity_of(hashes, types, fixed, row.flags)
