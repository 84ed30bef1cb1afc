"""Node times from events: what the instrumented copies measured, made into spans.

A copy has an event before and one after each node (``csrc/events/copy.c``). What is between the
two, less the bias of the node's type on that GPU and of the graph (:mod:`.event_bias`), is the
node's time, with the way to the next node: derived from what was measured alone. Where a node
starts in its launch is derived too: half of the bias after the event before it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gviz.cuda import TIMED_IN_BODY, NodeType, node_type_name
from gviz.dataclass import dataclass
from gviz.recording import rows
from gviz.runs import Rows, Spans
from gviz.spool.folding.event_bias import ExtraBias, Reading, extra_biases
from gviz.spool.folding.graphs import FoldedGraph, Graphs
from gviz.spool.folding.launch_cost import plain_times
from gviz.spool.folding.launches import FoldedLaunches
from gviz.spool.records import NO_STREAM, OWN_IDS, CalibrationRecord, NodeTimesRecord
from gviz.spool.streams import Contents
from gviz.stats import UNKNOWN, IntArray, distinct_values

#: Node types that events can stand around, with an uncertain meaning for the second line: the
#: time includes the way to the host or to a semaphore and back.
_CALIBRATED = (NodeType.KERNEL, NodeType.MEMCPY, NodeType.MEMSET)
_UNTIMEABLE = {
    NodeType.GRAPH: TIMED_IN_BODY,
    NodeType.CONDITIONAL: "events cannot stand in the body of a conditional node",
}
#: The bias of early nodes holds until the launch call returns, but no longer than this. Measured
#: on an H100 (driver 580): for 600 to 6,000 nodes it ended 130 to 165 µs after the call began.
EARLY_NS = 160_000
_CREATION_UNSEEN = "the creation of nodes is not seen without CUPTI"
_NEVER = (NodeType.EMPTY, NodeType.WAIT_EVENT, NodeType.EVENT_RECORD, NodeType.MEM_ALLOC,
          NodeType.MEM_FREE)  # fmt: skip


def fit_to_events(contents: Contents, graphs: Graphs) -> None:
    """Say of every node of graphs watched without CUPTI whether events time it, or why not."""
    timed = _timed_graphs(contents)
    for level in graphs.levels.values():
        cuda_id = level.row.cuda_graph_id or 0
        if level.row.parent_graph_id is not None or cuda_id < OWN_IDS:
            continue
        family = graphs.family(level.row.graph_id)
        member_ids = {member.row.cuda_graph_id for member in family}
        refusal = contents.refusals.get(cuda_id) if timed.isdisjoint(member_ids) else None
        following = 1 + max(int(_numbers(member.nodes).max(initial=-1)) for member in family)
        for member in family:
            missing = _fit_nodes(member, refusal)
            if not contents.created:
                has_no_stack = member.nodes["stack_reason"].astype(bool)
                member.nodes["stack_reason"][has_no_stack] = _CREATION_UNSEEN
            exec_node_id = member.nodes["exec_node_id"]
            if member is level:
                exec_node_id[missing] = member.nodes["node_id"][missing]
            else:
                exec_node_id[missing] = following + np.arange(len(missing))
                following += len(missing)


def _timed_graphs(contents: Contents) -> set[int]:
    """Return CUDA's ids of the graphs of which copies timed nodes."""
    found = (distinct_values(record.times["graph_id"]).tolist() for record in contents.node_times)
    return {graph_id for ids in found for graph_id in ids}


def _numbers(nodes: Rows) -> IntArray:
    """Return the ids of nodes in the executable, or, where there is none, in the graph."""
    exec_node_id = nodes["exec_node_id"]
    return np.where(exec_node_id > 0, exec_node_id, nodes["node_id"])


def _fit_nodes(level: FoldedGraph, refusal: str | None) -> npt.NDArray[np.intp]:
    """Fill in why nodes are not timed; return the places of timed ones that have no number."""
    nodes = level.nodes
    programmatic = set(level.edges[level.edges[:, 2] != 0][:, :2].ravel().tolist())
    reasons = [
        _reason(kind, refusal, is_programmatic=node_id in programmatic)
        for kind, node_id in nodes[["type", "node_id"]].tolist()
    ]
    is_timed = np.array([reason is None for reason in reasons], bool)
    nodes["not_timed_reason"] = reasons
    nodes["exec_node_id"][~is_timed] = UNKNOWN
    return np.flatnonzero(is_timed & (nodes["exec_node_id"] == UNKNOWN))


