"""The graph side of the timeline over many launches: their median, or all of them stacked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gviz.app.address import Order
from gviz.app.graph_level import GraphLevel
from gviz.app.idle_time import idle_time
from gviz.app.timeline_side import lane_arrays, timed_launches
from gviz.app.wire import Arrays, Strings, node_types
from gviz.layout.interval_lanes import pack_lanes
from gviz.median_launch import median_launch
from gviz.recording import rows
from gviz.recording.arrays import SpanArrays

if TYPE_CHECKING:
    from gviz.recording.reader import Recording

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Spans:
    """Spans of launches that belong to the level shown; arrays of one length.

    Attributes
    ----------
    row
        int64: index of the launch among those asked for.
    start_ns, duration_ns, iteration, stream
        int64; starts from the launch's first node.
    node
        int64: the node of the tree that ran.
    """

    row: IntArray
    start_ns: IntArray
    duration_ns: IntArray
    iteration: IntArray
    stream: IntArray
    node: IntArray
    name: IntArray
    type: npt.NDArray[np.uint8]


def median_side(
    recording: Recording, level: GraphLevel, strings: Strings
) -> tuple[dict[str, Any] | None, Arrays]:
    """Return header and arrays of the median launch, from its first node's start."""
    launches = timed_launches(recording, level.tree)
    if not launches:
        return None, {}
    spans = recording.fetch_graph_spans(level.tree.outermost.graph_id)
    found = median_launch(spans.node_id, spans.iteration, spans.start_ns, spans.duration_ns)
    node = level.tree.owners(found.node_id)
    keep = np.flatnonzero(node >= 0)
    start, duration = found.start_ns[keep], found.duration_ns[keep]
    lanes, arrays = lane_arrays(level, node[keep], start, duration, strings)
    arrays |= {
        "graph_iteration": found.iteration[keep].astype(np.uint32),
        "graph_count": found.count[keep].astype(np.uint32),
    }
    header = {
        "mode": "median",
        "launch_count": len(launches),
        "zero": "first node",
        "call_ns": None,
        "queued_ns": 0,
        "lanes": lanes,
        "count": len(keep),
        "total_ns": float((start + duration).max(initial=0.0)),
        "event_duration_ns": None,
    }
    idle, gaps = idle_time("graph", start, start + duration)
    return header | idle, arrays | gaps


def stack_side(
    recording: Recording,
    level: GraphLevel,
    order: Order,
    strings: Strings,
    shown: range | None = None,
) -> tuple[dict[str, Any] | None, Arrays]:
    """Return header and arrays of all recorded launches, one row each, aligned at first nodes.

    Spans are those of the rows ``shown``; None: of all.

    ``graph_lane`` is row x ``depth`` + lane inside the row: nodes that overlap in a launch stand
    under each other, and a node stands in the same lane of every row where that can be.
    """
    launches = order_launches(timed_launches(recording, level.tree), order)
    if not launches:
        return None, {}
    typical = _typical_row(launches)
    rows_read = range(len(launches)) if shown is None else sorted({*shown, typical})
    rows_read = [row for row in rows_read if row < len(launches)]
    spans = _read_spans(recording, level, launches, rows_read, strings)
    inner = _lanes_in_rows(spans, level, typical)
    # The same whatever rows are shown; a launch that needs more lanes overlaps in the last.
    deciding = inner if shown is None else inner[spans.row == typical]
    depth = int(deciding.max(initial=0)) + 1
    inner = np.minimum(inner, depth - 1)
    sort = np.lexsort((spans.start_ns, spans.row))
    if shown is not None:
        sort = sort[np.isin(spans.row[sort], np.array(shown, np.int64))]
    arrays: Arrays = {
        "graph_node_id": level.tree.key[spans.node].astype(np.uint32),
        "graph_name": spans.name.astype(np.uint32),
        "graph_type": spans.type,
        "graph_start_ns": spans.start_ns.astype(np.float64),
        "graph_duration_ns": spans.duration_ns.astype(np.float32),
        "graph_lane": (spans.row * depth + inner).astype(np.uint32),
        "graph_stream": spans.stream.astype(np.int32),
        "graph_iteration": spans.iteration.astype(np.uint32),
    }
    idle = _idle_of_rows(spans, rows_read, len(launches))
    header = _stack_header(launches, idle, depth) | {"order": order}
    if shown is None:
        # Of the level shown, which may be a part of what was launched.
        end = float((spans.start_ns + spans.duration_ns).max(initial=0))
        header |= {"count": len(spans.row), "total_ns": end}
    return header, {name: array[sort] for name, array in arrays.items()}


