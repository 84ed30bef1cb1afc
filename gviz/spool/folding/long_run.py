"""Rows of what a long run keeps beside launches with their spans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from gviz.recording import encode, rows
from gviz.spool.folding.graphs import Graphs
from gviz.spool.folding.launches import Spans
from gviz.spool.folding.node_keys import NodeKeys
from gviz.spool.streams import MEASURES, Contents, LaunchStream
from gviz.stats import (
    RELATIVE_ERROR,
    DurationSketch,
    IntArray,
    NodeStatisticsArrays,
    node_statistics,
)

#: Rows that are Python integers at one time.
_PIECE = 16_384


def plain_rows(
    stream: LaunchStream, graphs: Graphs, first_id: int, ordinals: IntArray
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of launches without spans, for RecordingWriter.insert_tuples.

    Parameters
    ----------
    first_id
        The launch_id of the first; the others follow.
    ordinals
        Of each (int64).
    """
    execs = graphs.execs
    for first in range(0, len(stream.plain), _PIECE):
        piece = stream.plain[first : first + _PIECE]
        places = zip(count(first_id + first), ordinals[first : first + _PIECE].tolist())
        for (launch_id, ordinal), launch in zip(places, piece.tolist(), strict=False):
            exec_id, correlation, called, took, event, start, end, thread, on, level = launch
            row, timed = execs[exec_id], start > 0
            yield (
                launch_id, graphs.run_id, row.graph_id, row.graph_exec_id, "graph", ordinal,
                called, called + took, thread, None if on < 0 else on, correlation, level,
                start if timed else None, end if timed else None, None if event < 0 else event,
                0, 0, "cupti" if timed else None,
            )  # fmt: skip


def bin_rows(stream: LaunchStream, graphs: Graphs) -> Iterator[rows.LaunchBin]:
    """Yield the launches without a row, counted in intervals of time."""
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
    binned = stream.counts.total() - len(stream.plain)
    if binned:
        yield Remark("launches_without_row", float(binned), "launches", rule)
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
    keys: NodeKeys, spans: Spans | None, streamed: DurationSketch, graphs: Graphs
) -> Iterator[tuple[Any, ...]]:
    """Yield a graph's rows of node_statistics, from spans and from nodes without a span row.

    Nodes of which every execution is a row have exact quantiles.

    Parameters
    ----------
    keys
        Of the graph's nodes.
    spans
        Of the graph's launches.
    streamed
        Durations of the others, by graph_node_id.
    """
    exact = _of_spans(spans)
    nodes = exact.node_id
    own = dict(zip(nodes.tolist(), exact.to_tuples(*keys.find(nodes)), strict=True))
    names = _nodes_of(keys.top_id, streamed, graphs)
    if names:
        sketch = DurationSketch()
        sketch.merge(streamed, names)
        added = dict(zip(sketch.groups.tolist(), sketch.counts.tolist(), strict=True))
        if spans is not None:
            too = np.isin(spans.exec_node_id, sketch.groups)
            sketch.add(spans.exec_node_id[too], spans.duration_ns[too])
        own |= _of_sketch(sketch, added, own, keys)
    yield from sorted(own.values())


def _of_sketch(
    sketch: DurationSketch,
    added: Mapping[int, int],
    exact: Mapping[int, tuple[Any, ...]],
    keys: NodeKeys,
) -> dict[int, tuple[Any, ...]]:
    """Return the rows of nodes by id in the executable, with quantiles of a sketch."""
    counts, totals = sketch.counts.tolist(), sketch.totals.tolist()
    quantiles = [sketch.quantile(fraction).tolist() for fraction in (0.5, 0.05, 0.95)]
    least, most = sketch.least.tolist(), sketch.most.tolist()
    graph_id, node_id = (column.tolist() for column in keys.find(sketch.groups))
    found: dict[int, tuple[Any, ...]] = {}
    for i, node in enumerate(sketch.groups.tolist()):
        # Deviation and start are only known of spans that are rows.
        spread = exact[node][9:11] if node in exact else (None, None)
        found[node] = (
            graph_id[i], node_id[i], counts[i], totals[i], *(q[i] for q in quantiles), least[i],
            most[i], *spread, added[node], RELATIVE_ERROR,
        )  # fmt: skip
    return found


def _of_spans(spans: Spans | None) -> NodeStatisticsArrays:
    if spans is None:
        none = np.zeros(0, np.int64)
        return node_statistics(none, none, none)
    return node_statistics(spans.exec_node_id, spans.duration_ns, spans.start_ns)


def _nodes_of(graph_id: int, streamed: DurationSketch, graphs: Graphs) -> dict[int, int]:
    """Return the node id of each graph_node_id of a graph's executables."""
    execs = {e for e, row in graphs.execs.items() if row.graph_id == graph_id}
    return {group: group & 0xFFFFFFFF for group in streamed.groups.tolist() if group >> 32 in execs}
