"""The launch and the executable of each piece of GPU work of a trace."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gviz.dataclass import dataclass
from gviz.formats.traces.trace import Trace
from gviz.runs import Activities
from gviz.spool import OWN_IDS
from gviz.stats import UNKNOWN, IntArray, distinct_values

#: A graph launch; what the trace does not report is UNKNOWN. ``call`` is the place of its call in
#: the calls; the executable may be one above OWN_IDS that is numbered here.
TRACED_LAUNCH = np.dtype(
    [
        ("exec_id", "<i8"), ("correlation_id", "<i8"), ("call", "<i8"), ("gpu_start_ns", "<i8"),
        ("gpu_end_ns", "<i8"), ("span_count", "<i8"), ("ambiguous_count", "<i8"),
    ]
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class FoldedTrace:
    """A trace's work, sorted into launches and what ran outside of them.

    Attributes
    ----------
    work
        All of it, by start (dtype ACTIVITY).
    calls
        The calls, one a correlation id at most (dtype CALL).
    launches
        In order of time (dtype TRACED_LAUNCH).
    span, span_launch, span_iteration
        Indices into ``work`` and ``launches`` of each node's execution, ordered by launch,
        node and start, and which execution of the node in the launch it is.
    operations
        Indices into ``work`` of what ran outside of graphs, by start.
    operation_call
        Index of the call of each of them; -1: none.
    duplicates, homeless
        Records left out: recorded twice, and of graph nodes without a launch.
    numbered
        Executables that gviz distinguished by what they ran.
    unaligned
        Those of them in which streams ran the same: which node was which differs between launches.
    calls_without_work
        Launch calls of which nothing is known on the GPU.
    """

    work: Activities
    calls: npt.NDArray[np.void]
    launches: npt.NDArray[np.void]
    span: IntArray
    span_launch: IntArray
    span_iteration: IntArray
    operations: IntArray
    operation_call: IntArray
    duplicates: int
    homeless: int
    numbered: frozenset[int]
    unaligned: frozenset[int]
    calls_without_work: int


def fold_trace(trace: Trace) -> FoldedTrace:
    """Sort the work of a trace into launches of graphs, and what ran outside of them."""
    work, duplicates = _sorted_work(trace)
    calls = _one_call_each(trace)
    call = _call_of(calls, work["correlation_id"])
    launched = (call >= 0) & (calls["is_graph_launch"][call] > 0) if len(calls) else call >= 0
    has_id = work["node_id"] >= 0
    numbered, unaligned = _number_nodes(work, np.flatnonzero(launched & ~has_id))
    inside = np.flatnonzero(has_id | launched)
    group, ambiguous = _group(work, inside)
    homeless = int((group < 0).sum())
    inside, ambiguous, group = inside[group >= 0], ambiguous[group >= 0], group[group >= 0]
    launches, rank = _launches(trace, work, calls, inside, group, ambiguous)
    launch = rank[group]
    order = _by_node(work, inside, launch)
    span, launch = inside[order], launch[order]
    operations = np.flatnonzero(~(has_id | launched))
    unseen = np.setdiff1d(np.flatnonzero(calls["is_graph_launch"]), launches["call"])
    return FoldedTrace(
        work=work,
        calls=calls,
        launches=launches,
        span=span,
        span_launch=launch,
        span_iteration=_place_in_runs(launch, work["node_id"][span]),
        operations=operations,
        operation_call=call[operations],
        duplicates=duplicates,
        homeless=homeless,
        numbered=numbered,
        unaligned=unaligned,
        calls_without_work=len(unseen),
    )


def with_new_ids(
    folded: FoldedTrace, new_ids: Mapping[int, tuple[IntArray, IntArray]]
) -> FoldedTrace:
    """Return the trace with other ids of nodes in some launches.

    Parameters
    ----------
    new_ids
        By index of a launch: ids that change, and what they become.
    """
    if not new_ids:
        return folded
    work, launch = folded.work.copy(), folded.span_launch
    for at, (old, new) in new_ids.items():
        span = folded.span[slice(*np.searchsorted(launch, [at, at + 1]).tolist())]
        order = np.argsort(old)
        ids = work["node_id"][span]
        found = np.minimum(np.searchsorted(old[order], ids), len(old) - 1)
        work["node_id"][span] = np.where(old[order][found] == ids, new[order][found], ids)
    order = _by_node(work, folded.span, launch)
    span = folded.span[order]
    return replace(
        folded,
        work=work,
        span=span,
        span_iteration=_place_in_runs(launch, work["node_id"][span]),
    )


def _by_node(work: Activities, span: IntArray, launch: IntArray) -> IntArray:
    """Return the order of executions by launch, node and start."""
    return np.lexsort((work["start_ns"][span], work["node_id"][span], launch))


def _sorted_work(trace: Trace) -> tuple[Activities, int]:
    """Return the work by start, without what is recorded twice, and how much that was."""
    work = trace.activities.to_array()
    keys = ("name", "stream_id", "node_id", "exec_id", "correlation_id", "end_ns", "start_ns")
    work = work.take(np.lexsort([work[key] for key in keys]))
    same = np.ones(max(0, len(work) - 1), bool)
    for key in keys:
        same &= work[key][1:] == work[key][:-1]
    if same.any():
        work = work.compress(np.append(True, ~same))
    work["start_ns"] += trace.base_ns
    work["end_ns"] += trace.base_ns
    return work, int(same.sum())


def _one_call_each(trace: Trace) -> npt.NDArray[np.void]:
    """Return the calls by correlation id: the graph launch where there are several, else the first.

    A call of the runtime and the driver's inside it may share their id.
    """
    calls = trace.calls.to_array()
    order = np.lexsort((calls["start_ns"], -calls["is_graph_launch"], calls["correlation_id"]))
    calls = calls.take(order)
    calls = calls.compress(calls["correlation_id"] > 0)
    first = np.ones(len(calls), bool)
    first[1:] = calls["correlation_id"][1:] != calls["correlation_id"][:-1]
    found: npt.NDArray[np.void] = calls.compress(first)
    found["start_ns"] += trace.base_ns
    found["end_ns"] += trace.base_ns
    return found


def _call_of(calls: npt.NDArray[np.void], correlation: IntArray) -> IntArray:
    """Return the index of each correlation id's call; -1 for none."""
    if not len(calls):
        return np.full(len(correlation), -1, np.int64)
    known = calls["correlation_id"]
    at = np.minimum(np.searchsorted(known, correlation), len(known) - 1)
    return np.where((known[at] == correlation) & (correlation > 0), at, -1)


