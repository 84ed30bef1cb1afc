"""The memory view as arrays: lifetimes of what a graph allocates, who is given what, the pool.

Drawn by assets/web/memory/memory.js, on the axis of the timeline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gviz.app.files import Library
from gviz.app.views.dag import LaunchIntervals, halves, launch_intervals, use_arrays
from gviz.app.views.graph_data import GraphView
from gviz.app.views.level_memory import kept_memory, why_no_lifetimes
from gviz.app.views.timeline import (
    NO_NODE,
    choose_launch,
    graph_zero,
    read_median_launch,
    timed_launches,
)
from gviz.app.views.wire import Arrays, Strings, pack
from gviz.dag import earliest_times, latest_times
from gviz.dataclass import dataclass
from gviz.model import GraphLevel, LevelMemory, Lifetimes, address_bands, find_lifetimes, used_steps
from gviz.recording import rows
from gviz.stats import FloatArray, IntArray

if TYPE_CHECKING:
    from gviz.recording import Recording


@dataclass(frozen=True, slots=True)
class _Axis:
    """Places of nodes along the launch, from the zero of the timeline, or in their order.

    Attributes
    ----------
    start, end
        float64, one a node; derived for nodes without a time.
    latest
        float64: when a node without a time had run at the latest; NaN: no bound.
    header
        axis ('time', in ns, or 'order'), zero, first (start of the first node) and total, of
        which launch, or of how many it is the median (median_of).
    """

    start: FloatArray
    end: FloatArray
    latest: FloatArray
    header: dict[str, Any]


def memory_payload(
    recording: Recording,
    level: GraphLevel,
    memory: LevelMemory,
    launch_id: int | None,
    title: str,
    *,
    is_sliced: bool = False,
) -> bytes:
    """Return what a graph level does with memory along a launch.

    Parameters
    ----------
    recording, level, memory
        Where from, and which level with its uses.
    launch_id
        The launch whose times are taken; None: the first with node times.
    title
        Of the graph.
    is_sliced
        Whether each launch times some of the nodes: then the times are those of the median launch
        in which slices follow one another, as in the timeline.

    Returns
    -------
    bytes
        Arrays with prefix ``life_``, one an allocation that nodes of the level make or free:
        alloc, free (node id, 0xFFFFFFFF: none, u4), start, end (NaN: before, beyond the launch),
        alloc_latest, free_latest (NaN: no bound), offset (bytes from the first range), bytes (f8),
        allocation (u4), freed (string). ``step_time``, ``step_bytes`` (f8): how much lives from
        when on. ``range_offset``, ``range_bytes`` (f8), ``range_low``, ``range_high`` (u4):
        address ranges laid end to end. ``node_id`` (u4), ``node_start``, ``node_end`` (f8) of all
        nodes; those of :func:`gviz.app.views.dag.data_overlay.use_arrays`; ``pool_`` of the run's
        samples: device (i4), time (from the run's first sample), used, reserved, used_high,
        reserved_high (f8). Times in ns, or in rows where the header's axis is 'order'.
    """
    if is_sliced:
        axis = _median_axis(recording, level)
    else:
        axis = _axis(recording, level, memory, launch_id)
    lives = find_lifetimes(memory.uses, axis.start, axis.end)
    strings = Strings()
    ids = level.key.astype(np.uint32)
    allocated = recording.fetch_allocations(level.graph.run_id)
    samples = recording.fetch_graph_memory(level.graph.run_id)
    arrays: Arrays = {
        **_life_arrays(lives, axis, ids),
        "life_freed": strings.indices(_freed(lives, memory, ids, allocated)),
        **_step_arrays(lives, memory),
        "node_id": ids,
        "node_start": axis.start,
        "node_end": axis.end,
        **use_arrays(memory, ids.astype(np.int64)),
        **_pool_arrays(samples),
    }
    header = {
        "kind": "memory",
        "graph_id": level.graph.graph_id,
        "graph_name": title,
        "launch_after_ns": _after(recording, axis, samples),
        "note": why_no_lifetimes(memory, allocated, samples),
        "strings": strings.to_list(),
        **axis.header,
    }
    return pack(header, arrays)


def _axis(
    recording: Recording, level: GraphLevel, memory: LevelMemory, launch_id: int | None
) -> _Axis:
    launch = choose_launch(recording, level.tree, launch_id)
    ran = None
    if launch is not None:
        ran = launch_intervals(recording, level.tree, launch.launch_id).part(level.part)
    if launch is None or ran is None or not np.isfinite(ran.start_ns).any():
        order = memory.order.astype(np.float64)
        untimed = np.full(len(order), np.nan)
        header = {
            "axis": "order",
            "zero": "first row" if level.graph.topology_id is not None else "first node",
            "first": 0.0,
            "total": float(order.max(initial=0.0)) + 1.0,
            "launch_id": None,
            "ordinal": None,
        }
        return _Axis(order, order, untimed, header)
    return _timed_axis(recording, level, launch, ran)


def _timed_axis(
    recording: Recording, level: GraphLevel, launch: rows.Launch, ran: LaunchIntervals
) -> _Axis:
    start, end, latest = _bounds(level, ran.start_ns, ran.end_ns)
    side = graph_zero(recording, launch)
    # As the timeline counts, so that both axes are one.
    first = float((launch.gpu_start_ns or 0) - side.zero_ns)
    header = {
        "axis": "time",
        "zero": side.zero,
        "first": first,
        "total": first + float(np.nanmax(ran.end_ns)),
        "launch_id": launch.launch_id,
        "ordinal": launch.ordinal,
    }
    return _Axis(start + first, end + first, latest + first, header)


def _median_axis(recording: Recording, level: GraphLevel) -> _Axis:
    """Return places of nodes along the median launch, from its first node."""
    launches = timed_launches(recording, level.tree)
    found = read_median_launch(recording, level, launches)
    top = level.tree.top[found.node_id]
    own = np.flatnonzero(top >= 0)
    start_ns, end_ns = (np.full(len(level.nodes), np.nan) for _ in range(2))
    np.fmin.at(start_ns, top[own], found.start_ns[own])
    np.fmax.at(end_ns, top[own], (found.start_ns + found.duration_ns)[own])
    header = {
        "axis": "time",
        "zero": "first node",
        "first": 0.0,
        "total": float(np.nanmax(end_ns)),
        "launch_id": None,
        "ordinal": None,
        "median_of": len(launches),
    }
    return _Axis(*_bounds(level, start_ns, end_ns), header)


def _bounds(
    level: GraphLevel, start_ns: FloatArray, end_ns: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return start and end of each node, derived where they are NaN; then also its latest start."""
    edges = level.row, level.edge_from, level.edge_to
    start, end = earliest_times(start_ns, end_ns, *edges)
    return start, end, np.where(np.isnan(start_ns), latest_times(start_ns, *edges), np.nan)


def _life_arrays(lives: Lifetimes, axis: _Axis, ids: npt.NDArray[np.uint32]) -> Arrays:
    bands = address_bands(lives.address, lives.bytes)
    return {
        "life_alloc": _ids(ids, lives.alloc),
        "life_free": _ids(ids, lives.free),
        "life_start": lives.start,
        "life_end": lives.end,
        "life_alloc_latest": _at(axis.latest, lives.alloc),
        "life_free_latest": _at(axis.latest, lives.free),
        "life_offset": bands.offset.astype(np.float64),
        "life_bytes": lives.bytes.astype(np.float64),
        "life_allocation": lives.allocation.astype(np.uint32),
        "range_offset": bands.range_offset.astype(np.float64),
        "range_bytes": bands.range_bytes.astype(np.float64),
        **halves("range", bands.range_address),
    }


def _ids(ids: npt.NDArray[np.uint32], node: IntArray) -> npt.NDArray[np.uint32]:
    if not len(ids):
        return np.full(len(node), NO_NODE, np.uint32)
    return np.where(node < 0, NO_NODE, ids[np.maximum(node, 0)]).astype(np.uint32)


def _at(values: FloatArray, node: IntArray) -> FloatArray:
    return np.array([np.nan if n < 0 else values[n] for n in node.tolist()], np.float64)


def _freed(
    lives: Lifetimes,
    memory: LevelMemory,
    ids: npt.NDArray[np.uint32],
    allocated: list[rows.Allocation],
) -> list[str]:
    """Return in words how each allocation ends, as recorded."""
    by_memory = {(a.address, a.bytes): a.freed for a in allocated}
    by_node = {(a.node_id, a.address): a.freed for a in allocated if a.graph_id in memory.graph_ids}
    found = []
    for alloc, address, size in zip(
        lives.alloc.tolist(), lives.address.tolist(), lives.bytes.tolist(), strict=True
    ):
        own = None if alloc < 0 else by_node.get((int(ids[alloc]), address))
        found.append(own or by_memory.get((address, size), "not known"))
    return found


def _step_arrays(lives: Lifetimes, memory: LevelMemory) -> Arrays:
    steps = used_steps(lives, memory.order)
    return {
        "step_time": np.nan_to_num(steps.time, neginf=0.0),
        "step_bytes": steps.bytes.astype(np.float64),
    }


def _pool_arrays(samples: list[rows.GraphMemory]) -> Arrays:
    zero = min((s.time_ns for s in samples), default=0)
    columns = {
        "used": [s.used_bytes for s in samples],
        "used_high": [s.used_high_bytes for s in samples],
        "reserved": [s.reserved_bytes for s in samples],
        "reserved_high": [s.reserved_high_bytes for s in samples],
    }
    return {
        "pool_device": np.array([s.device_id for s in samples], np.int32),
        "pool_time": np.array([s.time_ns - zero for s in samples], np.float64),
        **{f"pool_{name}": np.array(values, np.float64) for name, values in columns.items()},
    }


def _after(recording: Recording, axis: _Axis, samples: list[rows.GraphMemory]) -> int | None:
    """Return when the launch was called, after the first sample; None: not known."""
    if not samples or axis.header["launch_id"] is None:
        return None
    called = recording.fetch_launch(axis.header["launch_id"]).host_start_ns
    return None if called is None else max(0, called - min(s.time_ns for s in samples))


def uses_payload(library: Library, file: str, view: GraphView) -> bytes:
    """Return who uses what memory in the level that a view is of.

    Arrays are those of :func:`gviz.app.views.dag.data_overlay.use_arrays`, nodes by their numbers
    on the page.

    Raises
    ------
    CycleError
        If the dependencies form a cycle, so that no order says who has memory when.
    """
    level = view.tree.levels[view.at]
    return pack({}, use_arrays(kept_memory(library, file, view), view.tree.key[level.part]))
