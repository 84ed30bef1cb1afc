"""Rows of launches that have no row of their own, and of what recording them cost."""

from __future__ import annotations

from gviz.recording.rows.tables import column, table


@table(
    "launch_bin",
    primary_key=("graph_exec_id", "measure", "node_level", "start_ns"),
    without_rowid=True,
)
class LaunchBin:
    """Launches without a row in launch, counted by when they were called.

    The bins of a run are equally long: measurement launch_bin_interval_ns says how long.
    """

    graph_exec_id: int = column("the executable", key="graph_exec")
    measure: str = column(
        "host (the call), event (between two events), gpu (first node to last node), or none: of "
        "these launches only the number is known"
    )
    node_level: int = column("1: node times were recorded")
    start_ns: int = column("launches called from here on")
    count: int = column("launches that have this measure")
    total_ns: int = column("sum of their durations; of none 0, as the next two")
    min_ns: int = column("shortest")
    max_ns: int = column("longest")
    bucket: bytes = column(
        "buckets in use, of a logarithmic histogram (gviz/stats/sketch.py): "
        "integers in the format of gviz/recording/int_column.py"
    )
    bucket_count: bytes = column("durations in each of them; a bucket's value is within 1%")


@table("launch_cost", primary_key=("graph_exec_id", "node_level"), without_rowid=True)
class LaunchCost:
    """The time of a launch with and without node times, by executable: the cost of recording."""

    graph_exec_id: int = column("the executable", key="graph_exec")
    node_level: int = column("0: no node times were taken, 1: they were")
    count: int = column("launches timed by events; the first one, which uploads, is left out")
    gpu_median_ns: float | None = column("median time between the events; NULL: none, see method")
    host_count: int = column("launch calls behind host_median_ns")
    host_median_ns: float | None = column("median duration of the call; NULL: none, see method")
    method: str = column("how it was measured, or why it was not")
