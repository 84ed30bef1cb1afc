"""The graph side of the timeline as all launches stacked, one a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gviz.app.components import Order
from gviz.app.views.timeline.idle_time import idle_time
from gviz.app.views.timeline.timeline_side import timed_launches
from gviz.app.views.wire import Arrays, Strings, node_types
from gviz.dataclass import dataclass
from gviz.model import GraphLevel, GraphTree, Keep, TreeSpans, by_start, read_launch_spans
from gviz.recording import narrow, rows
from gviz.stats import FloatArray, IntArray

if TYPE_CHECKING:
    from gviz.recording import Recording
#: Integers in as few bytes as hold them: rows of a large graph are kept for the next window.
SmallArray = npt.NDArray[np.signedinteger[Any]]


@dataclass(frozen=True, slots=True)
class StackRow:
    """The spans of one launch that belong to a tree, by start: arrays of one length.

    Attributes
    ----------
    start_ns, duration_ns
        From the launch's first node.
    node
        The node of the tree that ran.
    lane
        Inside the row, from 0.
    iteration, stream
        As in table span.
    idle
        Of the launch: idle_ns and idle_fraction (:mod:`gviz.app.views.timeline.idle_time`).
    """

    start_ns: SmallArray
    duration_ns: SmallArray
    node: SmallArray
    lane: SmallArray
    iteration: SmallArray
    stream: SmallArray
    idle: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RowPart:
    """A row as a part of the timeline (:class:`gviz.app.views.timeline.timeline_window.Part`).

    Attributes
    ----------
    spans, row
        The launch's, and which row it is.
    depth
        Lanes of a row.
    tree
        The nodes that ran.
    names, types
        Of every node of the tree: index of a string, and CUgraphNodeType as a byte.
    slots
        Of every node the place of its colour; None: spans have none.
    """

    spans: StackRow
    row: int
    depth: int
    tree: GraphTree
    names: npt.NDArray[np.uint32]
    types: npt.NDArray[np.uint8]
    slots: npt.NDArray[np.uint8] | None = None

    @property
    def start_ns(self) -> FloatArray:
        """From the launch's first node (float64)."""
        return self.spans.start_ns.astype(np.float64)

    @property
    def duration_ns(self) -> npt.NDArray[np.float32]:
        """One a span."""
        return self.spans.duration_ns.astype(np.float32)

    @property
    def lane(self) -> IntArray:
        """Among the lanes of all rows."""
        return self.row * self.depth + np.minimum(self.spans.lane.astype(np.int64), self.depth - 1)

    def of_nodes(self, keys: Sequence[int]) -> npt.NDArray[np.bool_]:
        """Return which spans are of the nodes of these numbers on the page."""
        nodes = np.flatnonzero(np.isin(self.tree.key, np.array(keys, np.int64)))
        return np.isin(self.spans.node, nodes)

    def take(self, chosen: npt.NDArray[np.intp]) -> Arrays:
        """Return the payload's arrays of some spans."""
        spans = self.spans
        node = spans.node[chosen]
        return {
            "graph_node_id": self.tree.key[node].astype(np.uint32),
            "graph_name": self.names[node],
            "graph_type": self.types[node],
            "graph_start_ns": spans.start_ns[chosen].astype(np.float64),
            "graph_duration_ns": spans.duration_ns[chosen].astype(np.float32),
            "graph_lane": self.lane[chosen].astype(np.uint32),
            "graph_stream": spans.stream[chosen].astype(np.int32),
            "graph_iteration": spans.iteration[chosen].astype(np.uint32),
            **({} if self.slots is None else {"graph_family": self.slots[node]}),
        }


class Stack(NamedTuple):
    """The header of stacked launches, and the spans of the rows read, row by row."""

    header: dict[str, Any]
    parts: list[RowPart]