def _number_nodes(work: Activities, mine: IntArray) -> tuple[frozenset[int], frozenset[int]]:
    """Give launched work without node ids an executable and a node, in place.

    Launches that ran the same work, stream by stream in the same order, are taken as of one
    executable; nodes are numbered stream by stream. Returns the executables' ids, and those of
    which streams ran the same.
    """
    numbers: dict[bytes, int] = {}
    # Above those that the trace reports: another gviz may have numbered these.
    first = max(OWN_IDS, int(work["exec_id"].max(initial=0))) + 1
    unaligned: set[int] = set()
    order = mine[np.argsort(work["correlation_id"][mine], kind="stable")]
    cuts = np.flatnonzero(np.diff(work["correlation_id"][order])) + 1
    for launch in np.split(order, cuts) if len(order) else ():
        streams = []
        for stream in distinct_values(work["stream_id"][launch]):
            at = launch[work["stream_id"][launch] == stream]
            streams.append((_shape(work.take(at)), at))
        # Which number a stream gets differs from launch to launch; what it does, does not.
        streams.sort(key=lambda s: s[0])
        digest = hashlib.sha256(b"|".join(shape for shape, _ in streams)).digest()
        exec_id = numbers.setdefault(digest, first + len(numbers))
        if len({shape for shape, _ in streams}) < len(streams):
            unaligned.add(exec_id)
        placed = np.concatenate([at for _, at in streams])
        work["exec_id"][placed] = exec_id
        work["node_id"][placed] = np.arange(len(placed))
    return frozenset(numbers.values()), frozenset(unaligned)


