"""Node time of a launch by name, family, kind, NVTX range and layer, and how full the GPU was.

All of the median launch. Shares are of the time of all nodes, whether or not they overlapped.

References
----------
Waves and the tail: NVIDIA, "CUDA Pro Tip: Minimize the Tail Effect" (2014), and Matrix
Multiplication Background User's Guide, Wave Quantization. A wave is as many blocks as the GPU
holds at once; a last wave that is not full leaves the rest of the GPU empty.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gviz.analysis.evidence import span_evidence
from gviz.analysis.model_layers import LayerSource, find_model_layers
from gviz.analysis.node_ref import NodeRef
from gviz.analysis.repeats import outermost_repeats
from gviz.analysis.results.launch_sums import Bounds, key_bounds, sum_bounds
from gviz.analysis.subject import GraphSubject
from gviz.cuda import NodeType, node_type_name
from gviz.dataclass import dataclass
from gviz.layout import compare_repeats
from gviz.model import GraphTree, TimeArray, nested_ranges
from gviz.stats import Evidence, FloatArray, IntArray, Interval, NotComputed, figure, group_rows

#: Rows of a table, at most; the others are counted and summed.
_MOST_ROWS = 100
#: Kernels that are named as leaving the GPU empty.
_NAMED = 8
#: Stands for the range of nodes that were made in none.
OUTSIDE = "(no range)"


@dataclass(frozen=True, slots=True)
class TimeShares:
    """Node time by something, the largest first; columns of one length."""

    name: tuple[str, ...] = figure("stated", "what the nodes have in common")
    executions: tuple[int, ...] = figure("measured", "executions of such nodes in a launch")
    total_ns: tuple[float, ...] = figure("derived", "their time, summed")
    interval: tuple[Interval, ...] = figure("derived", "of total_ns")
    fraction: tuple[float, ...] = figure("derived", "of the time of all nodes, 0 to 1")
    cumulative_fraction: tuple[float, ...] = figure(
        "derived", "this one and all above it together: the Pareto curve; null where rows overlap"
    )
    path_ns: tuple[float, ...] | None = figure(
        "derived", "of total_ns on the observed critical path; null: there is none"
    )
    left_out_count: int = figure("stated", f"rows beyond the first {_MOST_ROWS}")


@dataclass(frozen=True, slots=True)
class RepeatTime:
    """Equal blocks of nodes that follow each other."""

    graph_id: int = figure("stated", "graph or body")
    repeats: int = figure("derived", "blocks")
    period: int = figure("derived", "nodes of a block")
    first: NodeRef = figure("stated", "first node of the first block")
    longest_name: str = figure("derived", "name with the most time in a block")
    total_ns: float = figure("derived", "time of all blocks")
    fraction: float = figure("derived", "of the time of all nodes, 0 to 1")
    median_ns: float = figure("derived", "time of a block, median")
    least_ns: float = figure("derived", "of the shortest block")
    most_ns: float = figure("derived", "of the longest block")
    slowest: int | None = figure("derived", "which block that is, from 0")


@dataclass(frozen=True, slots=True)
class LayerTimes:
    """Node time by layer of the model, in the layers' order; columns of one length."""

    source: LayerSource = figure(
        "stated", "what tells the layers: ranges (NVTX), or repeats (of equal blocks of nodes)"
    )
    name: tuple[str, ...] = figure("derived", "such as layer 5")
    number: tuple[int, ...] = figure(
        "derived", "as the ranges number them; of blocks that repeat, from 0"
    )
    node_count: tuple[int, ...] = figure("derived", "nodes of the graph in it")
    total_ns: tuple[float, ...] = figure("derived", "their time, summed")
    interval: tuple[Interval, ...] = figure("derived", "of total_ns")
    fraction: tuple[float, ...] = figure("derived", "of the time of all nodes, 0 to 1")
    inferred_count: int = figure(
        "derived",
        "nodes whose layer follows from the order of blocks: those of autograd's thread, which "
        "comes to the layers last to first, and of other repeats of as many blocks",
    )
    of_forward_count: int = figure(
        "derived",
        "nodes of autograd whose layer is that of the operation of the forward pass, by PyTorch's "
        "sequence numbers",
    )

    def longest_first(self) -> list[int]:
        """Return the places of the layers by their time."""
        return sorted(range(len(self.name)), key=lambda at: -self.total_ns[at])


