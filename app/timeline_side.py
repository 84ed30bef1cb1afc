"""The two sides of the timeline as arrays: a graph launch, and a pass of stream calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gviz.app.graph_level import GraphLevel
from gviz.app.host_calls import call_arrays
from gviz.app.idle_time import idle_time
from gviz.app.wire import Arrays, Strings, node_types
from gviz.layout.interval_lanes import pack_lanes
from gviz.recording import rows

if TYPE_CHECKING:
    from gviz.recording.reader import Recording

FloatArray = npt.NDArray[np.float64]

#: Stands for "no node" in arrays of node ids.
NO_NODE = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class _Side:
    """What the header says about one side of the timeline."""

    launch: rows.Launch
    zero_ns: int
    zero: str
    call_ns: int | None
    queued_ns: int = 0

    def to_header(self, lanes: list[str], count: int, total_ns: float) -> dict[str, Any]:
        return {
            "mode": "one",
            "launch_id": self.launch.launch_id,
            "ordinal": self.launch.ordinal,
            "zero": self.zero,
            "call_ns": self.call_ns,
            "queued_ns": self.queued_ns,
            "lanes": lanes,
            "count": count,
            "total_ns": total_ns,
            "event_duration_ns": self.launch.event_duration_ns,
        }


def _side(launch: rows.Launch) -> _Side:
    if launch.host_start_ns is not None:
        end = launch.host_end_ns
        call = None if end is None else end - launch.host_start_ns
        return _Side(launch, launch.host_start_ns, "host call", call)
    return _Side(launch, launch.gpu_start_ns or 0, "first node", None)


def _graph_zero(recording: Recording, launch: rows.Launch) -> _Side:
    """Return the side with its zero: the host call, or the end of the launch it waited for.

    A program that launches without waiting puts launches in a queue. The time in the queue is
    that of the launches before, not of this one: counting it would compare badly with the
    other side.
    """
    side = _side(launch)
    if launch.host_start_ns is None or launch.gpu_start_ns is None or launch.ordinal == 0:
        return side
    launches = recording.fetch_launches(launch.graph_id)
    before = next((x for x in launches if x.ordinal == launch.ordinal - 1), None)
    end = None if before is None else before.gpu_end_ns
    if (
        before is None
        or before.stream_id != launch.stream_id
        or end is None
        or end <= launch.host_start_ns
    ):
        return side
    zero = min(end, launch.gpu_start_ns)
    return _Side(launch, zero, "launch before", None, zero - launch.host_start_ns)


def graph_side(
    recording: Recording, level: GraphLevel, launch_id: int | None, strings: Strings
) -> tuple[dict[str, Any] | None, Arrays]:
    """Return header and arrays of a graph launch; None: the first with node times."""
    launch = choose_launch(recording, level, launch_id)
    if launch is None:
        return None, {}
    side = _graph_zero(recording, launch)
    spans = recording.fetch_spans(launch.launch_id)
    owner = level.owners(spans.node_id)
    keep = np.flatnonzero(owner.index >= 0)
    keep = keep[np.argsort(spans.start_ns[keep], kind="stable")]
    start = (spans.start_ns[keep] + (launch.gpu_start_ns or 0) - side.zero_ns).astype(np.float64)
    duration = spans.duration_ns[keep]
    node = owner.index[keep]
    lane = pack_lanes(start, start + duration, level.chain[node], owner.nested[keep])
    names = [owner.names[i] for i in keep.tolist()]
    ids = np.array([n.node_id for n in level.nodes], np.uint32)
    arrays: Arrays = {
        "graph_node_id": ids[node] if len(ids) else ids,
        "graph_name": strings.indices(names),
        "graph_type": node_types([owner.types[i] for i in keep.tolist()]),
        "graph_start_ns": start,
        "graph_duration_ns": duration.astype(np.float32),
        "graph_lane": lane.astype(np.uint32),
        "graph_stream": spans.stream_id[keep].astype(np.int32),
        "graph_iteration": spans.iteration[keep].astype(np.uint32),
    }
    lanes = [f"lane {i + 1}" for i in range(int(lane.max(initial=-1)) + 1)]
    total = float((start + duration).max(initial=0.0))
    idle, gaps = idle_time("graph", start, start + duration)
    calls = call_arrays(recording, launch, side.zero_ns, total, strings)
    return side.to_header(lanes, len(keep), total) | idle, arrays | gaps | calls


def choose_launch(
    recording: Recording, level: GraphLevel, launch_id: int | None
) -> rows.Launch | None:
    """Return a launch; None: the graph's first with node times, if there is one."""
    if launch_id is not None:
        return recording.fetch_launch(launch_id)
    launches = recording.fetch_launches(level.outermost.graph_id)
    return next((launch for launch in launches if launch.node_level and launch.span_count), None)


