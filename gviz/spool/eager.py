"""The eager side: work outside graphs, and its match with the graphs' nodes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gviz.cycle import find_cycle
from gviz.matching import Work, match_occurrences
from gviz.node_type import TIMED_TYPES, NodeType
from gviz.recording import rows
from gviz.spool.contents import CallRecord, Contents
from gviz.spool.graphs import FoldedGraph, Graphs, operation_name
from gviz.spool.kernels import KernelTable


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


def match_eager(
    operations: list[rows.StreamOperation], graphs: Graphs, first_launch_id: int
) -> tuple[list[rows.StreamOperation], list[rows.Launch]]:
    """Match operations with graphs' nodes; return the operations anew and stream-side launches.

    Graphs are taken in order of creation; an operation belongs to one graph at most.
    """
    launches: list[rows.Launch] = []
    matched = list(operations)
    for level in list(graphs.levels.values()):
        if level.row.origin == "body":
            continue
        free = [i for i, op in enumerate(matched) if op.launch_id is None]
        nodes = [n for n in level.nodes.values() if n.type in TIMED_TYPES]
        if not nodes or len(free) < len(nodes) // 2:
            continue
        work = [matched[i] for i in free]
        if _has_cycle(level):
            continue  # a damaged spool: there is no order to look for
        occurrences = match_occurrences(
            Work.from_rows(nodes),
            np.array([n.node_id for n in nodes], np.int64),
            level.edges[:, :2],
            Work.from_rows(work),
            np.array([op.host_start_ns or op.start_ns for op in work], np.int64),
        )
        for ordinal, occurrence in enumerate(occurrences):
            launch_id = first_launch_id + len(launches)
            chosen = [free[i] for i in occurrence.operation_index.tolist()]
            for i, node_id in zip(chosen, occurrence.node_id.tolist(), strict=True):
                matched[i] = replace(matched[i], launch_id=launch_id, node_id=node_id)
            launches.append(
                _stream_launch([matched[i] for i in chosen], level, launch_id, ordinal, graphs)
            )
    return matched, launches


def _has_cycle(level: FoldedGraph) -> bool:
    ends, places = np.unique(level.edges[:, :2], return_inverse=True)
    pairs: list[list[int]] = places.reshape(-1, 2).tolist()
    return bool(find_cycle(len(ends), ((a, b) for a, b in pairs)))


def _stream_launch(
    operations: list[rows.StreamOperation],
    level: FoldedGraph,
    launch_id: int,
    ordinal: int,
    graphs: Graphs,
) -> rows.Launch:
    starts = [op.host_start_ns for op in operations if op.host_start_ns is not None]
    ends = [op.host_end_ns for op in operations if op.host_end_ns is not None]
    return rows.Launch(
        launch_id=launch_id,
        run_id=graphs.run_id,
        graph_id=level.row.graph_id,
        graph_exec_id=None,
        side="stream",
        ordinal=ordinal,
        host_start_ns=min(starts, default=None),
        host_end_ns=max(ends, default=None),
        thread_id=operations[0].thread_id,
        stream_id=operations[0].stream_id,
        node_level=1,
        gpu_start_ns=min(op.start_ns for op in operations),
        gpu_end_ns=max(op.start_ns + op.duration_ns for op in operations),
        span_count=len(operations),
    )
