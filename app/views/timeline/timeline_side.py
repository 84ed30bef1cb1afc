"""The two sides of the timeline as arrays: a graph launch, and an eager iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gviz.app.views.family_colours import FamilyColours
from gviz.app.views.timeline.host_calls import call_arrays
from gviz.app.views.timeline.host_ranges import called_in
from gviz.app.views.timeline.idle_time import idle_time
from gviz.app.views.wire import Arrays, Strings, node_types
from gviz.dataclass import dataclass
from gviz.model import (
    GraphLevel,
    GraphTree,
    Keep,
    build_anew,
    by_start,
    read_launch_spans,
    waited_until,
)
from gviz.recording import Columns, rows
from gviz.stats import FloatArray, group_rows, is_ascending

if TYPE_CHECKING:
    from gviz.recording import Recording

#: Stands for "no node" in arrays of node ids.
NO_NODE = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class TimelineSide:
    """Header of one side of the timeline."""

    launch: rows.Launch
    zero_ns: int
    zero: str
    call_ns: int | None
    queued_ns: int = 0

    def to_header(self, lanes: list[str], count: int, total_ns: float) -> dict[str, Any]:
        """Return its fields of the header."""
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


def _side(launch: rows.Launch) -> TimelineSide:
    if launch.host_start_ns is not None:
        end = launch.host_end_ns
        call = None if end is None else end - launch.host_start_ns
        return TimelineSide(launch, launch.host_start_ns, "host call", call)
    return TimelineSide(launch, launch.gpu_start_ns or 0, "first node", None)


def graph_zero(recording: Recording, launch: rows.Launch) -> TimelineSide:
    """Return the side with its zero: the host call, or the end of the launch it waited for."""
    side = _side(launch)
    if launch.host_start_ns is None or launch.gpu_start_ns is None or launch.ordinal == 0:
        return side
    before = recording.fetch_launch_at(launch.graph_id, launch.ordinal - 1)
    same_stream = before is not None and before.stream_id == launch.stream_id
    end = waited_until(launch, before) if same_stream else None
    if end is None:
        return side
    zero = min(end, launch.gpu_start_ns)
    return TimelineSide(launch, zero, "launch before", None, zero - launch.host_start_ns)


def graph_side(
    recording: Recording,
    level: GraphLevel,
    launch_id: int | None,
    strings: Strings,
    slots: npt.NDArray[np.uint8] | None = None,
    keep: Keep = build_anew,
) -> tuple[dict[str, Any] | None, Arrays]:
    """Return header and arrays of a graph launch; None: the first with node times.

    ``slots`` are the places of the colours of the tree's nodes, where spans are to have them.
    """
    launch = choose_launch(recording, level.tree, launch_id)
    if launch is None:
        return None, {}
    side = graph_zero(recording, launch)
    spans = by_start(read_launch_spans(recording, level.tree, launch.launch_id, keep))
    start = (spans.start_ns + (launch.gpu_start_ns or 0) - side.zero_ns).astype(np.float64)
    duration = spans.duration_ns
    lanes, arrays = lane_arrays(level, spans.node, start, duration, strings, slots)
    arrays |= {
        "graph_stream": spans.stream_id.astype(np.int32),
        "graph_iteration": spans.iteration.astype(np.uint32),
    }
    total = float((start + duration).max(initial=0.0))
    idle, gaps = idle_time("graph", start, start + duration, is_by_copy=launch.is_by_copy)
    calls = call_arrays(recording, launch, side.zero_ns, total, strings)
    return side.to_header(lanes, len(spans), total) | idle, arrays | gaps | calls


def choose_launch(
    recording: Recording, tree: GraphTree, launch_id: int | None
) -> rows.Launch | None:
    """Return a launch; None: the graph's first with node times, if there is one."""
    if launch_id is not None:
        return recording.fetch_launch(launch_id)
    return next(iter(timed_launches(recording, tree)), None)


def timed_launches(recording: Recording, tree: GraphTree) -> list[rows.Launch]:
    """Return the launches whose spans are in the recording, in time order."""
    launches = recording.fetch_launches_with_spans(tree.outermost.graph_id)
    return [launch for launch in launches if launch.node_level]


def lane_arrays(
    level: GraphLevel,
    node: npt.NDArray[np.int64],
    start: FloatArray,
    duration: npt.NDArray[Any],
    strings: Strings,
    slots: npt.NDArray[np.uint8] | None = None,
) -> tuple[list[str], Arrays]:
    """Return names of lanes, and the arrays of spans packed into them.

    ``node`` are the nodes of the tree that ran, in order of start; ``start`` and ``duration`` are
    those of the spans, ``slots`` the places of the colours of all nodes.
    """
    tree = level.tree
    lane = level.lanes(node, start, start + duration)
    names = strings.codes(tree.nodes.texts("name")).astype(np.uint32)
    arrays: Arrays = {
        "graph_node_id": tree.key[node].astype(np.uint32),
        "graph_name": names[node],
        "graph_type": node_types(tree.nodes.integers("type")[node]),
        "graph_start_ns": start,
        "graph_duration_ns": duration.astype(np.float32),
        "graph_lane": lane.astype(np.uint32),
    }
    if slots is not None:
        arrays["graph_family"] = slots[node]
    return [f"lane {i + 1}" for i in range(int(lane.max(initial=-1)) + 1)], arrays


