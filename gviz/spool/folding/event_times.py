"""Node times from events: what the instrumented copies measured, made into spans.

A copy has an event before and one after each node (``csrc/events/copy.c``). What is between the
two, less the bias of the node's type on that GPU, is the node's duration: measured, like the bias,
which is another one while the host still writes the launch's commands. Where a node starts in its
launch is derived: half of the bias after the event before it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gviz.cuda import TIMED_IN_BODY, NodeType, node_type_name
from gviz.recording import rows
from gviz.runs import Rows, Spans
from gviz.spool.folding.graphs import FoldedGraph, Graphs
from gviz.spool.folding.launches import FoldedLaunches
from gviz.spool.records import NO_STREAM, OWN_IDS, CalibrationRecord, NodeTimesRecord
from gviz.spool.streams import Contents
from gviz.stats import UNKNOWN, IntArray

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
_NEVER = (NodeType.EMPTY, NodeType.WAIT_EVENT, NodeType.EVENT_RECORD, NodeType.MEM_ALLOC,
          NodeType.MEM_FREE)  # fmt: skip


def fit_to_events(contents: Contents, graphs: Graphs) -> None:
    """Say of every node of graphs watched without CUPTI whether events time it, or why not."""
    for level in graphs.levels.values():
        if level.row.parent_graph_id is not None or (level.row.cuda_graph_id or 0) < OWN_IDS:
            continue
        family = graphs.family(level.row.graph_id)
        refusal = contents.refusals.get(level.row.cuda_graph_id or 0)
        following = 1 + max(
            (n.exec_node_id or n.node_id for f in family for n in f.nodes.values()), default=-1
        )
        for member in family:
            programmatic = set(member.edges[member.edges[:, 2] != 0][:, :2].ravel().tolist())
            for node_id, node in member.nodes.items():
                reason = _reason(node, programmatic, refusal)
                exec_node_id = node.exec_node_id
                if reason is None and exec_node_id is None:
                    exec_node_id = node_id if member is level else following
                    following += member is not level
                member.nodes[node_id] = replace(
                    node,
                    not_timed_reason=reason,
                    exec_node_id=exec_node_id if reason is None else None,
                    stack_reason=node.stack_reason
                    and "the creation of nodes is not seen without CUPTI",
                )


def _reason(node: rows.Node, programmatic: set[int], refusal: str | None) -> str | None:
    if node.type in _UNTIMEABLE:
        return _UNTIMEABLE[NodeType(node.type)]
    if node.type in _NEVER:
        return f"events do not time {node_type_name(node.type)} nodes"
    if refusal is not None:
        return refusal
    if node.node_id in programmatic:
        return "events around it would break its programmatic edge"
    return None


def add_event_times(contents: Contents, graphs: Graphs, folded: FoldedLaunches) -> FoldedLaunches:
    """Return the launches with the spans that instrumented copies measured."""
    if not contents.node_times:
        return folded
    launches = folded.launches.copy()
    correlation = launches["correlation_id"]
    own = np.flatnonzero(correlation >= 1 << 31)
    by_correlation = dict(zip(correlation[own].tolist(), own.tolist(), strict=True))
    biases = {(c.device_id, c.type): c for c in contents.calibrations}
    nodes = _nodes_by_cuda_id(graphs)
    found: list[tuple[int, IntArray, IntArray, IntArray]] = []
    for record in contents.node_times:
        at = by_correlation.get(record.correlation)
        if at is None:
            continue
        ids, start, duration = _measure(record, launches[at], nodes, biases)
        if len(ids) == 0:
            continue
        origin = int(start.min())
        _fill_times(launches[at], record, origin, start, duration)
        relative = start if record.slices > 1 else start - origin
        found.append((at, ids, relative, duration))
    return replace(folded, launches=launches, spans=_merge(folded.spans, found, launches))


def _nodes_by_cuda_id(graphs: Graphs) -> dict[int, FoldedGraph]:
    return {
        level.row.cuda_graph_id: level
        for level in graphs.levels.values()
        if level.row.cuda_graph_id is not None
    }


def _measure(
    record: NodeTimesRecord,
    launch: Rows,
    levels: dict[int, FoldedGraph],
    biases: dict[tuple[int, int], CalibrationRecord],
) -> tuple[IntArray, IntArray, IntArray]:
    """Return exec_node_id, start after the start event, and duration of each timed node."""
    keep, ids, bias = [], [], []
    places = zip(record.times["graph_id"].tolist(), record.times["node_id"].tolist(), strict=True)
    early = _are_early(record, launch).tolist()
    for i, (graph, node_id) in enumerate(places):
        level = levels.get(graph)
        node = level.nodes.get(node_id) if level is not None else None
        if node is None or node.exec_node_id is None:
            continue
        keep.append(i)
        ids.append(node.exec_node_id)
        known = biases.get((record.device_id, node.type)) if node.type in _CALIBRATED else None
        bias.append(0 if known is None else known.early_bias_ns if early[i] else known.bias_ns)
    at = np.array(keep, np.intp)
    subtracted = np.array(bias, np.int64)
    start = record.times["start_ns"][at].astype(np.int64) + subtracted // 2
    duration = np.maximum(record.times["between_ns"][at].astype(np.int64) - subtracted, 0)
    return np.array(ids, np.int64), start, duration


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
    launch["node_method"] = "events"
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


def bias_measurements(
    calibrations: list[CalibrationRecord],
) -> dict[str, tuple[float | None, str, str]]:
    """Return the calibration as measurements of the run: (value, unit, method) by name."""
    found: dict[str, tuple[float | None, str, str]] = {}
    for c in calibrations:
        kind = f"{node_type_name(c.type).lower()}_device_{c.device_id}_ns"
        found[f"event_bias_{kind}"] = (
            float(c.bias_ns),
            "ns",
            f"measured: median of {c.samples} readings between two events, {c.raw_ns} ns, less "
            f"{c.reference_ns} ns that CUPTI gives for the same node, plus {c.more_ns} ns that "
            f"nodes of programs have more, both of an H100; median deviation {c.spread_ns} ns",
        )
        found[f"event_early_bias_{kind}"] = (
            float(c.early_bias_ns),
            "ns",
            f"measured: the same of {c.early_samples} readings before the launch call returned, "
            f"plus {c.early_more_ns} ns"
            if c.early_samples
            else "estimated: as after the launch call returned, for no reading was earlier",
        )
    return found


def collector_of(contents: Contents, attached: bool) -> tuple[str | None, str]:
    """Return what measured, and why it was chosen; two joined when it changed on the way."""
    found = list(contents.collectors)
    if attached and (not found or "cupti_version" in {name for name, *_ in contents.counters}):
        found.insert(0, ("cupti", "CUPTI could be subscribed to"))
    if not found:
        return None, "nothing could be recorded; see the notes"
    names = list(dict.fromkeys(name for name, _ in found))
    return "+".join(names), "; then: ".join(why for _, why in found)


def refusal_notes(contents: Contents, graphs: Graphs) -> list[tuple[str, str]]:
    """Return a note for each graph whose nodes are not timed (call it once graphs have names)."""
    return [
        ("limit", f"{level.row.name}: its nodes are not timed: {contents.refusals[cuda_id]}")
        for level in graphs.levels.values()
        if (cuda_id := level.row.cuda_graph_id) is not None and cuda_id in contents.refusals
    ]
