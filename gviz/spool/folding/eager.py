"""The eager side: work outside graphs, and its match with the graphs' nodes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gviz.cuda import NodeType
from gviz.matching import UNKNOWN, CapturedWork, EagerWork, match_eager
from gviz.recording import rows
from gviz.spool.folding.graphs import Graphs, operation_name
from gviz.spool.folding.kernels import KernelTable
from gviz.spool.records import CallRecord
from gviz.spool.streams import Contents


def fold_operations(
    contents: Contents, activities: npt.NDArray[np.void], kernels: KernelTable, run_id: int
) -> list[rows.StreamOperation]:
    """Return a row for each record outside graphs, in order of GPU start.

    Parameters
    ----------
    activities
        Valid records with ``graph_node_id`` 0 (dtype ACTIVITY), ordered by start.
    """
    calls = {call.correlation: call for call in contents.calls}
    return [
        _operation(number, record, calls.get(int(record["correlation_id"])), contents, kernels,
                   run_id)
        for number, record in enumerate(activities, start=1)
    ]  # fmt: skip


def _operation(
    number: int,
    record: np.void,
    call: CallRecord | None,
    contents: Contents,
    kernels: KernelTable,
    run_id: int,
) -> rows.StreamOperation:
    kind = int(record["type"])
    kernel = kind == NodeType.KERNEL
    copy_kind = int(record["copy_kind"]) or None
    start = int(record["start_ns"])
    row = rows.StreamOperation(
        operation_id=number,
        run_id=run_id,
        type=kind,
        name=operation_name(kind, copy_kind),
        start_ns=start,
        duration_ns=int(record["end_ns"]) - start,
        stream_id=int(record["stream_id"]),
        device_id=int(record["device_id"]),
        correlation_id=int(record["correlation_id"]),
        bytes=None if kernel else int(record["bytes"]),
        copy_kind=None if kernel else copy_kind,
        host_start_ns=call.start_ns if call else None,
        host_end_ns=call.end_ns if call else None,
        thread_id=call.thread_id if call else None,
    )
    if not kernel:
        return row
    mangled = contents.strings.get(int(record["name"]), "?")
    grid, block = record["grid"].tolist(), record["block"].tolist()
    return replace(
        row,
        name=kernels.short(mangled),
        function_id=kernels.from_activity(
            mangled, int(record["registers"]), int(record["static_shared_mem_bytes"])
        ),
        grid_x=grid[0], grid_y=grid[1], grid_z=grid[2],
        block_x=block[0], block_y=block[1], block_z=block[2],
        shared_mem_bytes=int(record["shared_mem_bytes"]),
    )  # fmt: skip


def match_passes(
    operations: list[rows.StreamOperation], graphs: Graphs, first_launch_id: int
) -> tuple[list[rows.StreamOperation], list[rows.Launch]]:
    """Match operations with graphs' nodes; return the operations anew and stream-side launches.

    Graphs are taken in order of creation; an operation belongs to one graph at most.
    """
    works = [
        CapturedWork(level.row.graph_id, list(level.nodes.values()), level.edges[:, :2])
        for level in graphs.levels.values()
        if level.row.origin != "body"
    ]
    found = match_eager(EagerWork.from_rows(operations), works, graphs.run_id, first_launch_id)
    matched = list(operations)
    for i in np.flatnonzero(found.launch_id != UNKNOWN).tolist():
        matched[i] = replace(
            matched[i], launch_id=int(found.launch_id[i]), node_id=int(found.node_id[i])
        )
    return matched, found.launches
