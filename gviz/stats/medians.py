"""The median launch: for each node its median start and median duration over launches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from gviz.dataclass import dataclass
from gviz.stats.arrays import FloatArray, IntArray
from gviz.stats.grouping import group_rows, sort_in_groups
from gviz.stats.ordering import order_of_rows


@dataclass(frozen=True, slots=True)
class MedianLaunch:
    """One entry for each (node, iteration) that ran in any launch, by start: arrays of one length.

    No launch need have gone like this: starts and durations are medians of their own (derived),
    so a node may seem to start before one that it waits for has ended.

    Attributes
    ----------
    node_id, iteration
        int64.
    start_ns, duration_ns
        float64 medians; with an even number of launches the mean of the two in the middle.
        Starts count from the launch's first node.
    count
        int64: launches behind them.
    """

    node_id: IntArray
    iteration: IntArray
    start_ns: FloatArray
    duration_ns: FloatArray
    count: IntArray


def median_launch(
    node_id: IntArray, iteration: IntArray, start_ns: IntArray, duration_ns: IntArray
) -> MedianLaunch:
    """Return the median launch of spans of any number of launches.

    Parameters
    ----------
    node_id, iteration
        Node and iteration of each span; int64.
    start_ns, duration_ns
        int64; starts from the first node of the span's own launch.
    """
    nodes, node = group_rows(node_id)
    repeats, repeat = group_rows(iteration)
    many = max(len(repeats), 1)
    keys, group = group_rows(node * many + repeat)
    count = np.bincount(group, minlength=len(keys)).astype(np.int64)
    first = np.cumsum(count) - count
    start = _medians(sort_in_groups(group, start_ns, len(keys)), first, count)
    duration = _medians(sort_in_groups(group, duration_ns, len(keys)), first, count)
    order = order_of_rows((start, duration))
    node_of, repeat_of = np.divmod(keys[order], many)
    return MedianLaunch(
        nodes[node_of], repeats[repeat_of], start[order], duration[order], count[order]
    )


def join_medians(parts: Sequence[MedianLaunch]) -> MedianLaunch:
    """Return the median launch of all nodes from those of some nodes each, by start."""
    names = [f.name for f in fields(MedianLaunch)]
    if not parts:
        none = np.zeros(0, np.int64)
        return MedianLaunch(none, none, none.astype(float), none.astype(float), none)
    whole = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    by = ("iteration", "node_id", "duration_ns", "start_ns")
    order = np.lexsort([whole[name] for name in by])
    return MedianLaunch(**{name: values[order] for name, values in whole.items()})


def _medians(ordered: IntArray, first: IntArray, count: IntArray) -> FloatArray:
    """Return the median of each group of values that are in order inside it."""
    low, high = ordered[first + (count - 1) // 2], ordered[first + count // 2]
    middle: FloatArray = (low + high) / 2.0
    return middle