def _reason(kind: int, refusal: str | None, *, is_programmatic: bool) -> str | None:
    if kind in _UNTIMEABLE:
        return _UNTIMEABLE[NodeType(kind)]
    if kind in _NEVER:
        return f"events do not time {node_type_name(kind)} nodes"
    if refusal is not None:
        return refusal
    return "events around it would break its programmatic edge" if is_programmatic else None


@dataclass(frozen=True, slots=True)
class _Copy:
    """One launch of a copy: its place among the launches, and its events."""

    at: int
    record: NodeTimesRecord
    exec_node_id: IntArray
    reading: Reading


@dataclass(frozen=True, slots=True)
class EventTimes:
    """Launches with the spans of instrumented copies, and the biases of graphs that they had."""

    launches: FoldedLaunches
    extra: tuple[ExtraBias, ...] = ()


def add_event_times(contents: Contents, graphs: Graphs, folded: FoldedLaunches) -> EventTimes:
    """Return the launches with the spans that instrumented copies measured."""
    if not contents.node_times:
        return EventTimes(folded)
    copies = _copies(contents, _nodes_by_cuda_id(graphs), folded.launches)
    launches = folded.launches.copy()
    readings: dict[int, list[Reading]] = defaultdict(list)
    for copy in copies:
        readings[int(launches[copy.at]["graph_exec_id"])].append(copy.reading)
    extra = extra_biases(readings, plain_times(folded, contents.launch_stream, graphs))
    found: list[tuple[int, IntArray, IntArray, IntArray]] = []
    for copy in copies:
        own = extra.get(int(launches[copy.at]["graph_exec_id"]))
        start, duration = _measure(copy.reading, 0 if own is None else own.each_ns)
        origin = int(start.min())
        _fill_times(launches[copy.at], copy.record, origin, start, duration)
        relative = start if copy.record.slices > 1 else start - origin
        found.append((copy.at, copy.exec_node_id, relative, duration))
    spans = _merge(folded.spans, found, launches)
    return EventTimes(replace(folded, launches=launches, spans=spans), tuple(extra.values()))


def _nodes_by_cuda_id(graphs: Graphs) -> dict[int, FoldedGraph]:
    return {
        level.row.cuda_graph_id: level
        for level in graphs.levels.values()
        if level.row.cuda_graph_id is not None
    }


def _copies(contents: Contents, levels: dict[int, FoldedGraph], launches: Rows) -> list[_Copy]:
    correlation = launches["correlation_id"]
    own = np.flatnonzero(correlation >= 1 << 31)
    by_correlation = dict(zip(correlation[own].tolist(), own.tolist(), strict=True))
    biases = {(c.device_id, c.type): c for c in contents.calibrations}
    found = []
    for record in contents.node_times:
        at = by_correlation.get(record.correlation)
        copy = None if at is None else _read(record, at, launches[at], levels, biases)
        if copy is not None:
            found.append(copy)
    return found


def _read(
    record: NodeTimesRecord,
    at: int,
    launch: Rows,
    levels: dict[int, FoldedGraph],
    biases: dict[tuple[int, int], CalibrationRecord],
) -> _Copy | None:
    """Return what a copy's events gave of the nodes that the graph has; None: of none."""
    kind, exec_node_id = _find_nodes(record, levels)
    early = _are_early(record, launch)
    bias = np.zeros(len(kind), np.int64)
    is_calibrated = np.zeros(len(kind), bool)
    for calibrated in _CALIBRATED:
        own = biases.get((record.device_id, calibrated))
        if own is not None:
            mine = kind == calibrated
            is_calibrated |= mine
            bias[mine] = np.where(early[mine], own.early_bias_ns, own.bias_ns)
    kept = np.flatnonzero(exec_node_id != UNKNOWN)
    if not len(kept):
        return None
    reading = Reading(
        extent_ns=record.extent_ns,
        host_ns=int(launch["host_end_ns"] - launch["host_start_ns"]),
        start_ns=record.times["start_ns"][kept].astype(np.int64),
        between_ns=record.times["between_ns"][kept].astype(np.int64),
        bias_ns=bias[kept],
        is_calibrated=is_calibrated[kept],
    )
    return _Copy(at, record, exec_node_id[kept], reading)


def _measure(reading: Reading, extra_ns: int) -> tuple[IntArray, IntArray]:
    """Return start after the first event, and time, of each node."""
    bias = reading.bias_ns + np.where(reading.is_calibrated, extra_ns, 0)
    return reading.start_ns + bias // 2, np.maximum(reading.between_ns - bias, 0)