def _stack_header(
    launches: Sequence[rows.Launch], idle: list[dict[str, Any]], depth: int
) -> dict[str, Any]:
    return {
        "mode": "all",
        "launch_count": len(launches),
        "depth": depth,
        "launches": [
            {"ordinal": x.ordinal, "gpu_ns": _length(x), "exec": x.graph_exec_id, **of_row}
            for x, of_row in zip(launches, idle, strict=True)
        ],
        "zero": "first node",
        "call_ns": None,
        "queued_ns": 0,
        "lanes": [f"#{x.ordinal}" if i == 0 else "" for x in launches for i in range(depth)],
        "count": sum(x.span_count for x in launches),
        "total_ns": float(max(_length(x) for x in launches)),
        "event_duration_ns": None,
    }


def order_launches(launches: Sequence[rows.Launch], order: Order) -> list[rows.Launch]:
    """Return launches by ordinal, or the longest on the GPU first (equals by ordinal)."""
    if order == "ordinal":
        return sorted(launches, key=lambda x: x.ordinal)
    return sorted(launches, key=lambda x: (-_length(x), x.ordinal))


def _length(launch: rows.Launch) -> int:
    if launch.gpu_start_ns is None or launch.gpu_end_ns is None:
        return 0
    return launch.gpu_end_ns - launch.gpu_start_ns


def _idle_of_rows(spans: _Spans, known: Sequence[int], count: int) -> list[dict[str, Any]]:
    """Return idle_ns and idle_fraction (:mod:`gviz.app.idle_time`) of each row known, else {}."""
    order = np.argsort(spans.row, kind="stable")
    cuts = np.searchsorted(spans.row[order], np.arange(1, count))
    start = spans.start_ns[order]
    end = start + spans.duration_ns[order]
    parts = zip(np.split(start, cuts), np.split(end, cuts), strict=True)
    read = set(known)
    return [idle_time("graph", *part)[0] if row in read else {} for row, part in enumerate(parts)]


def _typical_row(launches: Sequence[rows.Launch]) -> int:
    by_length = sorted(range(len(launches)), key=lambda i: _length(launches[i]))
    return by_length[len(by_length) // 2]


def _read_spans(
    recording: Recording,
    level: GraphLevel,
    launches: Sequence[rows.Launch],
    rows_read: Sequence[int],
    strings: Strings,
) -> _Spans:
    if len(rows_read) == len(launches):
        spans = recording.fetch_graph_spans(level.tree.outermost.graph_id)
    else:
        spans = _joined([recording.fetch_spans(launches[row].launch_id) for row in rows_read])
    ids = np.array([x.launch_id for x in launches], np.int64)
    by_id = np.argsort(ids)
    row = by_id[np.searchsorted(ids[by_id], spans.launch_id)]
    known, which = np.unique(spans.node_id, return_inverse=True)
    owner = level.tree.owners(known)
    keep = np.flatnonzero(owner[which] >= 0)
    which = which[keep]
    # Those of no node of the tree are not looked at again.
    of = [level.tree.nodes[i] for i in owner.tolist()]
    names = strings.indices([n.name for n in of])
    return _Spans(
        row=row[keep],
        start_ns=spans.start_ns[keep],
        duration_ns=spans.duration_ns[keep],
        iteration=spans.iteration[keep],
        stream=spans.stream_id[keep],
        node=owner[which],
        name=names[which].astype(np.int64),
        type=node_types([n.type for n in of])[which],
    )


def _joined(parts: Sequence[SpanArrays]) -> SpanArrays:
    columns = [f.name for f in fields(SpanArrays)]
    return SpanArrays(*(np.concatenate([getattr(p, n) for p in parts]) for n in columns))


def _lanes_in_rows(spans: _Spans, level: GraphLevel, typical: int) -> IntArray:
    """Return each span's lane in its row: its node's in the typical launch where that is free."""
    of_typical = np.flatnonzero(spans.row == typical)
    nodes, which = np.unique(spans.node, return_inverse=True)
    usual = np.zeros(len(nodes), np.int64)
    usual[which[of_typical][::-1]] = _packed(spans, of_typical, level)[::-1]
    lane = usual[which]
    for row in _rows_with_overlap(spans, lane):
        own = np.flatnonzero(spans.row == row)
        lane[own] = _packed(spans, own, level)
    return lane


def _packed(spans: _Spans, chosen: IntArray, level: GraphLevel) -> IntArray:
    sort = chosen[np.argsort(spans.start_ns[chosen], kind="stable")]
    start = spans.start_ns[sort].astype(np.float64)
    node, tree = spans.node[sort], level.tree
    end = start + spans.duration_ns[sort]
    found = pack_lanes(start, end, level.chain[tree.top[node]], tree.holder[node] >= 0)
    lane = np.zeros(len(chosen), np.int64)
    lane[np.searchsorted(chosen, sort)] = found
    return lane


def _rows_with_overlap(spans: _Spans, lane: IntArray) -> list[int]:
    order = np.lexsort((spans.start_ns, lane, spans.row))
    row, of_lane, start = spans.row[order], lane[order], spans.start_ns[order]
    end = start + spans.duration_ns[order]
    same = (row[1:] == row[:-1]) & (of_lane[1:] == of_lane[:-1])
    found: list[int] = np.unique(row[1:][same & (start[1:] < end[:-1])]).tolist()
    return found
