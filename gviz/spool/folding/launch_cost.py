"""The cost of node level: each executable's launches with and without it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from gviz.dataclass import dataclass
from gviz.recording import rows
from gviz.runs import Rows
from gviz.spool.folding.graphs import Graphs
from gviz.spool.folding.launches import FoldedLaunches
from gviz.spool.streams import LaunchStream
from gviz.stats import UNKNOWN, IntArray

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
    for exec_id, found in _by_executable(launches, stream, graphs):
        if (found.node_level == 1).any():
            yield from (_cost(exec_id, level, found) for level in (0, 1))


@dataclass(frozen=True, slots=True)
class PlainTimes:
    """Times of an executable's launches without node level, after its first.

    Attributes
    ----------
    event_ns
        Median between two events around the launch.
    host_ns
        Median of the call, of the same launches.
    count
        How many there are.
    """

    event_ns: float
    host_ns: float
    count: int


def plain_times(
    launches: FoldedLaunches, stream: LaunchStream, graphs: Graphs
) -> dict[int, PlainTimes]:
    """Return what each executable's launches take as they are, by ``graph_exec_id``."""
    found = {}
    for exec_id, own in _by_executable(launches, stream, graphs):
        timed = (own.node_level == 0) & (own.event_ns >= 0)
        if timed.any():
            event_ns, host_ns = (float(np.median(x[timed])) for x in (own.event_ns, own.host_ns))
            found[exec_id] = PlainTimes(event_ns, host_ns, int(timed.sum()))
    return found


def _by_executable(
    launches: FoldedLaunches, stream: LaunchStream, graphs: Graphs
) -> Iterator[tuple[int, _Launches]]:
    _, plain_exec = graphs.ids_of(stream.plain["exec_id"])
    own, plain = _by_exec(launches.launches["graph_exec_id"]), _by_exec(plain_exec)
    nothing = np.zeros(0, np.intp)
    for exec_id in sorted(own.keys() | plain.keys()):
        yield (
            exec_id,
            _columns(
                launches.launches[own.get(exec_id, nothing)],
                stream.plain[plain.get(exec_id, nothing)],
            ),
        )


@dataclass(frozen=True, slots=True)
class _Launches:
    """An executable's launches after its first, which uploads the graph."""

    host_ns: IntArray
    event_ns: IntArray
    node_level: IntArray


def _by_exec(exec_ids: IntArray) -> dict[int, npt.NDArray[np.intp]]:
    """Return the places of each executable."""
    order = np.argsort(exec_ids, kind="stable")
    ids, first = np.unique(exec_ids[order], return_index=True)
    return dict(zip(ids.tolist(), np.split(order, first[1:]), strict=False))


def _columns(launches: Rows, plain: npt.NDArray[np.void]) -> _Launches:
    host = launches["host_end_ns"] - launches["host_start_ns"]
    own = (launches["host_start_ns"], host, launches["event_duration_ns"], launches["node_level"])
    called, host, event, level = (
        np.concatenate([column, plain[name]]) for column, name in zip(own, _COLUMNS, strict=True)
    )
    level[np.argmin(called)] = UNKNOWN
    return _Launches(host, event, level)


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
