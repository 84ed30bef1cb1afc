"""Rows of what a long run keeps beside launches with their spans."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gviz.dataclass import dataclass
from gviz.recording import encode, rows
from gviz.runs import Rows, blank_rows, integers, text_where
from gviz.spool.folding.graphs import Graphs
from gviz.spool.streams import MEASURES, Contents, LaunchStream
from gviz.stats import UNKNOWN, DurationSketch, IntArray

#: Launches whose columns are made at one time.
_PIECE = 16_384


def plain_launches(stream: LaunchStream, graphs: Graphs, ordinals: IntArray) -> Iterator[Rows]:
    """Yield the launches without spans, some at a time, as columns of rows.Launch.

    Parameters
    ----------
    ordinals
        Of each (int64).
    """
    for first in range(0, len(stream.plain), _PIECE):
        piece = stream.plain[first : first + _PIECE]
        graph_id, graph_exec_id = graphs.ids_of(piece["exec_id"])
        timed = piece["gpu_start_ns"] > 0
        yield blank_rows(
            rows.Launch,
            len(piece),
            graph_id=graph_id,
            graph_exec_id=graph_exec_id,
            side="graph",
            ordinal=ordinals[first : first + _PIECE],
            host_start_ns=piece["host_start_ns"],
            host_end_ns=piece["host_start_ns"] + piece["host_duration_ns"],
            thread_id=piece["thread_id"],
            stream_id=piece["stream_id"],
            correlation_id=piece["correlation"],
            node_level=piece["node_level"],
            gpu_start_ns=np.where(timed, piece["gpu_start_ns"], UNKNOWN),
            gpu_end_ns=np.where(timed, piece["gpu_end_ns"], UNKNOWN),
            event_duration_ns=piece["event_duration_ns"],
            node_method=text_where(timed, "cupti"),
        )


def launch_bins(stream: LaunchStream, graphs: Graphs) -> Rows:
    """Return the launches without a row, counted in intervals of time (rows.LaunchBin)."""
    bins = list(stream.bins.bins())
    return blank_rows(
        rows.LaunchBin,
        len(bins),
        graph_exec_id=integers(graphs.execs[one.key.exec_id].graph_exec_id for one in bins),
        measure=[MEASURES[one.key.measure] for one in bins],
        node_level=integers(one.key.node_level for one in bins),
        start_ns=integers(one.start_ns for one in bins),
        count=integers(one.count for one in bins),
        total_ns=integers(one.total_ns for one in bins),
        min_ns=integers(one.least_ns for one in bins),
        max_ns=integers(one.most_ns for one in bins),
        bucket=[encode(one.histogram.bucket, differences=True) for one in bins],
        bucket_count=[encode(one.histogram.count) for one in bins],
    )


@dataclass(frozen=True, slots=True)
class Remark:
    """A measurement about the length of a run: name, value, unit, method."""

    name: str
    value: float
    unit: str
    method: str


def remarks(contents: Contents) -> Iterator[Remark]:
    """Yield what a long run's recording must say about itself; nothing for a short one."""
    stream, activities = contents.launch_stream, contents.activity_stream
    rule = contents.limits.to_text()
    binned = stream.counts.total() - len(stream.plain)
    if binned:
        yield Remark("launches_without_row", float(binned), "launches", rule)
    if passed := stream.passed.counts.total():
        yield Remark(
            "launches_counted", float(passed), "launches",
            "rule: without CUPTI, of an executable that is launched more often than every 5 ms one "
            "in that time is recorded after its first 100; the others are counted",
        )  # fmt: skip
    yield from _updates_counted(contents)
    streamed = int(activities.nodes.counts.sum())
    if streamed:
        yield Remark("spans_without_row", float(streamed), "records", rule)
    if len(stream.bins):
        yield Remark(
            "launch_bin_interval_ns", float(stream.bins.interval_ns), "ns",
            "rule: launches beyond the run's first "
            f"{contents.limits.row_launches:,} are counted by "
            "executable and time of the call in bins this long",
        )  # fmt: skip
    timed = contents.operation_stream
    if len(timed):
        yield Remark(
            "eager_times_at_most", float(timed.at_most), "number",
            f"measured: of {len(timed):,} calls outside graphs timed by events, those whose work "
            "began when the call had returned: their times are at most so long, by up to 4 µs",
        )  # fmt: skip
    left_out = activities.operations_left_out + contents.operation_stream.left_out
    if left_out:
        yield Remark(
            "stream_operations_left_out", float(left_out), "records",
            f"rule: the first {contents.limits.operations:,} records outside graphs are kept",
        )  # fmt: skip


# -- executions of nodes that are no spans ----------------------------------------------------


def counted_by_graph(streamed: DurationSketch, graphs: Graphs) -> dict[int, DurationSketch]:
    """Return durations of executions without a span row, by graph and id in the executable.

    Parameters
    ----------
    streamed
        The durations, by node_key.
    """
    groups: dict[int, dict[int, int]] = {}
    for group in streamed.groups.tolist():
        row = graphs.execs.get(group >> 32)
        if row is not None:
            groups.setdefault(row.graph_id, {})[group] = group & 0xFFFFFFFF
    found = {}
    for graph_id, names in groups.items():
        found[graph_id] = DurationSketch()
        found[graph_id].merge(streamed, names)
    return found


def _updates_counted(contents: Contents) -> Iterator[Remark]:
    passed = contents.life.updates_passed
    count = sum(one.updates for one in passed.values())
    timed = sum(
        update.calls
        for update in contents.life.updates
        if update.result == 0
        and (update.exec_id, update.node_id, update.call, update.graph_id) in passed
    )
    if count:
        yield Remark(
            "updates_counted", float(count), "updates",
            "rule: without CUPTI, of each node of an executable that has no copies the first 16 "
            "updates are timed, then one in 0.5 s; the others are counted, in graph_update each as "
            f"long as the mean of the timed ones: {timed:,} of {timed + count:,}",
        )  # fmt: skip