def _find_nodes(
    record: NodeTimesRecord, levels: dict[int, FoldedGraph]
) -> tuple[IntArray, IntArray]:
    """Return the type and the id in the executable of each node with times; UNKNOWN: none."""
    graph_ids, node_ids = record.times["graph_id"], record.times["node_id"].astype(np.int64)
    kind, exec_node_id = np.full((2, len(node_ids)), UNKNOWN)
    for graph_id in distinct_values(graph_ids).tolist():
        level = levels.get(graph_id)
        if level is not None:
            mine = np.flatnonzero(graph_ids == graph_id)
            places, is_node = level.places(node_ids[mine])
            kind[mine[is_node]] = level.nodes["type"][places[is_node]]
            exec_node_id[mine[is_node]] = level.nodes["exec_node_id"][places[is_node]]
    return kind, exec_node_id


def _are_early(record: NodeTimesRecord, launch: Rows) -> npt.NDArray[np.bool_]:
    """Return whether the middle of each reading lies before the launch call's return."""
    if not record.position_ns:
        return np.zeros(len(record.times), bool)
    called, returned = int(launch["host_start_ns"]), int(launch["host_end_ns"])
    until = min(returned, called + EARLY_NS) - record.position_ns
    middle = (
        record.times["start_ns"].astype(np.int64) + record.times["between_ns"].astype(np.int64) // 2
    )
    found: npt.NDArray[np.bool_] = middle < until
    return found


def _fill_times(
    launch: Rows, record: NodeTimesRecord, origin: int, start: IntArray, duration: IntArray
) -> None:
    """Give a launch its place on the host's clock; of a slice the whole launch's."""
    called, returned = int(launch["host_start_ns"]), int(launch["host_end_ns"])
    begin = max(record.position_ns, called) if record.position_ns else returned
    first, length = (
        (0, record.extent_ns)
        if record.slices > 1
        else (origin, int((start + duration).max()) - origin)
    )
    launch["node_level"] = 1
    launch["node_method"] = rows.BY_COPY
    launch["gpu_start_ns"] = begin + first
    launch["gpu_end_ns"] = begin + first + length
    launch["event_duration_ns"] = record.extent_ns
    launch["span_count"] = len(start)


def _merge(
    spans: Spans, found: list[tuple[int, IntArray, IntArray, IntArray]], launches: Rows
) -> Spans:
    if not found:
        return spans
    sizes = [len(ids) for _, ids, _, _ in found]
    launch = np.repeat(np.array([i for i, *_ in found], np.int64), sizes)
    on = launches["stream_id"][launch]
    columns = (
        np.concatenate([spans.launch, launch]),
        np.concatenate([spans.exec_node_id, *(ids for _, ids, _, _ in found)]),
        np.concatenate([spans.iteration, np.zeros(sum(sizes), np.int64)]),
        np.concatenate([spans.start_ns, *(start for _, _, start, _ in found)]),
        np.concatenate([spans.duration_ns, *(length for *_, length in found)]),
        np.concatenate([spans.stream_id, np.where(on == UNKNOWN, NO_STREAM, on)]),
    )
    order = np.lexsort((columns[2], columns[1], columns[0]))
    return Spans(*(column[order] for column in columns))


def collector_of(contents: Contents, attached: bool) -> tuple[str | None, str]:
    """Return what measured, and why it was chosen; two joined when it changed on the way."""
    found = list(contents.collectors)
    was_there = "cupti_version" in {name for name, *_ in contents.counters}
    is_reported = {"cupti", "cupti-windows"} & {*dict(found)}
    if attached and (not found or (was_there and not is_reported)):
        found.insert(0, ("cupti", "CUPTI could be subscribed to"))
    if not found:
        return None, "nothing could be recorded; see the notes"
    names = list(dict.fromkeys(name for name, _ in found))
    return "+".join(names), "; then: ".join(why for _, why in found)


def refusal_notes(contents: Contents, graphs: Graphs) -> list[tuple[str, str]]:
    """Return a note for each graph whose nodes are not timed (call it once graphs have names)."""
    timed = _timed_graphs(contents)
    found = []
    for level in graphs.levels.values():
        why = contents.refusals.get(level.row.cuda_graph_id or 0)
        if why is not None:
            family = graphs.family(level.row.graph_id)
            was_timed = any(member.row.cuda_graph_id in timed for member in family)
            since = " from some launch on" if was_timed else ""
            found.append(("limit", f"{level.row.name}: its nodes are not timed{since}: {why}"))
    if found:
        found.append(("limit", "nodes that event copies cannot time have times under CUPTI: "
                      "gviz run --collector cupti"))  # fmt: skip
    return found
