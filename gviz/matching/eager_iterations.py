"""Eager iterations of graphs' work among stream operations, as rows of a recording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gviz.cuda import TIMED_TYPES
from gviz.dag import find_cycle
from gviz.matching.occurrences import Work, match_occurrences
from gviz.recording import rows
from gviz.stats import UNKNOWN, IntArray


@dataclass(frozen=True, slots=True)
class CapturedWork:
    """The outermost level of a graph.

    Attributes
    ----------
    node_id
        Of the nodes (int64), in order of creation, or any topological order.
    work
        What they do.
    edges
        int64, shape (n, 2): node ids.
    """

    graph_id: int
    node_id: IntArray
    work: Work
    edges: IntArray

    @classmethod
    def from_rows(cls, graph_id: int, nodes: Sequence[rows.Node], edges: IntArray) -> CapturedWork:
        """Build from rows of a recording."""
        node_id = np.array([node.node_id for node in nodes], np.int64)
        return cls(graph_id, node_id, Work.from_rows(nodes), edges)

    @classmethod
    def from_columns(
        cls, graph_id: int, nodes: npt.NDArray[np.void], edges: IntArray
    ) -> CapturedWork:
        """Build from the columns of rows.Node (a structured array)."""
        return cls(graph_id, nodes["node_id"], Work.from_columns(nodes), edges)


@dataclass(frozen=True, slots=True)
class EagerWork:
    """Operations outside graphs in order of GPU start; int64 arrays of one length.

    Attributes
    ----------
    work
        What they do.
    start_ns, end_ns
        On the GPU.
    called_ns, returned_ns, thread_id
        Of the call; -1 where it is not known.
    stream_id
        Where each ran.
    """

    work: Work
    start_ns: IntArray
    end_ns: IntArray
    called_ns: IntArray
    returned_ns: IntArray
    thread_id: IntArray
    stream_id: IntArray

    def __len__(self) -> int:
        return len(self.start_ns)

    @classmethod
    def from_rows(cls, operations: Sequence[rows.StreamOperation]) -> EagerWork:
        """Build from rows of a recording."""

        def column(name: str) -> IntArray:
            values = [getattr(op, name) for op in operations]
            return np.array([UNKNOWN if v is None else v for v in values], np.int64)

        start = column("start_ns")
        return cls(
            work=Work.from_rows(operations),
            start_ns=start,
            end_ns=start + column("duration_ns"),
            called_ns=column("host_start_ns"),
            returned_ns=column("host_end_ns"),
            thread_id=column("thread_id"),
            stream_id=column("stream_id"),
        )


@dataclass(frozen=True, slots=True)
class EagerMatch:
    """Operations that did a graph's work.

    Attributes
    ----------
    launches
        A row of the stream side for each iteration.
    launch_id, node_id
        Iteration and node of each operation, int64; -1: none.
    """

    launches: list[rows.Launch]
    launch_id: IntArray
    node_id: IntArray


def match_eager(
    eager: EagerWork, graphs: Sequence[CapturedWork], run_id: int, first_launch_id: int
) -> EagerMatch:
    """Match operations with graphs' nodes.

    Graphs are taken in the order given; an operation belongs to one graph at most.

    Parameters
    ----------
    eager
        The operations.
    graphs
        The graphs, in order of creation.
    run_id
        The run of all of it.
    first_launch_id
        Id of the first iteration; the others count on.
    """
    found = EagerMatch(
        [], np.full(len(eager), UNKNOWN, np.int64), np.full(len(eager), UNKNOWN, np.int64)
    )
    order = np.where(eager.called_ns > 0, eager.called_ns, eager.start_ns)
    for graph in graphs:
        free = np.flatnonzero(found.launch_id == UNKNOWN)
        timed = np.flatnonzero(np.isin(graph.work.type, sorted(TIMED_TYPES)))
        if not len(timed) or len(free) < len(timed) // 2:
            continue
        if _has_cycle(graph.edges):
            continue  # damaged input: there is no order to look for
        occurrences = match_occurrences(
            graph.work.take(timed),
            graph.node_id[timed],
            graph.edges,
            eager.work.take(free),
            order[free],
        )
        for ordinal, occurrence in enumerate(occurrences):
            launch_id = first_launch_id + len(found.launches)
            chosen = free[occurrence.operation_index]
            found.launch_id[chosen] = launch_id
            found.node_id[chosen] = occurrence.node_id
            row = rows.Launch(
                launch_id=launch_id,
                run_id=run_id,
                graph_id=graph.graph_id,
                graph_exec_id=None,
                side="stream",
                ordinal=ordinal,
            )
            found.launches.append(_with_times(row, eager, chosen))
    return found


def _has_cycle(edges: IntArray) -> bool:
    ends, places = np.unique(edges, return_inverse=True)
    pairs: list[list[int]] = places.reshape(-1, 2).tolist()
    return bool(find_cycle(len(ends), ((a, b) for a, b in pairs)))


def _with_times(row: rows.Launch, eager: EagerWork, chosen: IntArray) -> rows.Launch:
    """Return an iteration's row with its times and places."""
    called, returned = eager.called_ns[chosen], eager.returned_ns[chosen]
    called, returned = called[called != UNKNOWN], returned[returned != UNKNOWN]
    thread = int(eager.thread_id[chosen[0]])
    return replace(
        row,
        host_start_ns=int(called.min()) if len(called) else None,
        host_end_ns=int(returned.max()) if len(returned) else None,
        thread_id=None if thread == UNKNOWN else thread,
        stream_id=int(eager.stream_id[chosen[0]]),
        node_level=1,
        gpu_start_ns=int(eager.start_ns[chosen].min()),
        gpu_end_ns=int(eager.end_ns[chosen].max()),
        span_count=len(chosen),
    )
