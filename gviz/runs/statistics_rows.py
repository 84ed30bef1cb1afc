"""Rows of node_statistics: of spans that are rows, and of executions that are counted only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from gviz.runs.node_keys import NodeKeys
from gviz.runs.spans import Spans
from gviz.stats import (
    RELATIVE_ERROR,
    DurationSketch,
    NodeStatisticsArrays,
    node_statistics,
)


def statistics_rows(
    keys: NodeKeys, spans: Spans | None, counted: DurationSketch | None
) -> Iterator[tuple[Any, ...]]:
    """Yield a graph's rows of node_statistics, for RecordingWriter.insert_tuples.

    Nodes of which every execution is a row have exact quantiles.

    Parameters
    ----------
    keys
        Of the graph's nodes.
    spans
        Of the graph's launches.
    counted
        Durations of executions that are no rows, by the node's id in the executable.
    """
    exact = _of_spans(spans)
    nodes = exact.node_id
    own = dict(zip(nodes.tolist(), exact.to_tuples(*keys.find(nodes)), strict=True))
    if counted is not None:
        added = dict(zip(counted.groups.tolist(), counted.counts.tolist(), strict=True))
        if spans is not None:
            too = np.isin(spans.exec_node_id, counted.groups)
            counted.add(spans.exec_node_id[too], spans.duration_ns[too])
        own |= _of_sketch(counted, added, own, keys)
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