def _shape(work: Activities) -> bytes:
    """Return what makes work the same nodes, where a trace reports no node ids."""
    columns = (work["type"], work["name"], *work["grid"].T, *work["block"].T, work["bytes"])
    return np.stack(columns).tobytes()


def _group(work: Activities, inside: IntArray) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """Return a number for each launch's work, -1 where none is known, and which of it is doubtful.

    Work in bodies of conditional nodes carries the correlation id 0: it is given to the latest
    launch of its executable that had begun.
    """
    correlation, executable = work["correlation_id"][inside], work["exec_id"][inside]
    group = np.full(len(inside), -1, np.int64)
    plain = np.flatnonzero(correlation > 0)
    keys = np.stack([executable[plain], correlation[plain]], axis=1)
    if len(plain):
        _, group[plain] = np.unique(keys, axis=0, return_inverse=True)
    loose = np.flatnonzero(correlation <= 0)
    start = work["start_ns"][inside]
    for exec_id in distinct_values(executable[loose]).tolist():
        mine = loose[executable[loose] == exec_id]
        known = plain[executable[plain] == exec_id]  # by start, as all work is
        if len(known):
            at = np.searchsorted(start[known], start[mine], side="right") - 1
            group[mine] = np.where(at >= 0, group[known[np.maximum(at, 0)]], -1)
    return group, correlation <= 0


def _launches(
    trace: Trace,
    work: Activities,
    calls: npt.NDArray[np.void],
    inside: IntArray,
    group: IntArray,
    ambiguous: npt.NDArray[np.bool_],
) -> tuple[npt.NDArray[np.void], IntArray]:
    """Return the launches in order of time, and the place of each group among them."""
    count = int(group.max()) + 1 if len(group) else 0
    size = np.bincount(group, minlength=count)
    ambiguous_counts = np.bincount(group[ambiguous], minlength=count)
    first = np.full(count, np.iinfo(np.int64).max)
    last = np.zeros(count, np.int64)
    np.minimum.at(first, group, work["start_ns"][inside])
    np.maximum.at(last, group, work["end_ns"][inside])
    sample = np.zeros(count, np.int64)
    plain = work["correlation_id"][inside] > 0
    sample[group[plain]] = inside[plain]
    found = np.empty(count, TRACED_LAUNCH)
    # Without launches there may be no work to take samples of.
    for name in ("exec_id", "correlation_id"):
        found[name] = work[name][sample] if count else 0
    found["call"] = _call_of(calls, found["correlation_id"])
    found["gpu_start_ns"], found["gpu_end_ns"] = first, last
    found["span_count"], found["ambiguous_count"] = size, ambiguous_counts
    found = np.concatenate((found, _whole_launches(trace, calls)))
    order = np.argsort(found["gpu_start_ns"], kind="stable")
    rank = np.empty(len(found), np.int64)
    rank[order] = np.arange(len(found))
    return found.take(order), rank


def _whole_launches(trace: Trace, calls: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
    """Return the launches that are known as a whole only."""
    whole = trace.whole_launches.to_array()
    found = np.zeros(len(whole), TRACED_LAUNCH)
    correlation = whole["correlation_id"]
    found["exec_id"] = whole["exec_id"]
    found["correlation_id"] = np.where(correlation > 0, correlation, UNKNOWN)
    found["call"] = _call_of(calls, correlation)
    found["gpu_start_ns"] = whole["start_ns"] + trace.base_ns
    found["gpu_end_ns"] = whole["end_ns"] + trace.base_ns
    return found


def _place_in_runs(*keys: IntArray) -> IntArray:
    """Return each row's place among those before it with the same keys, from 0; sorted keys."""
    place = np.arange(len(keys[0]))
    new = np.ones(len(place), bool)
    new[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    return place - np.maximum.accumulate(np.where(new, place, 0))