def stream_side(
    recording: Recording, level: GraphLevel, launch_id: int | None, strings: Strings
) -> tuple[dict[str, Any] | None, Arrays]:
    """Return header and arrays of a launch of side 'stream'; None: the last."""
    if launch_id is None:
        launches = recording.fetch_launches(level.outermost.graph_id, "stream")
        if not launches:
            return None, {}
        launch = launches[-1]
    else:
        launch = recording.fetch_launch(launch_id)
    side = _side(launch)
    operations = _fetch_operations(recording, launch.launch_id)
    start = np.array([o.start_ns - side.zero_ns for o in operations], np.float64)
    duration = np.array([o.duration_ns for o in operations], np.float64)
    streams = sorted({o.stream_id for o in operations})
    row = {stream: i for i, stream in enumerate(streams)}
    arrays: Arrays = {
        "stream_node_id": _matched(level, operations),
        "stream_name": strings.indices([o.name for o in operations]),
        "stream_type": node_types([o.type for o in operations]),
        "stream_start_ns": start,
        "stream_duration_ns": duration.astype(np.float32),
        "stream_lane": np.array([row[o.stream_id] for o in operations], np.uint32),
        "stream_stream": np.array([o.stream_id for o in operations], np.int32),
        **_host_calls(operations, side),
    }
    total = float((start + duration).max(initial=0.0))
    lanes = [f"stream {s}" for s in streams]
    idle, gaps = idle_time("stream", start, start + duration)
    calls = call_arrays(recording, launch, side.zero_ns, total, strings)
    return side.to_header(lanes, len(operations), total) | idle, arrays | gaps | calls


class _Operation(NamedTuple):
    """Columns of :class:`gviz.recording.rows.StreamOperation`."""

    node_id: int | None
    name: str
    type: int
    start_ns: int
    duration_ns: int
    stream_id: int
    host_start_ns: int | None
    host_end_ns: int | None


def _fetch_operations(recording: Recording, launch_id: int) -> list[_Operation]:
    key = {"launch_id": launch_id}
    found = recording.fetch_columns(rows.StreamOperation, _Operation._fields, key, "start_ns")
    return list(map(_Operation._make, found))


def _host_calls(operations: list[_Operation], side: _Side) -> Arrays:
    nan = float("nan")
    begin = np.array(
        [nan if o.host_start_ns is None else o.host_start_ns - side.zero_ns for o in operations],
        np.float64,
    )
    end = np.array(
        [nan if o.host_end_ns is None else o.host_end_ns - side.zero_ns for o in operations],
        np.float64,
    )
    return {
        "stream_host_start_ns": begin,
        "stream_host_duration_ns": (end - begin).astype(np.float32),
    }


def _matched(level: GraphLevel, operations: list[_Operation]) -> npt.NDArray[np.uint32]:
    known = {n.node_id for n in level.nodes}
    found = [o.node_id if o.node_id in known else NO_NODE for o in operations]
    return np.array(found, np.uint32)
