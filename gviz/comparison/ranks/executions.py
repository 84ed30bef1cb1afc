"""Pairs of executions of a node on all ranks, in launches of loops and branches.

A node outside bodies runs once a launch. One in a body runs as often as the device decides, which
may be another number on each rank: then nothing recorded shows which iteration belongs to which.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gviz.dataclass import dataclass
from gviz.stats import BoolArray, FloatArray, IntArray

_MOST = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class NodeSpans:
    """Spans of a level's nodes on one rank: int64 of one length, by (node, launch, iteration).

    Attributes
    ----------
    launch
        Place among the launches that are compared.
    node
        Index in the first rank's level.
    start_ns, duration_ns
        Starts are after the launch's.
    """

    launch: IntArray
    node: IntArray
    start_ns: IntArray
    duration_ns: IntArray

    @property
    def iteration(self) -> IntArray:
        """The how-manieth of its node in its launch each span is (int64, from 0)."""
        at = np.arange(len(self.node))
        new = np.ones(len(at), bool)
        new[1:] = (np.diff(self.launch) != 0) | (np.diff(self.node) != 0)
        return at - np.maximum.accumulate(np.where(new, at, 0))


@dataclass(frozen=True, slots=True)
class Executions:
    """Executions of a level's nodes that belong together. NaN: not measured, or not compared.

    Attributes
    ----------
    launch, iteration
        int64, one an execution, ascending: the launch (index), and the how-manieth in it.
    durations, starts
        float64 (side, execution, node): ns; starts after the launch's.
    iterations
        int64 (side, launch): how often the level ran, 0: not, or it has no timed nodes. The
        middle one of its nodes decides, as in :mod:`gviz.model.tree.body_times`.
    uneven
        bool, one a launch: left out for some node, because sides ran it, or what is around it,
        different numbers of times.
    """

    launch: IntArray
    iteration: IntArray
    durations: FloatArray
    starts: FloatArray
    iterations: IntArray
    uneven: BoolArray

    def of(self, launch: int) -> slice:
        """Return which executions are of a launch."""
        first, end = np.searchsorted(self.launch, (launch, launch + 1)).tolist()
        return slice(first, end)

    def launch_means(self, which: IntArray) -> FloatArray:
        """Return float64 (side, launch, node): some nodes' mean durations in launches with any."""
        launch, first = np.unique(self.launch, return_index=True)
        values = self.durations[:, :, which]
        if len(launch) == len(self.launch):
            return values
        known = ~np.isnan(values)
        sums = np.add.reduceat(np.where(known, values, 0.0), first, axis=1)
        counts = np.add.reduceat(known.astype(np.int64), first, axis=1)
        means: FloatArray = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
        return means


def align_executions(sides: Sequence[NodeSpans], has: BoolArray, left_out: BoolArray) -> Executions:
    """Return the executions of nodes that ran equally often in a launch on all sides with them.

    The k-th on one side belongs to the k-th on the others.

    Parameters
    ----------
    sides
        Spans of each.
    has
        bool (side, node): which have which node.
    left_out
        bool, one a launch: what is around ran different numbers of times.
    """
    launches, nodes = len(left_out), has.shape[1]
    counts = np.stack([_counts(side, launches, nodes) for side in sides])
    shown = has[:, None, :]
    most = np.where(shown, counts, 0).max(axis=0)
    least = np.where(shown, counts, _MOST).min(axis=0)
    ran = (most > 0) & (has.sum(axis=0) >= 2)
    even = ran & (most == least) & ~left_out[:, None]
    width = np.where(even, most, 0).max(axis=1, initial=0)
    first = np.cumsum(width) - width
    launch = np.repeat(np.arange(launches), width)
    shape = (len(sides), len(launch), nodes)
    durations, starts = np.full(shape, np.nan), np.full(shape, np.nan)
    for at, side in enumerate(sides):
        kept = even[side.launch, side.node] & has[at, side.node]
        where = (at, (first[side.launch] + side.iteration)[kept], side.node[kept])
        durations[where] = side.duration_ns[kept]
        starts[where] = side.start_ns[kept]
    return Executions(
        launch=launch.astype(np.int64),
        iteration=np.arange(len(launch)) - first[launch],
        durations=durations,
        starts=starts,
        iterations=_level_iterations(counts),
        uneven=(ran & ~even).any(axis=1),
    )


def _counts(side: NodeSpans, launches: int, nodes: int) -> IntArray:
    """Return int64 (launch, node): how often each node ran."""
    found = np.bincount(side.launch * nodes + side.node, minlength=launches * nodes)
    return found.astype(np.int64).reshape(launches, nodes)


def _level_iterations(counts: IntArray) -> IntArray:
    ran: IntArray = (counts > 0).sum(axis=2)
    if not counts.shape[2]:
        return ran
    ordered = np.sort(np.where(counts > 0, counts, _MOST), axis=2)
    middle = np.maximum(ran - 1, 0) // 2
    found = np.take_along_axis(ordered, middle[:, :, None], axis=2)[:, :, 0]
    return np.where(ran > 0, found, 0)
