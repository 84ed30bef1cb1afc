"""The rows of launches that have no row of their own, and of what recording them cost."""

from __future__ import annotations

from dataclasses import dataclass

import gviz.recording.rows.recorded  # noqa: F401  # its tables come first in the file
from gviz.recording.rows.tables import column, table


@table("launch_block", primary_key=("graph_exec_id", "block"), without_rowid=True)
@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchBlock:
    """Launches of an executable that have no row in launch, as columns in order of arrival.

    Long runs only. The blobs hold integers, in the format of gviz/recording/int_column.py.
    """

    graph_exec_id: int = column("the executable", key="graph_exec")
    block: int = column("from 0, in order of arrival")
    count: int = column("launches in it")
    first_start_ns: int = column("earliest call in it")
    host_start: bytes = column("cuGraphLaunch entered, ns")
    host_duration: bytes = column("until the call returned, ns")
    event_duration: bytes = column("GPU time between two events around the launch, ns; -1: none")
    gpu_start: bytes = column("first node's start after host_start, ns; 0 without node times")
    gpu_duration: bytes = column("first node's start to last node's end, ns; -1: no node times")
    thread_id: bytes = column("calling thread")
    stream_id: bytes = column("launch stream (CUPTI id); -1: unknown")
    node_level: bytes = column("1: node times were recorded for it")


@table(
    "launch_bin",
    primary_key=("graph_exec_id", "measure", "node_level", "start_ns"),
    without_rowid=True,
)
@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchBin:
    """Launches beyond the run's first million, counted by when they were called.

    The bins of a run are equally long: measurement launch_bin_interval_ns says how long.
    """

    graph_exec_id: int = column("the executable", key="graph_exec")
    measure: str = column(
        "host (the call), event (between two events) or gpu (first node to last node)"
    )
    node_level: int = column("1: node times were recorded")
    start_ns: int = column("launches called from here on")
    count: int = column("launches that have this measure")
    total_ns: int = column("sum of their durations")
    min_ns: int = column("shortest")
    max_ns: int = column("longest")
    bucket: bytes = column(
        "buckets in use, of a logarithmic histogram (gviz/stats/sketch.py): "
        "integers as in launch_block"
    )
    bucket_count: bytes = column("durations in each of them; a bucket's value is within 1%")


@table("launch_cost", primary_key=("graph_exec_id", "node_level"), without_rowid=True)
@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchCost:
    """What a launch of an executable takes with and without node times: what recording costs."""

    graph_exec_id: int = column("the executable", key="graph_exec")
    node_level: int = column("0: no node times were taken, 1: they were")
    count: int = column("launches timed by events; the first one, which uploads, is left out")
    gpu_median_ns: float | None = column("median time between the events; NULL: none, see method")
    host_count: int = column("launch calls behind host_median_ns")
    host_median_ns: float | None = column("median duration of the call; NULL: none, see method")
    method: str = column("how it was measured, or why it was not")
