"""Rules about what lengthens the gaps of a launch: fills, copies, host and allocation nodes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gviz.analysis.launch import Hold, LaunchChange
from gviz.analysis.rules.rule import Fact, Found, rule
from gviz.analysis.subject import GraphSubject
from gviz.cuda import CopyKind, NodeType
from gviz.stats import IntArray, distinct_values
from gviz.text import duration

#: Copies within a device, or between two of them: what a kernel could do as well.
_ON_DEVICE = frozenset({CopyKind.DTOD, CopyKind.PTOP})


@rule(
    "memset-between-kernels",
    title="a memset between two kernels, with longer gaps around it than kernels have",
    fix="Fill with a kernel, or let a neighbouring kernel write the value.",
    source="NVIDIA technical blog, 'Constant Time Launch for Straight-Line CUDA Graphs' (2024): "
    "chains of kernels launch fastest; the gaps are this recording's own",
    assumes="a kernel that fills takes as long as the memset, with the usual gaps around it",
    needs_order=True,
)
def memset_between_kernels(subject: GraphSubject) -> Iterator[Found]:
    """Yield memsets between kernels whose gaps are longer than usual."""
    yield from _between_kernels(subject, NodeType.MEMSET, "memset")


@rule(
    "memcpy-between-kernels",
    title="a copy on the device between two kernels, with longer gaps around it than kernels have",
    fix="Copy with a kernel, or let a neighbouring kernel read or write the other buffer.",
    source="NVIDIA technical blog, 'Constant Time Launch for Straight-Line CUDA Graphs' (2024): "
    "chains of kernels launch fastest; the gaps are this recording's own",
    assumes="a kernel that copies takes as long as the copy, with the usual gaps around it",
    needs_order=True,
)
def memcpy_between_kernels(subject: GraphSubject) -> Iterator[Found]:
    """Yield copies on the device between kernels whose gaps are longer than usual."""
    yield from _between_kernels(subject, NodeType.MEMCPY, "copy")


def _between_kernels(subject: GraphSubject, kind: NodeType, word: str) -> Iterator[Found]:
    held, model, usual = subject.held, subject.model, subject.usual.of(crossing=False)
    if usual is None:
        return
    kinds = subject.graph.types[subject.unrolled.node]
    before = held.dependency
    chosen = held.timed & (kinds == kind) & (before >= 0) & (kinds[before] == NodeType.KERNEL)
    if kind == NodeType.MEMCPY:
        copies = np.isin(subject.graph.nodes.integers("copy_kind", 0), list(_ON_DEVICE))
        chosen &= copies[subject.unrolled.node]
    after = np.flatnonzero(held.timed & (kinds == NodeType.KERNEL) & (before >= 0) & chosen[before])
    between = distinct_values(before[after])
    if not len(between):
        return
    around = np.concatenate((between, after))
    gap = model.gap_ns.copy()
    gap[around] = np.minimum(gap[around], usual)
    plural = "s" if len(between) > 1 else ""
    yield Found(
        reason=f"{len(between):,} {word}{plural} between kernels: the gap to the next kernel is "
        f"{duration(np.median(held.gap_ns[after]))}, between kernels {duration(usual)}",
        vertices=between.tolist(),
        evidence=(
            Fact("median gap before", _median(held.gap_ns[between]), "ns", "derived"),
            Fact("median gap after", _median(held.gap_ns[after]), "ns", "derived"),
            Fact("usual gap between kernels", usual, "ns", "derived"),
        ),
        gain=LaunchChange(gap_ns=gap),
    )  # fmt: skip


@rule(
    "host-node-on-path",
    title="a host node on the critical path: the GPU waits for a function on the CPU",
    fix="Do the work on the GPU, move the callback behind the graph's last node or to a branch "
    "that nothing waits for, or call the function after the launch.",
    source="cuda.h (CUDA 13.0), cuGraphAddHostNode: the node invokes a CPU function; the gap is "
    "this recording's own",
    assumes="what waits for it then waits with the usual gap for what the host node waited for",
    bound="at most",
    needs_order=True,
)
def host_node_on_path(subject: GraphSubject) -> Iterator[Found]:
    """Yield host nodes that the critical path passes through."""
    yield from _on_path(subject, {NodeType.HOST}, "host node")


@rule(
    "allocation-on-path",
    title="an allocation or free node on the critical path",
    fix="Allocate before the capture and reuse the memory in every launch.",
    source="cuda.h (CUDA 13.0), cuGraphAddMemAllocNode; the gap is this recording's own",
    assumes="without it the gap is the usual one",
    bound="at most",
    needs_order=True,
)
def allocation_on_path(subject: GraphSubject) -> Iterator[Found]:
    """Yield allocation and free nodes that the critical path passes through."""
    yield from _on_path(subject, {NodeType.MEM_ALLOC, NodeType.MEM_FREE}, "allocation or free node")


def _on_path(subject: GraphSubject, kinds: set[NodeType], word: str) -> Iterator[Found]:
    """Yield nodes of these kinds that the observed path passes, with or without a time."""
    held, model = subject.held, subject.model
    usual = subject.usual.of(crossing=True) or 0.0
    kind = subject.graph.types[subject.unrolled.node].tolist()
    if kinds.isdisjoint(kind):
        return
    found, waiting = set(), []
    gap_ns, duration_ns = model.gap_ns.copy(), model.duration_ns.copy()
    for vertex in subject.path.tolist():
        if kind[vertex] in kinds:
            found.add(vertex)
            duration_ns[vertex] = gap_ns[vertex] = 0.0
        passed = [v for v in subject.untimed_before(vertex) if kind[v] in kinds]
        if passed and held.held_by[vertex] == Hold.DEPENDENCY:
            found |= set(passed)
            waiting.append(vertex)
            gap_ns[vertex] = min(gap_ns[vertex], usual)
    if not found:
        return
    plural = "s" if len(found) > 1 else ""
    gain = LaunchChange(gap_ns=gap_ns, duration_ns=duration_ns)
    longest = (
        float(np.max(held.gap_ns[waiting]))
        if waiting
        else float(np.max(held.duration_ns[list(found)]))
    )
    yield Found(
        reason=f"{len(found):,} {word}{plural} on the critical path: the GPU waits up to "
        f"{duration(longest)} for one",
        vertices=sorted(found),
        evidence=(
            Fact("longest wait", longest, "ns", "derived"),
            Fact("usual gap between kernels", usual, "ns", "derived"),
        ),
        gain=gain,
    )


def _median(values: IntArray) -> float:
    return float(np.median(values))