def stream_side(
    recording: Recording,
    tree: GraphTree,
    launch_id: int | None,
    strings: Strings,
    families: FamilyColours,
) -> tuple[dict[str, Any] | None, Arrays]:
    """Return header and arrays of a launch of side 'stream'; None: the last."""
    if launch_id is None:
        launches = recording.fetch_launches(tree.outermost.graph_id, "stream")
        if not launches:
            return None, {}
        launch = launches[-1]
    else:
        launch = recording.fetch_launch(launch_id)
    side = _side(launch)
    # Of a million operations a column that nothing is done with is a tenth of all reading.
    has_ranges = recording.has_rows(rows.NvtxRange, {"run_id": launch.run_id})
    pages = recording.fetch_in_pages(
        rows.StreamOperation,
        {"launch_id": launch.launch_id},
        (*_OPERATION, *(("thread_id",) if has_ranges else ())),
        dict.fromkeys(("start_ns", "host_start_ns", "host_end_ns"), side.zero_ns),
        lambda page: _operations(tree, page, strings, families, has_ranges=has_ranges),
    )
    arrays = {name: np.concatenate([page.pop(name) for page in pages]) for name in [*pages[0]]}
    # Numbers of operations are in the order of their starts, but nothing depends on it.
    if not is_ascending((arrays["stream_start_ns"],)):
        order = np.argsort(arrays["stream_start_ns"], kind="stable")
        arrays = {name: array[order] for name, array in arrays.items()}
    stream = arrays.pop("stream")
    streams, lane = group_rows(stream)
    arrays |= {"stream_lane": lane.astype(np.uint32), "stream_stream": stream.astype(np.int32)}
    start, end = arrays["stream_start_ns"], arrays.pop("end")
    if has_ranges:
        threads = arrays.pop("thread")
        called = arrays["stream_host_start_ns"]
        arrays |= _called_in(recording, launch, side, threads, called, strings)
    lanes = [f"stream {s}" for s in streams.tolist()]
    idle, gaps = idle_time("stream", start, end)
    total = float(end.max(initial=0.0))
    calls = call_arrays(recording, launch, side.zero_ns, total, strings)
    return side.to_header(lanes, len(start), total) | idle, arrays | gaps | calls


#: What the timeline shows of a stream operation.
_OPERATION = (
    "node_id",
    "name",
    "type",
    "start_ns",
    "duration_ns",
    "stream_id",
    "host_start_ns",
    "host_end_ns",
)


def _operations(
    tree: GraphTree, page: Columns, strings: Strings, families: FamilyColours, *, has_ranges: bool
) -> Arrays:
    """Return the payload's arrays of some operations, and ends, streams and threads of these."""
    matched = _matched(tree, page.integers("node_id", -1))
    start, duration = page.integers("start_ns").astype(np.float64), page.numbers("duration_ns")
    begin, end = (page.numbers(name) for name in ("host_start_ns", "host_end_ns"))
    return {
        "stream_node_id": matched,
        "stream_name": strings.codes(page.texts("name")).astype(np.uint32),
        "stream_family": _families(tree, matched, page, families),
        "stream_type": node_types(page.integers("type")),
        "stream_start_ns": start,
        "stream_duration_ns": duration.astype(np.float32),
        "stream_host_start_ns": begin,
        "stream_host_duration_ns": (end - begin).astype(np.float32),
        "end": start + duration,
        "stream": page.integers("stream_id"),
        **({"thread": page.integers("thread_id", -1)} if has_ranges else {}),
    }


def _called_in(
    recording: Recording,
    launch: rows.Launch,
    side: TimelineSide,
    threads: npt.NDArray[np.int64],
    called: FloatArray,
    strings: Strings,
) -> Arrays:
    """Return the ranges in which operations were called ("": in none), if there are any."""
    called_ns = np.nan_to_num(called).astype(np.int64) + side.zero_ns
    called_ns[np.isnan(called)] = -1
    codes, texts = called_in(recording, launch.run_id, threads, called_ns)
    if not (codes >= 0).any():
        return {}
    names = [*(strings.add(text) for text in texts), strings.add("")]  # the last is that of -1
    return {"stream_called_in_name": np.array(names, np.uint32)[codes]}


def _families(
    tree: GraphTree,
    matched: npt.NDArray[np.uint32],
    operations: Columns,
    families: FamilyColours,
) -> npt.NDArray[np.uint8]:
    """Return the places of the colours of operations: of those that match, their nodes'."""
    names = operations.texts("name")
    found = families.slots_of_names(operations.integers("type"), names.codes, names.values)
    has_node = matched != NO_NODE
    nodes = tree.nodes_in(0, matched[has_node].astype(np.int64))
    found[has_node] = families.slots()[nodes]
    return found


def _matched(tree: GraphTree, node_ids: npt.NDArray[np.int64]) -> npt.NDArray[np.uint32]:
    """Return the nodes that operations match, which are nodes of the graph that is launched."""
    if tree.graph.graph_id != tree.outermost.graph_id:
        return np.full(len(node_ids), NO_NODE, np.uint32)
    known = tree.key[: tree.levels[0].end]
    return np.where(np.isin(node_ids, known), node_ids, NO_NODE).astype(np.uint32)
