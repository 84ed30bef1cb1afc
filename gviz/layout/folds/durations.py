"""Durations of what is folded: sums of items, and one repeat beside the others.

All are derived: sums of the nodes' durations, which count in full where nodes overlap.
"""

from __future__ import annotations

import numpy as np

from gviz.dataclass import dataclass
from gviz.layout.folds.fold import Fold
from gviz.layout.folds.folded_graph import FoldedDag
from gviz.stats import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class ItemDurations:
    """Durations of visible items.

    Attributes
    ----------
    total_ns
        float64, one an item: sum over its timed nodes; NaN where none is timed.
    timed_count
        int64, one an item: how many of its nodes that sum is over.
    """

    total_ns: FloatArray
    timed_count: IntArray


@dataclass(frozen=True, slots=True)
class RepeatDurations:
    """Durations of the blocks of a repeat.

    Attributes
    ----------
    total_ns
        float64, one a block: sum over its timed nodes; NaN where none is timed.
    timed_count
        int64, one a block: how many of its nodes that sum is over. Blocks in which different
        nodes are timed do not compare.
    least_ns, median_ns, most_ns
        Over blocks with a time; NaN where there is none.
    spread_ns
        Median absolute deviation from the median, over the same blocks; NaN likewise.
    slowest
        The block of the longest time, the first of several; None where none has a time.
    """

    total_ns: FloatArray
    timed_count: IntArray
    least_ns: float
    median_ns: float
    most_ns: float
    spread_ns: float
    slowest: int | None


def sum_items(folded: FoldedDag, duration_ns: FloatArray) -> ItemDurations:
    """Return the durations of visible items.

    Parameters
    ----------
    folded
        The visible items.
    duration_ns
        float64, one a node of the graph; NaN where it is not timed.
    """
    is_timed = ~np.isnan(duration_ns)
    owner = folded.item_of[is_timed]
    count = np.bincount(owner, minlength=len(folded)).astype(np.int64)
    total = np.bincount(owner, duration_ns[is_timed], minlength=len(folded))
    return ItemDurations(np.where(count > 0, total, np.nan), count)


def sum_blocks(blocks: IntArray, duration_ns: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the sum over the timed nodes of each block, NaN where none is, and their number.

    Parameters
    ----------
    blocks, duration_ns
        As :func:`compare_repeats` has them.
    """
    found = duration_ns[blocks]
    is_timed = ~np.isnan(found)
    count = is_timed.sum(axis=1).astype(np.int64)
    return np.where(count > 0, np.where(is_timed, found, 0.0).sum(axis=1), np.nan), count


def compare_repeats(blocks: IntArray, duration_ns: FloatArray) -> RepeatDurations:
    """Return the durations of the blocks of a repeat.

    Parameters
    ----------
    blocks
        int64 node indices, shape (repeats, period): those of a fold of kind repeat.
    duration_ns
        float64, one a node of the graph; NaN where it is not timed.
    """
    total, count = sum_blocks(blocks, duration_ns)
    known = total[count > 0]
    if not len(known):
        return RepeatDurations(total, count, np.nan, np.nan, np.nan, np.nan, None)
    median = float(np.median(known))
    return RepeatDurations(
        total_ns=total,
        timed_count=count,
        least_ns=float(known.min()),
        median_ns=median,
        most_ns=float(known.max()),
        spread_ns=float(np.median(np.abs(known - median))),
        slowest=int(np.nanargmax(total)),
    )


def durations_across(fold: Fold, position: int, duration_ns: FloatArray) -> FloatArray:
    """Return the durations of the nodes at one position of every block (float64, one a block).

    Parameters
    ----------
    fold
        A fold of kind repeat.
    position
        From 0 to its period - 1.
    duration_ns
        float64, one a node of the graph; NaN where it is not timed.

    Raises
    ------
    ValueError
        If the fold is of another kind or has no such position.
    """
    blocks = _blocks_of(fold)
    if not 0 <= position < fold.period:
        raise ValueError(f"a block of {fold.title!r} has no position {position}")
    return duration_ns[blocks[:, position]]


def position_of(fold: Fold, node: int) -> tuple[int, int] | None:
    """Return block and position of a node in a repeat; None where it is not inside."""
    found = np.argwhere(_blocks_of(fold) == node)
    return (int(found[0, 0]), int(found[0, 1])) if len(found) else None


def _blocks_of(fold: Fold) -> IntArray:
    if fold.kind != "repeat":
        raise ValueError(f"{fold.title!r} is a {fold.kind}; only a repeat has blocks")
    return fold.blocks
