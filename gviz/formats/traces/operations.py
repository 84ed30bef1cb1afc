"""Work outside of graphs: its rows, and the passes it makes over graphs' work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gviz.cuda import NodeType, short_name
from gviz.formats.traces.launches import FoldedTrace
from gviz.formats.traces.trace import UNKNOWN, Trace
from gviz.matching import CapturedWork, EagerMatch, EagerWork, Work, match_eager
from gviz.recording import KernelFunctions
from gviz.spool import operation_name
from gviz.stats import IntArray

#: Nodes of all graphs times operations that are looked at: 3 to 20 s (bench/matching.py).
MOST_COMPARED = 10**9
#: Operations that are looked at: 0.2 GB while it lasts.
MOST_OPERATIONS = 500_000
#: Rows that are Python objects at one time.
_PIECE = 65_536


class OutsideWork:
    """The operations of a trace outside of graphs.

    Parameters
    ----------
    trace, folded
        The trace, and its work sorted.
    kernels
        Where kernels get their numbers.
    """

    def __init__(self, trace: Trace, folded: FoldedTrace, kernels: KernelFunctions) -> None:
        self._trace = trace
        self._kernels = kernels
        self._work = folded.work[folded.operations]
        self._calls = folded.calls
        self._call = folded.operation_call

    def __len__(self) -> int:
        return len(self._work)

    def match(
        self, graphs: Sequence[CapturedWork], run_id: int, first_launch_id: int
    ) -> EagerMatch | None:
        """Match the operations with graphs' nodes; None: there are too many of both."""
        nodes = sum(len(graph.nodes) for graph in graphs)
        if nodes and (len(self) > MOST_OPERATIONS or nodes * len(self) > MOST_COMPARED):
            return None
        return match_eager(self._eager(), graphs, run_id, first_launch_id)

    def _eager(self) -> EagerWork:
        work = self._work
        function = np.full(len(work), UNKNOWN, np.int64)
        is_kernel = work["type"] == NodeType.KERNEL
        names, first, place = np.unique(
            work["name"][is_kernel], return_index=True, return_inverse=True
        )
        samples = np.flatnonzero(is_kernel)[first]
        numbers = [
            self._number(int(name), int(work["registers"][at]))
            for name, at in zip(names.tolist(), samples.tolist(), strict=True)
        ]
        function[is_kernel] = np.array(numbers, np.int64)[place]

        def shape(of: str) -> IntArray:
            return np.stack([work[f"{of}_{axis}"] for axis in "xyz"], axis=1)

        def told(name: str) -> IntArray:
            if not len(self._calls):
                return np.full(len(work), UNKNOWN, np.int64)
            return np.where(self._call >= 0, self._calls[name][self._call], UNKNOWN)

        return EagerWork(
            work=Work(
                type=work["type"],
                function_id=function,
                grid=shape("grid"),
                block=shape("block"),
                bytes=work["bytes"],
            ),
            start_ns=work["start_ns"],
            end_ns=work["end_ns"],
            called_ns=told("start_ns"),
            returned_ns=told("end_ns"),
            thread_id=told("thread_id"),
            stream_id=np.maximum(work["stream_id"], 0),
        )

    def _number(self, name: int, registers: int) -> int:
        return self._kernels.number(self._trace.names[name], told(registers))

    def rows(
        self, run_id: int, first: int, match: EagerMatch | None
    ) -> Iterator[tuple[object, ...]]:
        """Yield the rows of the operations, as tuples.

        Parameters
        ----------
        first
            The first operation_id.
        match
            Which of them did a graph's work; None: not looked for.
        """
        shown = [short_name(name) for name in self._trace.names]
        nothing = np.full(len(self), UNKNOWN, np.int64)
        launch, node = (nothing, nothing) if match is None else (match.launch_id, match.node_id)
        for begin in range(0, len(self), _PIECE):
            piece = slice(begin, begin + _PIECE)
            columns = (self._work, self._call, launch, node)
            each = zip(*(column[piece].tolist() for column in columns), strict=True)
            for number, (record, call, launch_id, node_id) in enumerate(each, first + begin):
                host = self._calls[call].tolist()[1:4] if call >= 0 else (None, None, None)
                common = (number, run_id, *self._row(record, shown), *host)
                yield (*common, told(launch_id), told(node_id))

    def _row(self, record: tuple[int, ...], shown: Sequence[str]) -> tuple[object, ...]:
        (kind, name, start, end, device, stream, correlation, _, _, *shape, shared, registers,
         size, copy_kind) = record  # fmt: skip
        placed = (start, end - start, max(stream, 0), max(device, 0), max(correlation, 0))
        if kind != NodeType.KERNEL:
            known_copy = told(copy_kind)
            shown_name = operation_name(kind, known_copy)
            return (kind, shown_name, *placed, *(None,) * 8, told(size), known_copy)
        function_id = self._number(name, registers)
        dynamic = shared
        if self._trace.shared_memory_is_total:
            dynamic = max(shared - self._kernels.static_shared(function_id), UNKNOWN)
        return (kind, shown[name], *placed, function_id, *map(told, shape), told(dynamic),
                None, None)  # fmt: skip


def told(number: int) -> int | None:
    """Return a number of a trace; None: it is not known."""
    return None if number == UNKNOWN else number
