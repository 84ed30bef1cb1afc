"""Estimate of the time that a CUDA graph of an eager iteration would take."""

from __future__ import annotations

import numpy as np

from gviz.analysis.launch_costs.recorded import LaunchCosts
from gviz.dataclass import dataclass
from gviz.stats import IntArray, gaps, union

#: What CUPTI gives for an empty kernel (H100; csrc/events/calibrate.c has the same for one
#: that stores a word a thread). The cost line's time a kernel is this and the gap to the next.
_EMPTY_KERNEL_NS = 832


@dataclass(frozen=True, slots=True)
class Forecast:
    """An iteration as it was, and as a graph would do it; nanoseconds.

    Attributes
    ----------
    stream_ns
        From the first operation's start on the GPU to the last one's end, as recorded.
    busy_ns
        Of it, how long at least one operation ran.
    graph_ns
        The same as a graph: busy, and every gap closed to what lies between a graph's nodes;
        without what operations waited for other processes.
    gap_ns
        What lies between a graph's nodes, from the launch costs.
    stream_host_ns
        From the first call's entry to the last one's return, as recorded; None: unknown.
    graph_host_ns
        Host time of launching the graph; None: not among the launch costs.
    """

    stream_ns: int
    busy_ns: int
    graph_ns: float
    gap_ns: float
    stream_host_ns: int | None
    graph_host_ns: float | None

    @property
    def gain(self) -> float:
        """Return how many times faster the graph would be."""
        return self.stream_ns / self.graph_ns


def forecast_iteration(
    start_ns: IntArray,
    duration_ns: IntArray,
    costs: LaunchCosts,
    *,
    host_ns: tuple[int, int] | None = None,
    waited_ns: IntArray | None = None,
) -> Forecast | None:
    """Forecast a graph of one iteration; None where the launch costs lack what it needs.

    A graph does the same operations; between them lies no more than the launch costs say of a
    straight line, where the stream's host was late. Overlap of streams stays as it was.

    Parameters
    ----------
    start_ns, duration_ns
        Of the pass's operations on the GPU, int64 arrays in order of start.
    costs
        Launch costs of the GPU.
    host_ns
        When the first call was entered and the last one returned.
    waited_ns
        Of each operation, how long it waited for other processes before its own work; None: none.
    """
    line = costs.line("relaunch", "device")
    if line is None or not len(start_ns):
        return None
    gap = max(0.0, line.per_node_ns - _EMPTY_KERNEL_NS)
    end_ns = start_ns + duration_ns
    begin, finish = int(start_ns.min()), int(end_ns.max())
    waits = _idle_ns(start_ns, end_ns, begin, finish)
    closed = waits if waited_ns is None else _idle_ns(start_ns + waited_ns, end_ns, begin, finish)
    length = finish - begin
    host = costs.line("relaunch", "host")
    return Forecast(
        stream_ns=length,
        busy_ns=length - int(waits.sum()),
        graph_ns=length - float(np.maximum(closed - gap, 0).sum()),
        gap_ns=gap,
        stream_host_ns=None if host_ns is None else host_ns[1] - host_ns[0],
        graph_host_ns=None if host is None else host.cost_ns(len(start_ns)),
    )


def _idle_ns(start_ns: IntArray, end_ns: IntArray, begin: int, finish: int) -> IntArray:
    """Return the lengths of the times in which nothing runs."""
    idle = gaps(union(start_ns, end_ns), begin, finish)
    lengths: IntArray = idle.end_ns - idle.start_ns
    return lengths