@dataclass(frozen=True, slots=True)
class KernelWaves:
    """Kernels of one name and launch shape."""

    name: str = figure("stated", "kernel")
    executions: int = figure("measured", "of them in a launch")
    total_ns: float = figure("derived", "their time")
    blocks: int = figure("measured", "blocks of the grid")
    blocks_at_once: int = figure(
        "derived", "blocks that the GPU holds: multiprocessors times blocks that fit on one"
    )
    waves: float = figure("derived", "blocks over blocks_at_once")
    filled_fraction: float = figure("derived", "waves over the next whole number of waves")


@dataclass(frozen=True, slots=True)
class Fullness:
    """Share of the GPU that kernels' blocks filled, each alone; no roofline, no counters."""

    kernel_ns: float = figure("derived", "time of the kernels of which it is known")
    known_fraction: float = figure("derived", "that, of the time of all kernels, 0 to 1")
    occupancy_fraction: float | None = figure(
        "derived",
        "theoretical occupancy, mean by time: threads that a multiprocessor holds over those it "
        "could; null: not recorded",
    )
    filled_fraction: float = figure(
        "derived",
        "blocks over the blocks that their waves could hold, mean by time, 0 to 1: what grid "
        "sizes and resources make of the GPU",
    )
    below_one_wave_ns: float = figure("derived", "time of kernels of less than a wave")
    tail_ns: float = figure(
        "estimated",
        "of kernels of a wave or more: the empty share of their waves times their time; all "
        "blocks of a kernel taken to last equally long",
    )
    kernels: tuple[KernelWaves, ...] = figure(
        "derived", f"by kernel and launch shape, those first whose empty share times time is "
        f"largest, {_NAMED} at most",
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Dominance:
    """The largest parts of a launch's node time."""

    node_ns: float = figure("derived", "time of all nodes of the median launch")
    by_name: TimeShares = figure("derived", "by kernel name, or kind of copy")
    by_family: TimeShares = figure(
        "derived",
        "by kernel family: kind, types and tile; a kernel of no known family by its name",
    )
    by_kind: TimeShares = figure("derived", "by node type")
    by_range: TimeShares | NotComputed = figure(
        "derived",
        "by text of the innermost NVTX range in which nodes were made, wherever it nests: the "
        "same range of all layers is one row",
    )
    by_nesting: TimeShares | NotComputed = figure(
        "derived",
        "by NVTX range as it nests, what is inside counted too: rows overlap, and there is no "
        "cumulative share",
    )
    capture_range_count: int = figure(
        "derived",
        "nodes that were made on a thread without ranges, such as autograd's: theirs in the tables "
        "by range is the one that was open on the capturing thread when they were made",
    )
    forward_range_count: int = figure(
        "derived",
        "nodes of autograd whose range in these tables is that of the operation of the forward "
        "pass, which lies inside the one that was open on the capturing thread",
    )
    forward_count: int = figure(
        "derived",
        "nodes of autograd whose operation of the forward pass is known, by PyTorch's sequence "
        "numbers",
    )
    layers: LayerTimes | NotComputed = figure("derived", "by layer of the model, in their order")
    repeats: tuple[RepeatTime, ...] | NotComputed = figure(
        "derived", "outermost repeats of equal blocks, in each level, the longest first"
    )
    fullness: Fullness | NotComputed = figure("derived", "how full kernels made the GPU")
    evidence: Evidence = figure("stated", "what it rests on")


def dominance(subject: GraphSubject) -> Dominance | NotComputed:
    """Return what dominates a graph's median launch."""
    if subject.why_no_times:
        return NotComputed(subject.why_no_times)
    spans, graph = subject.spans, subject.graph
    duration = np.asarray(spans.end_ns - spans.start_ns, np.float64)
    path = _path_share(subject, duration)
    names = graph.nodes.texts("name")
    kinds, kind = group_rows(graph.types)
    each = _Totals(subject, duration, path)
    families = subject.named_families
    by_range, by_nesting = _by_ranges(subject, each)
    why_no_repeats = subject.why_no_edges or subject.why_contradicted
    return Dominance(
        node_ns=float(duration.sum()),
        by_name=each.by([(text,) for text in names.values], names.codes.astype(np.int64)),
        by_family=each.by([(label,) for label in families.labels], families.code),
        by_kind=each.by([(node_type_name(number),) for number in kinds.tolist()], kind),
        by_range=by_range,
        by_nesting=by_nesting,
        capture_range_count=int(graph.has_range_of_capture.sum()),
        forward_range_count=int(graph.has_range_of_forward.sum()),
        forward_count=int((graph.operations.forward >= 0).sum()),
        layers=_layers(subject, duration),
        repeats=NotComputed(why_no_repeats) if why_no_repeats else _repeats(subject, duration),
        fullness=_fullness(subject, duration),
        evidence=subject.once(span_evidence),
    )


def _path_share(subject: GraphSubject, duration: TimeArray) -> TimeArray | None:
    """Return of each span its time if it is on the observed path, else 0; None: no path."""
    if subject.why_no_path:
        return None
    on_path = np.zeros(len(subject.unrolled), bool)
    on_path[subject.path] = True
    spans = subject.spans
    vertex = subject.unrolled.vertex_of(subject.graph, spans.node, spans.iteration)
    found: TimeArray = np.where((vertex >= 0) & on_path[vertex], duration, 0.0)
    return found


class _Totals:
    """Sums over spans that have something in common."""

    def __init__(self, subject: GraphSubject, duration: TimeArray, path: TimeArray | None) -> None:
        self._subject, self._duration, self._path = subject, duration, path

    def by(
        self, keys: Sequence[Sequence[str]], of_node: IntArray, *, overlap: bool = False
    ) -> TimeShares:
        """Return the table of spans by their keys; with several each, they overlap.

        Parameters
        ----------
        keys
            The keys of each kind of node.
        of_node
            int64, one a node of the graph: its kind, an index into ``keys``.
        """
        kind = of_node[self._subject.spans.node]
        known: dict[str, int] = {}
        codes = {
            at: [known.setdefault(key, len(known)) for key in keys[at]]
            for at in _in_order_of_appearance(kind)
        }
        sizes = np.array([len(codes.get(at, ())) for at in range(len(keys))], np.int64)
        code = np.array([c for at in range(len(keys)) for c in codes.get(at, ())], np.int64)
        count = sizes[kind]
        span = np.repeat(np.arange(len(kind)), count)
        # Where the keys of a span's kind begin, less the pairs before those of the span.
        begin = (np.cumsum(sizes) - sizes)[kind] - (np.cumsum(count) - count)
        group = code[np.arange(len(span)) + begin[span]]
        size = len(known)
        total = np.bincount(group, self._duration[span], minlength=size).astype(np.float64)
        count = np.bincount(group, minlength=size)
        whole = float(self._duration.sum()) or 1.0
        order = np.argsort(-total, kind="stable")
        rows = order[:_MOST_ROWS]
        names = list(known)
        cumulative = np.cumsum(total[order])[:_MOST_ROWS] / whole
        path = None
        if self._path is not None:
            path = tuple(np.bincount(group, self._path[span], minlength=size)[rows].tolist())
        return TimeShares(
            name=tuple(names[i] for i in rows.tolist()),
            executions=tuple(count[rows].tolist()),
            total_ns=tuple(total[rows].tolist()),
            interval=self._bounds(of_node, sizes, code, rows, total[rows]).each(),
            fraction=tuple((total[rows] / whole).tolist()),
            cumulative_fraction=tuple(
                np.full(len(rows), np.nan).tolist() if overlap else cumulative.tolist()
            ),
            path_ns=path,
            left_out_count=size - len(rows),
        )

    def _bounds(
        self,
        of_node: IntArray,
        sizes: IntArray,
        code: IntArray,
        rows: IntArray,
        shown_ns: FloatArray,
    ) -> Bounds:
        """Return the bounds of some rows; ``sizes``, ``code``: the keys of each kind."""
        kind = np.repeat(np.arange(len(sizes)), sizes)
        place = np.full(len(code) + 1, -1)
        place[rows] = np.arange(len(rows))
        chosen = place[code] >= 0
        return key_bounds(self._subject, of_node, kind[chosen], place[code[chosen]], shown_ns)


def _in_order_of_appearance(kind: IntArray) -> list[int]:
    """Return the different numbers of an array, in the order in which they first stand in it."""
    found, place = group_rows(kind)
    first = np.empty(len(found), np.int64)
    first[place[::-1]] = np.arange(len(kind))[::-1]
    kinds: list[int] = found[np.argsort(first)].tolist()
    return kinds


def _by_ranges(
    subject: GraphSubject, each: _Totals
) -> tuple[TimeShares, TimeShares] | tuple[NotComputed, NotComputed]:
    """Return the tables by innermost range, and by ranges as they nest."""
    if subject.why_contradicted:
        # Sums by name stand, because nodes of one name may only have each other's times.
        missing = NotComputed(subject.why_contradicted)
        return missing, missing
    paths = subject.recording.fetch_nvtx_paths(subject.row.run_id)
    no_path = min(paths, default=0) - 1
    found, kind = group_rows(subject.graph.nodes.integers("nvtx_path_id", no_path))
    ids = [i if i in paths else None for i in found.tolist()]
    if all(i is None for i in ids):
        missing = NotComputed("no node was made inside an NVTX range that gviz saw")
        return missing, missing
    innermost = each.by([(OUTSIDE if i is None else paths[i].text,) for i in ids], kind)
    return innermost, each.by([nested_ranges(paths, i) for i in ids], kind, overlap=True)


def _layers(subject: GraphSubject, duration: TimeArray) -> LayerTimes | NotComputed:
    """Return the time of each layer of the model."""
    if subject.why_contradicted:
        return NotComputed(subject.why_contradicted)
    found = subject.once(find_model_layers)
    if isinstance(found, NotComputed):
        return found
    inside = found.of_node >= 0
    node_count = np.bincount(found.of_node[inside], minlength=len(found))
    layer = found.of_node[subject.spans.node]
    timed = layer >= 0
    total_ns = np.bincount(layer[timed], duration[timed], minlength=len(found))
    whole = float(duration.sum()) or 1.0
    return LayerTimes(
        source=found.source,
        name=found.names,
        number=tuple(found.numbers.tolist()),
        node_count=tuple(node_count.tolist()),
        total_ns=tuple(total_ns.tolist()),
        interval=sum_bounds(subject, found.of_node, total_ns).each(),
        fraction=tuple((total_ns / whole).tolist()),
        inferred_count=int(found.is_inferred.sum()),
        of_forward_count=int(found.is_of_forward.sum()),
    )


def _repeats(subject: GraphSubject, duration: TimeArray) -> tuple[RepeatTime, ...]:
    graph = subject.graph
    total = np.zeros(len(graph))
    np.add.at(total, subject.spans.node, duration)
    timed = np.zeros(len(graph), bool)
    timed[subject.spans.node] = True
    total[~timed] = np.nan
    whole = float(duration.sum()) or 1.0
    found: list[RepeatTime] = []
    for level, block in subject.once(outermost_repeats):
        times = compare_repeats(block, total)
        if times.slowest is None:
            continue
        spent = float(np.nansum(times.total_ns))
        found.append(
            RepeatTime(
                graph_id=level.graph.graph_id,
                repeats=len(block),
                period=block.shape[1],
                first=subject.ref(int(block[0, 0])),
                longest_name=_longest_name(graph, block, total),
                total_ns=spent,
                fraction=spent / whole,
                median_ns=times.median_ns,
                least_ns=times.least_ns,
                most_ns=times.most_ns,
                slowest=times.slowest,
            )
        )
    return tuple(sorted(found, key=lambda x: -x.total_ns)[:_MOST_ROWS])


def _longest_name(graph: GraphTree, blocks: IntArray, total_ns: TimeArray) -> str:
    names = graph.nodes.texts("name")
    nodes = blocks.ravel()
    found, first, group = np.unique(names.codes[nodes], return_index=True, return_inverse=True)
    total = np.bincount(group.reshape(-1), np.nan_to_num(total_ns[nodes]))
    # Of equals the one that comes first.
    return names.values[int(found[np.lexsort((first, -total))[0]])]


# -- how full the GPU was ----------------------------------------------------------------


def _fullness(subject: GraphSubject, duration: TimeArray) -> Fullness | NotComputed:
    nodes, node = subject.graph.nodes, subject.spans.node
    is_kernel = (subject.graph.types == NodeType.KERNEL)[node]
    node, duration = node[is_kernel], duration[is_kernel]
    spent = float(duration.sum())
    at_once = nodes.numbers("max_blocks_per_multiprocessor") * _multiprocessors(subject)
    blocks = nodes.block_counts()
    known = ((blocks > 0) & (at_once > 0))[node]
    node, duration = node[known], duration[known]
    names = nodes.listed("name")
    keys = zip(node.tolist(), blocks[node].tolist(), at_once[node].tolist(), strict=True)
    groups: dict[tuple[str, int, int], list[float]] = {}
    for (n, count, room), time in zip(keys, duration.tolist(), strict=True):
        groups.setdefault((names[n], int(count), int(room)), []).append(time)
    occupancy = nodes.numbers("occupancy_fraction")[node]
    occupied = float(np.nansum(occupancy * duration))
    occupied_ns = float(duration[~np.isnan(occupancy)].sum())
    if not groups:
        return NotComputed(
            "no kernel has a time, a launch shape and the blocks that fit on a multiprocessor"
        )
    rows = [
        KernelWaves(name, len(times), sum(times), blocks, at_once, blocks / at_once,
                    blocks / at_once / -(-blocks // at_once))
        for (name, blocks, at_once), times in groups.items()
    ]  # fmt: skip
    whole = sum(r.total_ns for r in rows)
    empty = sorted(rows, key=lambda r: -r.total_ns * (1 - r.filled_fraction))
    return Fullness(
        kernel_ns=whole,
        known_fraction=whole / spent if spent else 1.0,
        occupancy_fraction=occupied / occupied_ns if occupied_ns else None,
        filled_fraction=sum(r.filled_fraction * r.total_ns for r in rows) / whole if whole else 0.0,
        below_one_wave_ns=sum(r.total_ns for r in rows if r.waves < 1),
        tail_ns=sum(r.total_ns * (1 - r.filled_fraction) for r in rows if r.waves >= 1),
        kernels=tuple(empty[:_NAMED]),
    )


def _multiprocessors(subject: GraphSubject) -> FloatArray:
    """Return how many multiprocessors the GPU of each node has (float64); NaN: not recorded."""
    device = subject.graph.nodes.listed("device_id")
    count = {d: subject.multiprocessors(d) for d in set(device)}
    return np.array([count[d] for d in device], np.float64)
