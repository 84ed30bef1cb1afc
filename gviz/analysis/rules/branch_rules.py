"""Rules about branches: run in series, waiting for each other, too small, or missing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gviz.analysis.launch import LaunchChange, filled_shares
from gviz.analysis.rules.rule import Fact, Found, rule
from gviz.analysis.subject import GraphSubject
from gviz.cuda import EdgeType, NodeType
from gviz.dag import longest_path, rank_rows
from gviz.dataclass import dataclass
from gviz.families import kernel_label
from gviz.model import NOT_WORKING
from gviz.stats import IntArray, distinct_values

#: CUgraphInstantiate_flags (cuda.h, CUDA 13.0).
_USE_NODE_PRIORITY = 8


@rule(
    "branches-took-turns",
    title="independent nodes that ran one after the other although the GPU had room",
    fix="Give the branches streams of their own when the graph is captured, fork before the first "
    "of them is launched, and launch the longer branch first.",
    source="order, queues and launch shapes in this recording",
    assumes="they run side by side, none slower than it did alone",
    bound="at most",
    needs_order=True,
)
def branches_took_turns(subject: GraphSubject) -> Iterator[Found]:
    """Yield groups of nodes that waited for independent ones."""
    for group in subject.wait_groups:
        if not group.gain_ns or group.change is None:
            continue
        first = group.waits[0]
        names = [kernel_label(subject.ref_of_vertex(v).name) for v in (first.vertex, first.blocker)]
        more = f", {len(group.waits):,} such nodes in all" if len(group.waits) > 1 else ""
        apart = len(subject.timed_launches) - group.overlapped_launches
        yield Found(
            reason=f"{names[0]} waited for {names[1]}, on which it does not depend{more}; likely "
            f"reason: {group.reason.value}",
            vertices=[w.vertex for w in group.waits],
            evidence=(
                Fact("waited", sum(w.waited_ns for w in group.waits), "ns", "derived"),
                Fact("launches in which none overlapped", apart, "", "derived"),
            ),
            gain=group.change,
        )


@rule(
    "branches-wait-for-each-other",
    title="branches that all wait for each other before they go on",
    fix="Let each branch wait only for what it needs: record events after the data that others "
    "read, instead of joining all streams.",
    source="edges and capture streams (or queues) in this recording",
    assumes="each node needs only the branch that it goes on with",
    bound="at most",
)
def branches_wait_for_each_other(subject: GraphSubject) -> Iterator[Found]:
    """Yield barriers between branches."""
    found = subject.barriers
    if found is None:
        return
    plural = "s" if found.barrier_count > 1 else ""
    yield Found(
        reason=f"{found.barrier_count:,} join{plural} at which {len(found.dependents):,} nodes "
        "wait for branches other than the one they go on with",
        vertices=found.dependents.tolist(),
        evidence=(Fact("joins", found.barrier_count, "", "derived"),),
        gain=found.change,
    )


@rule(
    "fork-too-small",
    title="branches with so little work that the fork costs more than it gives",
    fix="Capture them on the stream of the branch they run beside.",
    source="node times and gaps in this recording",
    assumes="in series every node has the usual gap before it",
    bound="at least",
    needs_order=True,
)
def fork_too_small(subject: GraphSubject) -> Iterator[Found]:
    """Yield branches that are not worth their fork."""
    found = subject.small_branches
    if found is None:
        return
    plural = "es" if len(found.branches) > 1 else ""
    yield Found(
        reason=f"{len(found.branches):,} branch{plural} whose nodes would take less time in series",
        vertices=[v for branch in found.branches for v in branch.tolist()],
        evidence=(
            Fact("time of their nodes", found.work_ns, "ns", "derived"),
            Fact("what they take in series", found.serial_ns, "ns", "estimated"),
        ),
        gain=found.gain_ns,
    )


@rule(
    "priorities-lost",
    title="nodes of higher priority that waited for others, in a graph that ignores priorities",
    fix="Instantiate with CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY.",
    source="cuda.h (CUDA 13.0), cuGraphInstantiate: without the flag nodes run with the priority "
    "of the launch stream",
    assumes="nodes of higher priority then wait for none of lower",
    bound="at most",
    needs_order=True,
    trial="priority",
)
def priorities_lost(subject: GraphSubject) -> Iterator[Found]:
    """Yield nodes that their priority would have started first."""
    flags = [e.flags for e in subject.execs]
    if not flags or any(f is None or f & _USE_NODE_PRIORITY for f in flags):
        return
    found = subject.priority_order
    if found is None:
        return
    count = len(found.vertices)
    plural = "s" if count > 1 else ""
    yield Found(
        reason=f"{count:,} node{plural} of higher priority waited for nodes of lower",
        vertices=found.vertices,
        evidence=(Fact("waited", sum(found.waited_ns), "ns", "derived"),),
        gain=found.change,
    )


@rule(
    "late-fork",
    title="a branch that waits for a node beside which it could run, as far as addresses show",
    fix="Fork before the first branch is launched: record the event (or wait_stream) before the "
    "work of the forking stream, not after it.",
    source="edges, capture streams and argument addresses in this recording",
    assumes="the node that is waited for only reads what both are given, and both run side by "
    "side, none slower",
    bound="at most",
)
def late_fork(subject: GraphSubject) -> Iterator[Found]:
    """Yield edges to another stream that no memory explains."""
    memory, level = subject.memory, subject.graph.levels[0]
    streams = subject.graph.nodes[level.part].listed("capture_stream_id")
    if memory is None or None in streams or len(set(streams)) < 2:
        return
    edges = subject.edges.of(level)
    columns = [column.tolist() for column in (edges.source, edges.target, edges.type)]
    before: dict[int, list[int]] = {}
    for a, b, _ in zip(*columns, strict=True):
        before.setdefault(b, []).append(a)
    late = [
        (a, b)
        for a, b, edge in zip(*columns, strict=True)
        if edge == EdgeType.DEFAULT
        and streams[a] != streams[b]
        and all(streams[x] == streams[b] for x in before[b] if x != a)
        and _is_unexplained(subject, a, b, before.get(a, []))
    ]
    if not late:
        return
    first = int(subject.unrolled.first[0])
    pairs = np.array(late, np.int64) + first
    model = subject.model
    dropped = np.isin(model.head, pairs[:, 1]) & model.is_queue
    for a, b in pairs.tolist():
        dropped |= (model.tail == a) & (model.head == b)
    added = [(x + first, b + first) for a, b in late for x in before[a]]
    waiting = sorted(set(pairs[:, 1].tolist()))
    a, b = (subject.ref_of_vertex(v) for v in pairs[0].tolist())
    yield Found(
        reason=f"{len(waiting):,} node{'s wait' if len(waiting) > 1 else ' waits'} for one of "
        "another stream and share no memory with it but what the node before it is given too, "
        f"such as {b.node_id} {kernel_label(b.name)} for {a.node_id} {kernel_label(a.name)}",
        vertices=waiting,
        evidence=(Fact("edges", len(late), "", "derived"),),
        gain=LaunchChange(dropped=dropped, added=added),
    )


def _is_unexplained(subject: GraphSubject, first: int, second: int, before: list[int]) -> bool:
    """Return whether no address says that ``second`` reads what ``first`` makes.

    All addresses that both are given are given to a node before them as well, and the first
    has one that the second has not: where it writes. Kernels that work element by element often
    write where they read, so nothing is reported of what waits for one.
    """
    memory, nodes = subject.memory, subject.graph.nodes
    if memory is None or not before or not {first, second, *before} <= memory.known:
        return False
    if any(nodes[n].type != NodeType.KERNEL for n in (first, second)):
        return False
    families = subject.families
    if families.families[int(families.code[first])].is_elementwise is not False:
        return False
    row, room = nodes[first], subject.multiprocessors()
    most = row.max_blocks_per_multiprocessor
    if room and most and row.block_count and row.block_count >= most * room:
        return False  # the first one fills the GPU
    earlier = frozenset().union(*(memory.addresses[n] for n in before))
    mine, theirs = memory.addresses[first], memory.addresses[second]
    return bool(mine & theirs) and mine & theirs <= earlier and bool(mine - theirs)


@rule(
    "single-stream-capture",
    title="a chain captured from one stream, with nodes that share no memory",
    fix="Capture the independent parts on streams of their own, forked from the first and joined "
    "at the end.",
    source="argument addresses, copies and memsets in this recording; stream capture keeps the "
    "order of a stream (CUDA C++ Programming Guide, CUDA Graphs)",
    assumes="nodes that are given no common allocation are independent, and run side by side "
    "where launch shapes leave room",
    bound="at most",
    needs_order=True,
)
def single_stream_capture(subject: GraphSubject) -> Iterator[Found]:
    """Yield a captured chain whose nodes could run side by side."""
    level, memory = subject.graph.levels[0], subject.memory
    streams = {*subject.graph.nodes[level.part].listed("capture_stream_id")}
    if memory is None or len(subject.graph.levels) > 1 or len(streams) != 1 or None in streams:
        return
    edges = subject.edges.of(level)
    row = rank_rows(level.count, edges.source, edges.target)
    if len(distinct_values(row)) != level.count or subject.usual.count == 0:
        return  # not one chain
    order = np.argsort(row, kind="stable")
    flow = _conflicts(subject, order)
    usual = subject.usual.of(crossing=False) or 0.0
    timed = subject.held.timed[: level.count]
    duration = subject.model.duration_ns[: level.count]
    step = duration + np.where(timed, usual, 0.0)
    path = longest_path(
        rank_rows(level.count, flow.tail, flow.head), flow.tail, flow.head, step[flow.tail], step
    )
    work = float((duration * _filled(subject)).sum())
    # Between neighbours of a chain there is nothing through which one could need the other.
    before = np.full(level.count, -1)
    before[order[1:]] = order[:-1]
    needed = flow.head[before[flow.head] == flow.tail]
    beside = np.setdiff1d(order[1:][timed[order[1:]]], needed)
    if not len(beside):
        return
    yield Found(
        reason=f"all {level.count:,} nodes were captured from one stream, and {len(beside):,} of "
        "them need not wait for the one before",
        vertices=beside.tolist(),
        evidence=(
            Fact("longest chain of nodes that share memory", path.length_ns, "ns", "estimated"),
            Fact("node time, as far as it fills the GPU", work, "ns", "estimated"),
        ),
        gain=max(0.0, float(step.sum()) - max(path.length_ns, work)),
    )


@dataclass(frozen=True, slots=True)
class _Conflicts:
    """Pairs of nodes that share memory, each once, the earlier first."""

    tail: IntArray
    head: IntArray


def _conflicts(subject: GraphSubject, order: IntArray) -> _Conflicts:
    """Return who must wait for whom: the last node before that shares an allocation with it.

    A node of which nothing is known shares memory with all.
    """
    memory, types = subject.memory, subject.graph.types.tolist()
    last: dict[int, int] = {}
    everyone = -1
    since: list[int] = []
    pairs: list[tuple[int, int]] = []
    for node in order.tolist():
        known = memory is not None and node in memory.known
        if not known and types[node] not in NOT_WORKING:
            pairs += [(other, node) for other in since]
            everyone, since, last = node, [node], {}
            continue
        found = {last[a] for a in memory.allocations[node] if a in last} if memory else set()
        pairs += [(other, node) for other in found or ({everyone} if everyone >= 0 else set())]
        since.append(node)
        for allocation in memory.allocations[node] if memory else ():
            last[allocation] = node
    table = np.array(sorted(set(pairs)), np.int64).reshape(-1, 2)
    return _Conflicts(table[:, 0], table[:, 1])


def _filled(subject: GraphSubject) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the share of the GPU that each node takes while it runs; 1 where it is not known."""
    shares = filled_shares(subject.graph.nodes, subject.multiprocessors(), unknown=1.0)
    return np.minimum(shares, 1.0)
