"""Rows of what a long run keeps beside its rows of launches and spans."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gviz.recording import encode, rows
from gviz.spool.folding.graphs import Graphs
from gviz.spool.folding.launches import Spans
from gviz.spool.streams import MEASURES, Contents, LaunchStream
from gviz.stats import RELATIVE_ERROR, DurationSketch, NodeStatisticsArrays, node_statistics


def block_rows(stream: LaunchStream, graphs: Graphs) -> Iterator[rows.LaunchBlock]:
    """Yield the launches that have no row, as blocks of columns."""
    numbers: dict[int, int] = {}
    for block in stream.blocks:
        exec_id = graphs.execs[block.exec_id].graph_exec_id
        number = numbers[exec_id] = numbers.get(exec_id, -1) + 1
        yield rows.LaunchBlock(
            graph_exec_id=exec_id,
            block=number,
            count=block.count,
            first_start_ns=block.first_start_ns,
            **block.columns,
        )


def bin_rows(stream: LaunchStream, graphs: Graphs) -> Iterator[rows.LaunchBin]:
    """Yield the launches beyond those, counted in intervals of time."""
    for bin_ in stream.bins.bins():
        yield rows.LaunchBin(
            graph_exec_id=graphs.execs[bin_.key.exec_id].graph_exec_id,
            measure=MEASURES[bin_.key.measure],
            node_level=bin_.key.node_level,
            start_ns=bin_.start_ns,
            count=int(bin_.histogram.count.sum()),
            total_ns=bin_.total_ns,
            min_ns=bin_.least_ns,
            max_ns=bin_.most_ns,
            bucket=encode(bin_.histogram.bucket, differences=True),
            bucket_count=encode(bin_.histogram.count),
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
    if stream.counts:
        yield Remark("launches_without_row", float(stream.counts.total()), "launches", rule)
    streamed = int(activities.nodes.counts.sum())
    if streamed:
        yield Remark("spans_without_row", float(streamed), "records", rule)
    if len(stream.bins):
        yield Remark(
            "launch_bin_interval_ns", float(stream.bins.interval_ns), "ns",
            "rule: launches beyond the run's first "
            f"{contents.limits.block_launches * contents.limits.single_blocks:,} are counted by "
            "executable and time of the call in bins this long",
        )  # fmt: skip
    if activities.operations_left_out:
        yield Remark(
            "stream_operations_left_out", float(activities.operations_left_out), "records",
            f"rule: the first {contents.limits.operations:,} records outside graphs are kept",
        )  # fmt: skip
    if contents.nvtx_ranges_left_out:
        yield Remark(
            "nvtx_ranges_left_out", float(contents.nvtx_ranges_left_out), "ranges",
            f"rule: the first {len(contents.nvtx_ranges):,} ranges of the host are kept",
        )  # fmt: skip


# -- statistics of nodes ---------------------------------------------------------------------


def statistics_rows(
    graph_id: int, spans: Spans | None, streamed: DurationSketch, graphs: Graphs
) -> Iterator[tuple[Any, ...]]:
    """Yield a graph's rows of node_statistics, from spans and from nodes without a span row.

    Nodes of which every execution is a row have exact quantiles.

    Parameters
    ----------
    streamed
        Durations of the others, by graph_node_id.
    """
    exact = _of_spans(spans)
    names = _nodes_of(graph_id, streamed, graphs)
    if not names:
        yield from exact.to_tuples(graph_id)
        return
    sketch = DurationSketch()
    sketch.merge(streamed, names)
    added = dict(zip(sketch.groups.tolist(), sketch.counts.tolist(), strict=True))
    if spans is not None:
        too = np.isin(spans.node_id, sketch.groups)
        sketch.add(spans.node_id[too], spans.duration_ns[too])
    own = {row[1]: row for row in exact.to_tuples(graph_id)}
    counts, totals = sketch.counts.tolist(), sketch.totals.tolist()
    quantiles = [sketch.quantile(fraction).tolist() for fraction in (0.5, 0.05, 0.95)]
    least, most = sketch.least.tolist(), sketch.most.tolist()
    for i, node in enumerate(sketch.groups.tolist()):
        # Deviation and start are only known of spans that are rows.
        spread = own[node][9:11] if node in own else (None, None)
        own[node] = (
            graph_id, node, counts[i], totals[i], *(q[i] for q in quantiles), least[i], most[i],
            *spread, added[node], RELATIVE_ERROR,
        )  # fmt: skip
    for node in sorted(own):
        yield own[node]


def _of_spans(spans: Spans | None) -> NodeStatisticsArrays:
    if spans is None:
        none = np.zeros(0, np.int64)
        return node_statistics(none, none, none)
    return node_statistics(spans.node_id, spans.duration_ns, spans.start_ns)


def _nodes_of(graph_id: int, streamed: DurationSketch, graphs: Graphs) -> dict[int, int]:
    """Return the node id of each graph_node_id of a graph's executables."""
    execs = {e for e, row in graphs.execs.items() if row.graph_id == graph_id}
    return {group: group & 0xFFFFFFFF for group in streamed.groups.tolist() if group >> 32 in execs}
