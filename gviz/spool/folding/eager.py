"""Work outside graphs, from activity records."""

from __future__ import annotations

import numpy as np

from gviz.cuda import NodeType, short_name
from gviz.runs import Activities, KernelFunctions, OutsideOperations, operation_name
from gviz.spool.streams import Contents
from gviz.stats import UNKNOWN, IntArray


def fold_operations(
    contents: Contents, activities: Activities, kernels: KernelFunctions
) -> OutsideOperations:
    """Return the work outside graphs, in order of GPU start.

    Parameters
    ----------
    activities
        Valid records outside graphs (dtype ACTIVITY), ordered by start.
    """
    is_kernel = activities["type"] == NodeType.KERNEL
    symbols = [
        contents.strings.get(pointer, "?") if kernel else None
        for pointer, kernel in zip(activities["name"].tolist(), is_kernel.tolist(), strict=True)
    ]
    calls = {call.correlation: call for call in contents.calls}
    made = [calls.get(correlation) for correlation in activities["correlation_id"].tolist()]
    host = np.array(
        [(UNKNOWN,) * 3 if c is None else (c.start_ns, c.end_ns, c.thread_id) for c in made],
        np.int64,
    ).reshape(-1, 3)
    return OutsideOperations(
        type=activities["type"],
        names=[
            operation_name(kind, max(direction, 0)) if symbol is None else short_name(symbol)
            for symbol, kind, direction in zip(
                symbols, *(activities[name].tolist() for name in ("type", "copy_kind")), strict=True
            )
        ],
        start_ns=activities["start_ns"],
        end_ns=activities["end_ns"],
        stream_id=activities["stream_id"],
        device_id=activities["device_id"],
        correlation_id=activities["correlation_id"],
        function_id=_functions(activities, symbols, kernels),
        grid=activities["grid"],
        block=activities["block"],
        shared_mem_bytes=activities["shared_mem_bytes"],
        bytes=activities["bytes"],
        copy_kind=activities["copy_kind"],
        host_start_ns=host[:, 0],
        host_end_ns=host[:, 1],
        thread_id=host[:, 2],
    )


def _functions(
    activities: Activities, symbols: list[str | None], kernels: KernelFunctions
) -> IntArray:
    resources = (activities[name].tolist() for name in ("registers", "static_shared_mem_bytes"))
    return np.array(
        [
            UNKNOWN if symbol is None else kernels.number(symbol, registers, static_shared)
            for symbol, registers, static_shared in zip(symbols, *resources, strict=True)
        ],
        np.int64,
    )
