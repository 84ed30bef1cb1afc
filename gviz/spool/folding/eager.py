"""Work outside graphs, from activity records."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gviz.cuda import NodeType, short_name
from gviz.matching import UNKNOWN
from gviz.runs import KernelFunctions, OutsideOperations, operation_name
from gviz.spool.streams import Contents
from gviz.stats import BoolArray, IntArray


def fold_operations(
    contents: Contents, activities: npt.NDArray[np.void], kernels: KernelFunctions
) -> OutsideOperations:
    """Return the work outside graphs, in order of GPU start.

    Parameters
    ----------
    activities
        Valid records with ``graph_node_id`` 0 (dtype ACTIVITY), ordered by start.
    """
    is_kernel = activities["type"] == NodeType.KERNEL
    symbols = [
        contents.strings.get(pointer, "?") if kernel else None
        for pointer, kernel in zip(activities["name"].tolist(), is_kernel.tolist(), strict=True)
    ]
    copy_kind = _known(activities["copy_kind"], ~is_kernel & (activities["copy_kind"] != 0))
    calls = {call.correlation: call for call in contents.calls}
    made = [calls.get(correlation) for correlation in activities["correlation_id"].tolist()]
    host = np.array(
        [(UNKNOWN,) * 3 if c is None else (c.start_ns, c.end_ns, c.thread_id) for c in made],
        np.int64,
    ).reshape(-1, 3)
    return OutsideOperations(
        type=activities["type"].astype(np.int64),
        names=[
            operation_name(kind, max(direction, 0)) if symbol is None else short_name(symbol)
            for symbol, kind, direction in zip(
                symbols, activities["type"].tolist(), copy_kind.tolist(), strict=True
            )
        ],
        start_ns=activities["start_ns"],
        end_ns=activities["end_ns"],
        stream_id=activities["stream_id"].astype(np.int64),
        device_id=activities["device_id"].astype(np.int64),
        correlation_id=activities["correlation_id"].astype(np.int64),
        function_id=_functions(activities, symbols, kernels),
        grid=_known(activities["grid"], is_kernel[:, None]),
        block=_known(activities["block"], is_kernel[:, None]),
        shared_mem_bytes=_known(activities["shared_mem_bytes"], is_kernel),
        bytes=_known(activities["bytes"], ~is_kernel),
        copy_kind=copy_kind,
        host_start_ns=host[:, 0],
        host_end_ns=host[:, 1],
        thread_id=host[:, 2],
    )


def _functions(
    activities: npt.NDArray[np.void], symbols: list[str | None], kernels: KernelFunctions
) -> IntArray:
    resources = (activities[name].tolist() for name in ("registers", "static_shared_mem_bytes"))
    return np.array(
        [
            UNKNOWN if symbol is None else kernels.number(symbol, registers, static_shared)
            for symbol, registers, static_shared in zip(symbols, *resources, strict=True)
        ],
        np.int64,
    )


def _known(column: npt.NDArray[np.integer], where: BoolArray) -> IntArray:
    return np.where(where, column.astype(np.int64), UNKNOWN)
