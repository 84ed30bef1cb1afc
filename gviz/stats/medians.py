"""The median launch: for each node its median start and median duration over launches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from gviz.stats.arrays import FloatArray, IntArray


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
    order = np.lexsort((iteration, node_id))
    node, repeat = node_id[order], iteration[order]
    new = np.ones(len(node), bool)
    new[1:] = (node[1:] != node[:-1]) | (repeat[1:] != repeat[:-1])
    first = np.flatnonzero(new)
    group = np.cumsum(new) - 1
    count = np.diff(np.append(first, len(node)))
    start = _medians(start_ns[order], group, first, count)
    duration = _medians(duration_ns[order], group, first, count)
    by_start = np.lexsort((duration, start))
    at = first[by_start]
    return MedianLaunch(
        node[at], repeat[at], start[by_start], duration[by_start], count[by_start].astype(np.int64)
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


def _medians(values: IntArray, group: IntArray, first: IntArray, count: IntArray) -> FloatArray:
    each = int(count[0]) if len(count) else 0
    if (count == each).all():
        # As many of each group, the rule with graphs without loops: rows of a table sort faster.
        ordered = np.sort(values.reshape(-1, each or 1), axis=1).reshape(-1)
    else:
        ordered = values[np.lexsort((values, group))]
    low, high = ordered[first + (count - 1) // 2], ordered[first + count // 2]
    middle: FloatArray = (low + high) / 2.0
    return middle
