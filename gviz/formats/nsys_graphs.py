"""Graphs in an export of Nsight Systems: how they came to be."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from gviz.formats.traces import NODE_BITS, NODE_MASK, ExecFacts, Trace, integer, size

#: Columns of the tables that have it. Releases until 2023 have those of nodes in the table that
#: later ones have for graphs.
GRAPH_EVENTS = ("CUDA_GRAPH_NODE_EVENTS", "CUDA_GRAPH_EVENTS")
GRAPH_COLUMNS = (
    "start", "globalTid", "graphNodeId", "originalGraphNodeId", "graphId", "graphExecId",
)  # fmt: skip
#: Clones of clones of a graph's nodes that are followed.
_MOST_CLONES = 16
#: A process and a thread in it.
_Thread = tuple[int, int]


class GraphOrigins:
    """Takes creations of nodes and executables in, of all processes, and adds them to traces."""

    def __init__(self) -> None:
        self._original: dict[tuple[int, int], int] = {}
        self._created: dict[tuple[int, int], tuple[int, int]] = {}
        self._execs: dict[tuple[int, int], tuple[int, _Thread, int | None]] = {}
        self._calls: dict[_Thread, list[tuple[int, int]]] = defaultdict(list)
        self._templates: dict[tuple[int, int], int] = {}

    def add_instantiation(self, thread: _Thread, interval: tuple[int, int]) -> None:
        """Take a call in that instantiates a graph."""
        self._calls[thread].append(interval)

    def add_launch(self, process: int, exec_id: Any, graph_id: Any) -> None:
        """Take the graph in that a launched executable was made of."""
        made, of = size(exec_id, NODE_MASK), size(graph_id, NODE_MASK)
        if made and of:
            self._templates.setdefault((process, made), of)

    def add_event(self, thread: _Thread, time: int, ids: tuple[Any, Any, Any, Any]) -> None:
        """Take a row of GRAPH_COLUMNS in, from ``graphNodeId`` on."""
        node, of, graph_id, exec_id = ids
        process, tid = thread
        number, parent = integer(node), integer(of)
        if number is not None:
            if parent:
                self._original[process, number] = parent
            else:
                self._created.setdefault((process, number), (time, tid))
        elif made := size(exec_id, NODE_MASK):
            self._execs.setdefault((process, made), (time, thread, size(graph_id, NODE_MASK)))

    def add_to(self, traces: Mapping[int, Trace]) -> None:
        """Add to the traces, by process, the creations of their nodes and executables."""
        for process, number in self._original:
            at = number
            for _ in range(_MOST_CLONES):
                at = self._original.get((process, at), at)
            made = self._created.get((process, at))
            if made is not None and process in traces and 0 <= number < 1 << 64:
                traces[process].created[number >> NODE_BITS, number & NODE_MASK] = made
        for (process, exec_id), graph_id in self._templates.items():
            if process in traces:
                traces[process].execs[exec_id] = ExecFacts(graph_id)
        for calls in self._calls.values():
            calls.sort()
        for (process, exec_id), (time, thread, made_of) in self._execs.items():
            if process in traces:
                call = self._call_around(thread, time)
                template = made_of or self._templates.get((process, exec_id))
                traces[process].execs[exec_id] = ExecFacts(template, call, thread[1])

    def _call_around(self, thread: _Thread, time: int) -> tuple[int, int] | None:
        """Return the innermost call that was open on a thread; None: there is none."""
        calls = self._calls.get(thread, [])
        for begin, end in reversed(calls[: bisect_right(calls, (time, time))][-_MOST_CLONES:]):
            if begin <= time <= end:
                return begin, end
        return None
