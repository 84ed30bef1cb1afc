"""The cost of node level: each executable's launches with and without it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gviz.recording import rows
from gviz.spool.folding.graphs import Graphs
from gviz.spool.folding.launches import FoldedLaunches
from gviz.spool.streams import LaunchStream
from gviz.stats import IntArray

_COLUMNS = ("host_start_ns", "host_duration_ns", "event_duration_ns", "node_level")
_MEASURED = (
    "measured: median over launches after the executable's first; on the GPU between two events "
    "around the launch, on the host from the call's entry to its return"
)


def launch_costs(
    launches: FoldedLaunches, stream: LaunchStream, graphs: Graphs
) -> Iterator[rows.LaunchCost]:
    """Yield a row with and one without node level for each executable that has node times.

    Launches that are only binned do not count.
    """
    by_exec: dict[int, list[rows.Launch]] = {}
    for launch in launches.launches:
        by_exec.setdefault(launch.graph_exec_id or 0, []).append(launch)
    order = np.argsort(stream.plain["exec_id"], kind="stable")
    ids, first = np.unique(stream.plain["exec_id"][order], return_index=True)
    plain = {
        graphs.execs[exec_id].graph_exec_id: stream.plain[at]
        for exec_id, at in zip(ids.tolist(), np.split(order, first[1:]), strict=False)
    }
    for exec_id in sorted(set(by_exec) | set(plain)):
        found = _columns(by_exec.get(exec_id, []), plain.get(exec_id, stream.plain[:0]))
        if (found.node_level == 1).any():
            yield from (_cost(exec_id, level, found) for level in (0, 1))


@dataclass(frozen=True, slots=True)
class _Launches:
    """An executable's launches after its first, which uploads the graph; -1: not timed."""

    host_ns: IntArray
    event_ns: IntArray
    node_level: IntArray


def _columns(launches: list[rows.Launch], plain: npt.NDArray[np.void]) -> _Launches:
    table = _of_rows(launches)
    called, host, event, level = (
        np.concatenate([own, plain[name]]) for own, name in zip(table, _COLUMNS, strict=True)
    )
    level[np.argmin(called)] = -1
    return _Launches(host, event, level)


def _of_rows(launches: list[rows.Launch]) -> IntArray:
    found = [
        (
            launch.host_start_ns or 0,
            (launch.host_end_ns or 0) - (launch.host_start_ns or 0),
            -1 if launch.event_duration_ns is None else launch.event_duration_ns,
            launch.node_level,
        )
        for launch in launches
    ]
    return np.array(found, np.int64).reshape(len(found), 4).T


def _cost(exec_id: int, level: int, launches: _Launches) -> rows.LaunchCost:
    mine = launches.node_level == level
    host = launches.host_ns[mine]
    event = launches.event_ns[mine & (launches.event_ns >= 0)]
    which = "with node level" if level else "without node level"
    method = _MEASURED
    if not len(host):
        method = f"not measured: after its first launch the executable has none {which}"
    elif not len(event):
        method = f"not measured: no launch {which} was timed by events"
    return rows.LaunchCost(
        graph_exec_id=exec_id,
        node_level=level,
        count=len(event),
        gpu_median_ns=float(np.median(event)) if len(event) else None,
        host_count=len(host),
        host_median_ns=float(np.median(host)) if len(host) else None,
        method=method,
    )
