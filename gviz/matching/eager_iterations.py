"""Eager iterations of graphs' work among stream operations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gviz.cuda import TIMED_TYPES
from gviz.dag import find_cycle
from gviz.dataclass import dataclass
from gviz.matching.occurrences import Work, match_occurrences
from gviz.stats import UNKNOWN, IntArray

#: An eager iteration of a graph's work, with the names of columns of table launch; ``ordinal``
#: counts those of its graph. UNKNOWN: not known.
EAGER_ITERATION = np.dtype(
    [
        ("graph_id", "<i8"), ("ordinal", "<i8"), ("host_start_ns", "<i8"),
        ("host_end_ns", "<i8"), ("thread_id", "<i8"), ("stream_id", "<i8"),
        ("gpu_start_ns", "<i8"), ("gpu_end_ns", "<i8"), ("span_count", "<i8"),
    ]
)  # fmt: skip


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


@dataclass(frozen=True, slots=True)
class EagerMatch:
    """Operations that did a graph's work.

    Attributes
    ----------
    iterations
        dtype EAGER_ITERATION, in order of the graphs.
    iteration, node_id
        Place of each operation's iteration, and node, int64; -1: none.
    """

    iterations: npt.NDArray[np.void]
    iteration: IntArray
    node_id: IntArray


def match_eager(eager: EagerWork, graphs: Sequence[CapturedWork]) -> EagerMatch:
    """Match operations with graphs' nodes.

    Graphs are taken in the order given; an operation belongs to one graph at most.

    Parameters
    ----------
    eager
        The operations.
    graphs
        The graphs, in order of creation.
    """
    iteration = np.full(len(eager), UNKNOWN, np.int64)
    node_id = np.full(len(eager), UNKNOWN, np.int64)
    found: list[tuple[int, ...]] = []
    order = np.where(eager.called_ns > 0, eager.called_ns, eager.start_ns)
    for graph in graphs:
        free = np.flatnonzero(iteration == UNKNOWN)
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
            chosen = free[occurrence.operation_index]
            iteration[chosen] = len(found)
            node_id[chosen] = occurrence.node_id
            found.append((graph.graph_id, ordinal, *_times(eager, chosen)))
    return EagerMatch(np.array(found, EAGER_ITERATION), iteration, node_id)


def _has_cycle(edges: IntArray) -> bool:
    ends, places = np.unique(edges, return_inverse=True)
    pairs: list[list[int]] = places.reshape(-1, 2).tolist()
    return bool(find_cycle(len(ends), ((a, b) for a, b in pairs)))


def _times(eager: EagerWork, chosen: IntArray) -> tuple[int, ...]:
    """Return the fields of an iteration's times and places, from ``host_start_ns`` on."""
    called, returned = eager.called_ns[chosen], eager.returned_ns[chosen]
    called, returned = called[called != UNKNOWN], returned[returned != UNKNOWN]
    return (
        int(called.min()) if len(called) else UNKNOWN,
        int(returned.max()) if len(returned) else UNKNOWN,
        int(eager.thread_id[chosen[0]]),
        int(eager.stream_id[chosen[0]]),
        int(eager.start_ns[chosen].min()),
        int(eager.end_ns[chosen].max()),
        len(chosen),
    )
