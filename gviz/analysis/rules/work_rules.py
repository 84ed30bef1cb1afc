"""Rules about work that could be less: chains to fuse, copies, fills, duplicates, small grids."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan

import numpy as np

from gviz.analysis.launch import LaunchChange
from gviz.analysis.rules.rule import Fact, Found, rule
from gviz.analysis.subject import GraphSubject
from gviz.cuda import CopyKind, NodeType
from gviz.families import Kind, kernel_label
from gviz.stats import IntArray
from gviz.text import counted

#: What a kernel takes that does nothing (0.83 µs by CUPTI 13.0 on an H100, docs/limits.md).
EMPTY_KERNEL_NS = 830.0
#: Kernels longer than this are worth being kernels of their own, whatever they do.
LONGEST_FUSED_NS = 10_000
#: Kernels as short as this do little but start and end.
_TINY_NS = 3_000


@rule(
    "fusable-chain",
    title="short kernels in series that work element by element, or do little but start",
    fix="Fuse them into one kernel (torch.compile, a fused or foreach optimizer, cupy.fuse, "
    "jax.jit, or by hand).",
    source="gaps and durations in this recording; what a kernel takes that does nothing is "
    "measured in docs/limits.md",
    assumes="a fused kernel saves every other kernel's usual gap and start (0.83 µs); what it "
    "saves in memory traffic comes on top",
)
def fusable_chain(subject: GraphSubject) -> Iterator[Found]:
    """Yield chains of short kernels that could be one."""
    chains = subject.once(fusable_chains)
    if not chains:
        return
    model, usual = subject.model, subject.usual.of(crossing=False) or 0.0
    duration, gap = model.duration_ns.copy(), model.gap_ns.copy()
    gone = np.concatenate([chain[1:] for chain in chains])
    start = min(EMPTY_KERNEL_NS, float(duration[np.concatenate(chains)].min()))
    duration[gone] -= start
    gap[gone] = np.maximum(gap[gone] - usual, 0.0)
    longest = max(chains, key=len)
    names = subject.graph.nodes.texts("name")
    different = list(dict.fromkeys(names.codes[subject.unrolled.node[longest]].tolist()))
    named = ", ".join(kernel_label(names.values[code]) for code in different[:2])
    count = sum(map(len, chains))
    total = float(sum(model.duration_ns[chain].sum() for chain in chains))
    plural = "s" if len(chains) > 1 else ""
    yield Found(
        reason=f"{len(chains):,} chain{plural} of {count:,} short kernels in series, the longest "
        f"of {len(longest):,}: {named}{' and others' if len(different) > 2 else ''}",
        vertices=[v for chain in chains for v in chain.tolist()],
        evidence=(
            Fact("node time of the chains", total, "ns", "derived"),
            Fact("usual gap between kernels", usual, "ns", "derived"),
            Fact("start of a kernel", start, "ns", "estimated"),
        ),
        gain=LaunchChange(gap_ns=gap, duration_ns=duration),
    )  # fmt: skip


def fusable_chains(subject: GraphSubject) -> list[IntArray]:
    """Return the vertices of each stretch of a series that could be one kernel."""
    if subject.reachability is None:
        return []
    kernels = _Kernels(subject)
    return [
        chain
        for members in subject.reachability.series.members()
        for chain in kernels.stretches(members)
    ]


class _Kernels:
    """The vertices of a launch as candidates for one kernel; lists by vertex.

    Attributes
    ----------
    by_name
        Whether its name says that it works element by element; None: it does not show it.
    fits
        Whether it is a kernel short enough.
    threads
        Of its grid; NaN: not recorded.
    device
        It runs on; None: not recorded.
    """

    def __init__(self, subject: GraphSubject) -> None:
        node, nodes = subject.unrolled.node, subject.graph.nodes
        families = subject.families
        verdicts = [family.is_elementwise for family in families.families]
        self.by_name = [verdicts[code] for code in families.code[node].tolist()]
        longest = np.array(
            [-1.0 if is_it is False else LONGEST_FUSED_NS if is_it else _TINY_NS
             for is_it in self.by_name]
        )  # fmt: skip
        is_kernel = (subject.graph.types == NodeType.KERNEL)[node]
        self.fits = (
            subject.held.timed & is_kernel & (subject.held.duration_ns <= longest)
        ).tolist()
        size = (nodes.integers(f"block_{axis}", 0) for axis in "xyz")
        x, y, z = (column.astype(np.float64) for column in size)
        threads = nodes.block_counts() * np.where(x > 0, x, np.nan) * np.maximum(y, 1)
        self.threads = (threads * np.maximum(z, 1))[node].tolist()
        device = nodes.listed("device_id")
        self.device = [device[n] for n in node.tolist()]

    def stretches(self, members: IntArray) -> Iterator[IntArray]:
        """Yield the stretches of a series that could be one kernel: two by name, three by size."""
        run: list[int] = []
        for vertex in members.tolist():
            if run and not (self.fits[vertex] and self._continue(run[-1], vertex)):
                yield from self._enough(run)
                run = []
            if self.fits[vertex]:
                run.append(vertex)
        yield from self._enough(run)

    def _continue(self, before: int, vertex: int) -> bool:
        if self.device[before] != self.device[vertex]:
            return False
        # Where the name says nothing, the same number of threads speaks for the same elements.
        if self.by_name[vertex] and self.by_name[before]:
            return True
        first, second = self.threads[before], self.threads[vertex]
        return first == second or (isnan(first) and isnan(second))

    def _enough(self, run: list[int]) -> Iterator[IntArray]:
        if len(run) >= (2 if all(self.by_name[v] for v in run) else 3):
            yield np.array(run, np.int64)


@rule(
    "device-copy",
    title="copies from device memory to device memory on the critical path",
    fix="Let the kernel that makes the data write it where it is wanted, or the one that reads it "
    "read it where it is (static inputs: write into the graph's own input buffer).",
    source="a copy moves no new information: its time and gap are in this recording",
    assumes="the copy can go, and what waits for it waits the usual gap for what it copied",
    bound="at most",
)
def device_copy(subject: GraphSubject) -> Iterator[Found]:
    """Yield copies within a device."""
    graph = subject.graph
    is_copy = graph.types == NodeType.MEMCPY
    is_copy &= graph.nodes.integers("copy_kind", 0) == CopyKind.DTOD
    copies = np.flatnonzero(is_copy[subject.unrolled.node] & subject.held.timed)
    if not len(copies):
        return
    total = float(subject.model.duration_ns[copies].sum())
    copied = graph.nodes.integers("bytes", 0)[subject.unrolled.node[copies]]
    plural = "ies" if len(copies) > 1 else "y"
    yield Found(
        reason=f"{len(copies):,} cop{plural} from device to device memory",
        vertices=copies.tolist(),
        evidence=(
            Fact("time of the copies", total, "ns", "derived"),
            Fact("bytes copied", sum(copied.tolist()), "bytes", "measured"),
        ),
        gain=without(subject, copies),
    )


def without(subject: GraphSubject, vertices: IntArray) -> LaunchChange:
    """Return a launch without these; what waited for them waits the usual gap."""
    model, usual = subject.model, subject.usual.of(crossing=False)
    duration, gap = model.duration_ns.copy(), model.gap_ns.copy()
    duration[vertices] = gap[vertices] = 0.0
    if usual is not None:
        after = np.flatnonzero(np.isin(subject.held.dependency, vertices) & subject.held.timed)
        gap[after] = np.minimum(gap[after], usual)
    return LaunchChange(gap_ns=gap, duration_ns=duration)


@rule(
    "below-one-wave",
    title="kernels on the critical path with fewer blocks than half of the multiprocessors",
    fix="Split the work over more blocks (smaller tiles, split-K, a larger batch), or run "
    "independent work beside it.",
    source="CUDA C++ Best Practices Guide, Thread and Block Heuristics: more blocks than "
    "multiprocessors; the numbers are this recording's",
    assumes="the work can be split evenly, and no kernel gets shorter than the shortest here",
    bound="at most",
)
def below_one_wave(subject: GraphSubject) -> Iterator[Found]:
    """Yield the kernels that leave more than half of the multiprocessors empty."""
    room = subject.multiprocessors()
    held, model = subject.held, subject.model
    if not room:
        return
    kinds = subject.graph.types[subject.unrolled.node]
    kernels = np.flatnonzero(held.timed & (kinds == NodeType.KERNEL))
    if not len(kernels):
        return
    least = float(np.percentile(model.duration_ns[kernels], 5))
    count = subject.graph.nodes.block_counts()[subject.unrolled.node]
    few = (kinds == NodeType.KERNEL) & (count * 2 <= room) & (model.duration_ns >= _TINY_NS)
    # A collective takes as long as the slowest rank, and has the blocks that its library gives it.
    few &= ~subject.families.of_kind(Kind.COLLECTIVE)[subject.unrolled.node]
    by_name: dict[str, list[int]] = {}
    for vertex in subject.path[few[subject.path]].tolist():
        name = subject.graph.nodes[int(subject.unrolled.node[vertex])].name
        by_name.setdefault(name, []).append(vertex)
    if not by_name:
        return
    chosen = np.array([v for found in by_name.values() for v in found], np.int64)
    blocks = count[chosen]
    duration = model.duration_ns.copy()
    spread = np.maximum(duration[chosen] * blocks / room, least)
    duration[chosen] = np.minimum(duration[chosen], spread)
    longest = sorted(by_name.items(), key=lambda item: -model.duration_ns[item[1]].sum())
    named = [
        f"{len(found):,} x {kernel_label(name)} of {counted(int(np.median(count[found])), 'block')}"
        for name, found in longest[:2]
    ]
    plural = "s have" if len(chosen) > 1 else " has"
    yield Found(
        reason=f"{len(chosen):,} kernel{plural} fewer blocks than half of the {room:,} "
        f"multiprocessors: {', '.join(named)}{' and others' if len(longest) > 2 else ''}",
        vertices=[v for _, found in longest for v in found],
        evidence=(
            Fact("node time", float(model.duration_ns[chosen].sum()), "ns", "derived"),
            Fact("blocks, median", float(np.median(blocks)), "", "measured"),
            Fact("multiprocessors", room, "", "measured"),
        ),
        gain=LaunchChange(duration_ns=duration),
    )