def stack_side(
    recording: Recording,
    level: GraphLevel,
    order: Order,
    strings: Strings,
    keep: Keep,
    shown: range | None = None,
    slots: npt.NDArray[np.uint8] | None = None,
) -> Stack | None:
    """Return all recorded launches, a row each, aligned at first nodes; None: there are none.

    Spans are those of the rows ``shown``; None: of all. ``slots`` are the places of the colours of
    the tree's nodes.

    ``graph_lane`` is row x ``depth`` + lane inside the row: nodes that overlap in a launch stand
    under each other, and a node stands in the same lane of every row where that can be.
    """
    tree = level.tree
    launches = order_launches(timed_launches(recording, tree), order)
    if not launches:
        return None
    key = tree.graph.graph_id
    typical = _typical(launches)
    usual = keep(("lanes", key), lambda: _usual_lanes(recording, level, typical))
    read = {
        row: keep(("row", key, x.launch_id), partial(_read_row, recording, level, x, usual))
        for row, x in enumerate(launches)
        if shown is None or row in shown
    }
    # The same whatever rows are shown; a launch that needs more lanes overlaps in the last.
    lanes = usual if shown is not None else np.concatenate([r.lane for r in read.values()])
    depth = int(lanes.max(initial=0)) + 1
    idle = [read[row].idle if row in read else {} for row in range(len(launches))]
    header = _stack_header(launches, idle, depth) | {"order": order}
    if shown is None:
        # Of the level shown, which may be a part of what was launched.
        ends = [_end(row) for row in read.values()]
        count = sum(len(r.start_ns) for r in read.values())
        header |= {"count": count, "total_ns": float(max(ends))}
    names = strings.codes(tree.nodes.texts("name")).astype(np.uint32)
    types = node_types(tree.nodes.integers("type"))
    parts = [RowPart(read[row], row, depth, tree, names, types, slots) for row in sorted(read)]
    return Stack(header, parts)


def _end(row: StackRow) -> int:
    return int((row.start_ns.astype(np.int64) + row.duration_ns).max(initial=0))


def _stack_header(
    launches: Sequence[rows.Launch], idle: Sequence[Mapping[str, Any]], depth: int
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


def _typical(launches: Sequence[rows.Launch]) -> rows.Launch:
    by_length = sorted(launches, key=lambda x: (_length(x), x.ordinal))
    return by_length[len(by_length) // 2]


def _read_spans(recording: Recording, tree: GraphTree, launch: rows.Launch) -> TreeSpans:
    return by_start(read_launch_spans(recording, tree, launch.launch_id))


def _packed(level: GraphLevel, spans: TreeSpans) -> IntArray:
    return level.lanes(
        spans.node, spans.start_ns.astype(np.float64), spans.end_ns.astype(np.float64)
    )


def _usual_lanes(recording: Recording, level: GraphLevel, typical: rows.Launch) -> SmallArray:
    """Return the lane of each node of the tree in a typical launch; 0 where it did not run."""
    spans = _read_spans(recording, level.tree, typical)
    lane = np.zeros(len(level.tree.nodes), np.int64)
    # Of several executions the first decides.
    lane[spans.node[::-1]] = _packed(level, spans)[::-1]
    return narrow(lane)


def _read_row(
    recording: Recording, level: GraphLevel, launch: rows.Launch, usual: SmallArray
) -> StackRow:
    spans = _read_spans(recording, level.tree, launch)
    lane = usual[spans.node].astype(np.int64)
    if _overlap(spans, lane):
        lane = _packed(level, spans)
    return StackRow(
        start_ns=narrow(spans.start_ns),
        duration_ns=narrow(spans.duration_ns),
        node=narrow(spans.node),
        lane=narrow(lane),
        iteration=narrow(spans.iteration),
        stream=narrow(spans.stream_id),
        idle=idle_time("graph", spans.start_ns, spans.end_ns, is_by_copy=launch.is_by_copy)[0],
    )


def _overlap(spans: TreeSpans, lane: IntArray) -> bool:
    """Return whether two spans of a lane overlap."""
    order = np.lexsort((spans.start_ns, lane))
    start, end, of_lane = spans.start_ns[order], spans.end_ns[order], lane[order]
    return bool(((of_lane[1:] == of_lane[:-1]) & (start[1:] < end[:-1])).any())
