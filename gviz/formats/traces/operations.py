"""Work of a trace outside of graphs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gviz.cuda import NodeType, short_name
from gviz.formats.traces.launches import FoldedTrace
from gviz.formats.traces.trace import Trace
from gviz.matching import CapturedWork
from gviz.runs import Activities, KernelFunctions, OutsideOperations, operation_name
from gviz.stats import UNKNOWN, BoolArray, IntArray

#: Nodes of all graphs times operations that are looked at: 3 to 20 s (bench/matching.py).
MOST_COMPARED = 10**9
#: OutsideOperations that are looked at: 0.2 GB while it lasts.
MOST_OPERATIONS = 500_000


def are_too_many(operations: OutsideOperations, graphs: Sequence[CapturedWork]) -> bool:
    """Return whether the operations and the nodes of graphs are too many to be compared."""
    nodes = sum(len(graph.node_id) for graph in graphs)
    count = len(operations)
    return nodes > 0 and (count > MOST_OPERATIONS or nodes * count > MOST_COMPARED)


def outside_work(trace: Trace, folded: FoldedTrace, kernels: KernelFunctions) -> OutsideOperations:
    """Return the work of a trace outside of graphs, in order of GPU start.

    Parameters
    ----------
    trace, folded
        The trace, and its work sorted.
    kernels
        Where kernels get their numbers.
    """
    work, call = folded.work.take(folded.operations), folded.operation_call
    is_kernel = work["type"] == NodeType.KERNEL
    function = _functions(trace, work, is_kernel, kernels)
    shared = work["shared_mem_bytes"]
    if trace.shared_memory_is_total:
        shared = shared - _static_shared(function, kernels)
    copy_kind = np.where(is_kernel, UNKNOWN, work["copy_kind"])
    shown = [short_name(name) for name in trace.names]

    def of_call(name: str) -> IntArray:
        if not len(folded.calls):
            return np.full(len(work), UNKNOWN, np.int64)
        return np.where(call >= 0, folded.calls[name][call], UNKNOWN)

    return OutsideOperations(
        type=work["type"],
        names=[
            shown[name] if kernel else operation_name(kind, optional(direction))
            for name, kernel, kind, direction in zip(
                *(x.tolist() for x in (work["name"], is_kernel, work["type"], copy_kind)),
                strict=True,
            )
        ],
        start_ns=work["start_ns"],
        end_ns=work["end_ns"],
        stream_id=np.maximum(work["stream_id"], 0),
        device_id=np.maximum(work["device_id"], 0),
        correlation_id=np.maximum(work["correlation_id"], 0),
        function_id=function,
        grid=np.where(is_kernel[:, None], work["grid"], UNKNOWN),
        block=np.where(is_kernel[:, None], work["block"], UNKNOWN),
        shared_mem_bytes=np.where(is_kernel, np.maximum(shared, UNKNOWN), UNKNOWN),
        bytes=np.where(is_kernel, UNKNOWN, work["bytes"]),
        copy_kind=copy_kind,
        host_start_ns=of_call("start_ns"),
        host_end_ns=of_call("end_ns"),
        thread_id=of_call("thread_id"),
    )


def _functions(
    trace: Trace, work: Activities, is_kernel: BoolArray, kernels: KernelFunctions
) -> IntArray:
    """Return the function of each kernel, with the registers of its first record."""
    found = np.full(len(work), UNKNOWN, np.int64)
    names, first, place = np.unique(work["name"][is_kernel], return_index=True, return_inverse=True)
    registers = work["registers"][is_kernel][first]
    numbers = [
        kernels.number(trace.names[name], optional(count))
        for name, count in zip(names.tolist(), registers.tolist(), strict=True)
    ]
    found[is_kernel] = np.array(numbers, np.int64)[place]
    return found


def _static_shared(function: IntArray, kernels: KernelFunctions) -> IntArray:
    ids, place = np.unique(function, return_inverse=True)
    sizes = [0 if i == UNKNOWN else kernels.static_shared(i) for i in ids.tolist()]
    return np.array(sizes, np.int64)[place]


def optional(number: int) -> int | None:
    """Return a number of a trace; None: it is not known."""
    return None if number == UNKNOWN else number
