"""Rules about launch shapes: grids too small to fill the GPU, and one kernel in many shapes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gviz.analysis.launch import LaunchChange, filled_shares
from gviz.analysis.rules.rule import Fact, Found, rule
from gviz.analysis.rules.work_rules import EMPTY_KERNEL_NS, LONGEST_FUSED_NS, fusable_chains
from gviz.analysis.subject import GraphSubject
from gviz.cuda import NodeType
from gviz.families import Kind, kernel_label
from gviz.stats import BoolArray, IntArray
from gviz.text import counted

#: Compute capability from which kernels may start before what they depend on has ended.
_OVERLAPPING = (9, 0)
#: Kernels of a chain of small grids, and of one kernel in many shapes, at least.
_CHAIN, _SAME, _SHAPES = 3, 4, 3
_GRID = ("grid_x", "grid_y", "grid_z")


@rule(
    "tiny-grids-in-chain",
    title="chains of short kernels with few blocks, each of which waits for the last block before",
    fix="Launch them with programmatic dependent launch (cudaLaunchAttributeProgrammaticStream"
    "Serialization; launch_pdl in Triton), or fuse them into one kernel.",
    source="CUDA C++ Programming Guide, Programmatic Dependent Launch and Synchronization "
    "(compute capability 9.0 and later); gaps in this recording",
    assumes="gaps and starts (0.83 µs) are hidden behind the kernel before",
    bound="at most",
)
def tiny_grids_in_chain(subject: GraphSubject) -> Iterator[Found]:
    """Yield chains of kernels that leave room for the start of the next one."""
    room = subject.multiprocessors()
    if not room or (subject.compute_capability() or (0, 0)) < _OVERLAPPING:
        return
    model, unrolled = subject.model, subject.unrolled
    blocks = subject.graph.nodes.block_counts()[unrolled.node]
    fits = (
        subject.once(_candidates) & (blocks * 2 <= room) & (model.duration_ns <= LONGEST_FUSED_NS)
    )
    overlapped = np.zeros(len(unrolled), bool)
    overlapped[unrolled.head[unrolled.programmatic]] = True
    follows = fits & ~overlapped
    chains = [
        chain
        for members in _series(subject, _CHAIN)
        for chain in _runs(members, fits[members[:-1]] & follows[members[1:]])
        if len(chain) >= _CHAIN
    ]
    if not chains:
        return
    later = np.concatenate([chain[1:] for chain in chains])
    duration, gap = model.duration_ns.copy(), model.gap_ns.copy()
    duration[later] -= np.minimum(duration[later], EMPTY_KERNEL_NS)
    gap[later] = np.minimum(gap[later], 0.0)
    longest, count = max(map(len, chains)), sum(map(len, chains))
    yield Found(
        reason=f"{counted(len(chains), 'chain')} of {count:,} short kernels, each with fewer "
        f"blocks than half of the {room:,} multiprocessors, the longest of {longest:,}",
        vertices=[v for chain in chains for v in chain.tolist()],
        evidence=(
            Fact("gaps between them", float(model.gap_ns[later].sum()), "ns", "derived"),
            Fact("blocks, median", float(np.median(blocks[np.concatenate(chains)])), "",
                 "measured"),
            Fact("start of a kernel", EMPTY_KERNEL_NS, "ns", "estimated"),
        ),
        gain=LaunchChange(gap_ns=gap, duration_ns=duration),
    )  # fmt: skip


@rule(
    "kernel-in-many-shapes",
    title="one kernel several times in a row, each time in another shape that leaves the GPU room",
    fix="Do them in one launch: a grouped product (cublasGemmGroupedBatchedEx, torch._grouped_mm), "
    "a kernel for many tensors (torch._foreach), or padding to one shape.",
    source="cuBLAS documentation, cublasGemmGroupedBatchedEx; launch shapes and gaps in this "
    "recording",
    assumes="none needs the result of another, and one launch takes as long as the longest of "
    "them, or as all of them fill the GPU",
    bound="at most",
)
def kernel_in_many_shapes(subject: GraphSubject) -> Iterator[Found]:
    """Yield kernels that one launch over all shapes would replace."""
    if not subject.multiprocessors():
        return
    nodes, unrolled, model = subject.graph.nodes, subject.unrolled, subject.model
    filled = filled_shares(nodes, subject.multiprocessors(), unknown=1.0)[unrolled.node]
    fits = subject.once(_candidates) & (filled < 1)
    code = subject.families.code[unrolled.node]
    shape = np.stack([nodes.integers(axis, 0) for axis in _GRID], axis=1)[unrolled.node]
    groups = [
        run
        for members in _series(subject, _SAME)
        for run in _runs(members, fits[members[:-1]] & _repeats(subject, members, fits, code))
        if len(run) >= _SAME and len(np.unique(shape[run], axis=0)) >= _SHAPES
    ]
    if not groups:
        return
    duration, gap = model.duration_ns.copy(), model.gap_ns.copy()
    for run in groups:
        together = float((duration[run] * filled[run]).sum())
        duration[run[0]] = max(together, float(duration[run].max()))
        duration[run[1:]] = gap[run[1:]] = 0.0
    first = max(groups, key=len)
    count = sum(map(len, groups))
    shapes = len(np.unique(shape[first], axis=0))
    yield Found(
        reason=f"{count:,} kernels in a row that differ in shape only, such as {len(first):,} x "
        f"{kernel_label(nodes[unrolled.node[first[0]]].name)} in {shapes:,} shapes",
        vertices=[v for run in groups for v in run.tolist()],
        evidence=(
            Fact("node time", float(sum(model.duration_ns[run].sum() for run in groups)), "ns",
                 "derived"),
            Fact("kernels that one launch would replace, on average", count / len(groups), "",
                 "derived"),
        ),
        gain=LaunchChange(gap_ns=gap, duration_ns=duration),
    )  # fmt: skip


def _repeats(
    subject: GraphSubject, members: IntArray, fits: BoolArray, code: IntArray
) -> BoolArray:
    """Return which members of a series but the first do what the one before does, beside it.

    Not beside it, as far as addresses are recorded: both are given an address that the node before
    them is not, which may be what the first writes and the second reads; or nothing else.
    """
    found: BoolArray = fits[members[1:]] & (code[members[1:]] == code[members[:-1]])
    memory, node = subject.memory, subject.unrolled.node[members]
    if memory is None:
        return found
    addresses, of_level = memory.addresses, len(memory.addresses)
    for at in np.flatnonzero(found & (node[1:] < of_level) & (node[:-1] < of_level)).tolist():
        shared = addresses[node[at]] & addresses[node[at + 1]]
        start = at
        while start and found[start - 1]:
            start -= 1
        before = node[start - 1] if start else of_level
        earlier = addresses[before] if before < of_level else frozenset()
        have_own = all(addresses[node[x]] - shared for x in (at, at + 1))
        found[at] = not shared or (shared <= earlier and have_own)
    return found


def _candidates(subject: GraphSubject) -> BoolArray:
    """Return the timed kernels that are no collectives and in no chain to fuse: one a vertex."""
    node = subject.unrolled.node
    found: BoolArray = (subject.graph.types == NodeType.KERNEL)[node] & subject.held.timed
    found &= ~subject.families.of_kind(Kind.COLLECTIVE)[node]
    for chain in subject.once(fusable_chains):
        found[chain] = False
    return found


def _series(subject: GraphSubject, least: int) -> list[IntArray]:
    """Return the series of at least so many vertices; none where these are not known."""
    known = subject.reachability
    return [] if known is None else [x for x in known.series.members() if len(x) >= least]


def _runs(members: IntArray, is_joined: BoolArray) -> Iterator[IntArray]:
    """Yield the runs of a series in which each member is joined to the one before."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], is_joined.view(np.int8), [0]))))
    for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        yield members[begin : end + 1]
