"""The breakdown of a launch: its time in blocks, from the largest parts down to kernel families.

The width of a block is its part of the launch: at a moment at which several executions run, each
has an equal part of it. Widths therefore add up: those of the blocks in a block to its own, and
those of a row, with the time in which nothing runs, to the launch. Sums of durations do not where
branches overlap; they stand beside it, as does the time in which anything of a block runs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gviz.dataclass import dataclass
from gviz.model import LaunchSpans, TimeArray
from gviz.stats import FloatArray, IntArray, distinct_values, group_rows


@dataclass(frozen=True, slots=True)
class NodeGroups:
    """One way to tell the nodes of a graph apart.

    Attributes
    ----------
    name
        What it tells them apart by, such as ``phase``.
    labels
        Of the groups; empty: what is in none.
    code
        int64, one a node: its group.
    is_in_order
        Whether blocks stand in the order of ``labels``; else the widest stands first.
    """

    name: str
    labels: tuple[str, ...]
    code: IntArray
    is_in_order: bool = False

    @property
    def is_empty(self) -> bool:
        """Return whether it tells nothing apart and names nothing."""
        return not any(self.labels)


@dataclass(frozen=True, slots=True)
class BlockRow:
    """Blocks of one level, in the order in which they are drawn; arrays of one length.

    Attributes
    ----------
    name
        What the level tells apart.
    labels
        Of the blocks; empty: the part of the block above that is in no group of this level.
    parent
        int64: the block of the row above; -1 in the first row.
    first, end
        int64: its nodes, places in :attr:`Breakdown.node`.
    executions
        int64: of its nodes in the launch.
    total_ns
        float64: their durations, summed.
    cover_ns
        float64: time in which any of them ran.
    width_ns
        float64: its part of the launch.
    """

    name: str
    labels: tuple[str, ...]
    parent: IntArray
    first: IntArray
    end: IntArray
    executions: IntArray
    total_ns: FloatArray
    cover_ns: FloatArray
    width_ns: FloatArray

    def __len__(self) -> int:
        return len(self.labels)

    def starts_ns(self) -> FloatArray:
        """Return where each block begins when they are drawn side by side."""
        return np.cumsum(self.width_ns) - self.width_ns


@dataclass(frozen=True, slots=True)
class Breakdown:
    """A launch as rows of blocks; every timed node is in exactly one block of each row.

    Attributes
    ----------
    node
        int64: the timed nodes, each once, in the order of the last row's blocks.
    rows
        The coarsest first.
    launch_ns
        From the first start to the last end.
    idle_ns
        Of that, the time in which nothing ran.
    """

    node: IntArray
    rows: tuple[BlockRow, ...]
    launch_ns: float
    idle_ns: float

    def nodes_of(self, row: int, block: int) -> IntArray:
        """Return the nodes of a block."""
        blocks = self.rows[row]
        return self.node[blocks.first[block] : blocks.end[block]]


def break_down(levels: Sequence[NodeGroups], spans: LaunchSpans) -> Breakdown:
    """Return the breakdown of a launch.

    Parameters
    ----------
    levels
        One a row, the coarsest first. A block holds nodes that are in the same group of its level
        and of all before it.
    spans
        Of the launch.
    """
    start, end = spans.start_ns.astype(np.float64), spans.end_ns.astype(np.float64)
    width, idle_ns = parts_of_launch(spans)
    timed, place = group_rows(spans.node)
    width_of_node = np.bincount(place, width, minlength=len(timed))
    codes = _codes(levels, timed)
    order = np.arange(len(timed))
    for at, level in reversed(list(enumerate(levels))):
        # Stable, from the finest to the coarsest: blocks of a block stay together.
        block = codes[at]
        weight = np.bincount(block, width_of_node, minlength=int(block.max(initial=-1)) + 1)
        of_level = level.code[timed]
        key = of_level.astype(np.float64) if level.is_in_order else -weight[block]
        order = order[np.lexsort((of_level[order], key[order]))]
    node_rank = np.empty(len(timed), np.int64)
    node_rank[order] = np.arange(len(timed))
    rows: list[BlockRow] = []
    above = np.zeros(len(timed), np.int64)
    for at, level in enumerate(levels):
        block, first = _in_drawn_order(codes[at], order)
        of_span = block[node_rank[place]]
        count = len(first)
        rows.append(
            BlockRow(
                name=level.name,
                labels=tuple(level.labels[g] for g in level.code[timed[order[first]]].tolist()),
                parent=above[first] if at else np.full(count, -1, np.int64),
                first=first,
                end=np.append(first[1:], len(timed))[:count],
                executions=np.bincount(of_span, minlength=count),
                total_ns=_sums(of_span, end - start, count),
                cover_ns=_covers(of_span, start, end, count),
                width_ns=_sums(of_span, width, count),
            )
        )
        above = block
    return Breakdown(timed[order], tuple(rows), float(spans.length_ns), idle_ns)


def _codes(levels: Sequence[NodeGroups], node: IntArray) -> list[IntArray]:
    """Return of each level a number for each node, equal for nodes of one block."""
    found: list[IntArray] = []
    above = np.zeros(len(node), np.int64)
    for level in levels:
        pairs = above * max(1, len(level.labels)) + level.code[node]
        above = np.unique(pairs, return_inverse=True)[1].reshape(-1).astype(np.int64)
        found.append(above)
    return found


def _in_drawn_order(code: IntArray, order: IntArray) -> tuple[IntArray, IntArray]:
    """Return the block of each node in order, and the place of each block's first node."""
    inside = code[order]
    begins = np.ones(len(inside), bool)
    begins[1:] = inside[1:] != inside[:-1]
    return np.cumsum(begins) - 1, np.flatnonzero(begins)


def _sums(block: IntArray, values: FloatArray, count: int) -> FloatArray:
    """Return the sum over each block; of a block without spans 0."""
    return np.asarray(np.bincount(block, values, minlength=count), np.float64)


def parts_of_launch(spans: LaunchSpans) -> tuple[FloatArray, float]:
    """Return each span's part of the launch, and the time between them in which none ran.

    A span that lasts no time has no part.
    """
    if not len(spans):
        return np.zeros(0), 0.0
    start, end = spans.start_ns.astype(np.float64), spans.end_ns.astype(np.float64)
    moments = distinct_values(np.concatenate((start, end)))
    begin, stop = np.searchsorted(moments, start), np.searchsorted(moments, end)
    change = np.bincount(begin, minlength=len(moments)) - np.bincount(stop, minlength=len(moments))
    running = np.cumsum(change)[:-1]
    length = np.diff(moments)
    each = np.divide(length, running, out=np.zeros(len(length)), where=running > 0)
    until = np.concatenate(([0.0], np.cumsum(each)))
    return until[stop] - until[begin], float(length[running == 0].sum())


def _covers(block: IntArray, start: TimeArray, end: TimeArray, count: int) -> FloatArray:
    """Return of each block the time in which any of its spans ran."""
    if not len(block):
        return np.zeros(count)
    # Blocks beside each other on one axis: no span of one reaches into the next.
    step = float(end.max() - start.min()) + 1
    shift = block * step - start.min()
    order = np.argsort(start + shift, kind="stable")
    begin, stop = (start + shift)[order], (end + shift)[order]
    before = np.concatenate(([-np.inf], np.maximum.accumulate(stop)[:-1]))
    added = np.clip(stop - np.maximum(begin, before), 0, None)
    return _sums(block[order], added, count)
