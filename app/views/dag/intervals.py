"""Intervals in which the nodes of a tree ran in one launch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gviz.dataclass import dataclass
from gviz.layout import Bars
from gviz.model import GraphTree, Keep, build_anew, read_launch_spans
from gviz.stats import FloatArray, IntArray, is_ascending

if TYPE_CHECKING:
    from gviz.recording import Recording


@dataclass(frozen=True, slots=True)
class LaunchIntervals:
    """One value a node (or an item), NaN where it has no time in the launch (float64, ns).

    Attributes
    ----------
    start_ns, end_ns
        From the launch's first start: first start and last end of the node, or of what is
        nested in it.
    busy_ns
        Its durations summed over iterations; with nested ones where it holds a body.
    iterations
        Of nodes that ran several times, when.
    """

    start_ns: FloatArray
    end_ns: FloatArray
    busy_ns: FloatArray
    iterations: Bars

    def part(self, nodes: slice) -> LaunchIntervals:
        """Return those of neighbouring nodes."""
        first, last = np.searchsorted(self.iterations.node, [nodes.start, nodes.stop])
        iterations = Bars(
            self.iterations.node[first:last] - nodes.start,
            self.iterations.start_ns[first:last],
            self.iterations.end_ns[first:last],
        )
        return LaunchIntervals(
            self.start_ns[nodes], self.end_ns[nodes], self.busy_ns[nodes], iterations
        )

    def joined(self, item_of: IntArray, is_fold: npt.NDArray[np.bool_]) -> LaunchIntervals:
        """Return those of items; ``item_of`` has the item of each node, a fold or the node."""
        timed = ~np.isnan(self.start_ns)
        found = _reach(item_of[timed], self._taken(timed), len(is_fold))
        item = item_of[self.iterations.node]
        kept = np.flatnonzero(~is_fold[item])
        kept = kept[np.lexsort((self.iterations.start_ns[kept], item[kept]))]
        iterations = Bars(item[kept], self.iterations.start_ns[kept], self.iterations.end_ns[kept])
        return LaunchIntervals(*found, iterations)

    def _taken(self, chosen: npt.NDArray[np.bool_]) -> tuple[FloatArray, FloatArray, FloatArray]:
        return self.start_ns[chosen], self.end_ns[chosen], self.busy_ns[chosen]


def launch_intervals(
    recording: Recording, tree: GraphTree, launch_id: int, keep: Keep = build_anew
) -> LaunchIntervals:
    """Return when the nodes of a tree ran in a launch of the recording."""
    spans = read_launch_spans(recording, tree, launch_id, keep)
    # Recordings have spans by node and iteration: a million of them need not be sorted again.
    if not is_ascending((spans.node, spans.start_ns)):
        spans = spans.take(np.lexsort((spans.start_ns, spans.node)))
    node = spans.node
    start, length = spans.start_ns.astype(np.float64), spans.duration_ns.astype(np.float64)
    several = (np.bincount(node, minlength=len(tree.nodes)) > 1)[node]
    iterations = Bars(node[several], start[several], (start + length)[several])
    nodes, ends, lengths = [node], [start], [length]
    # What is nested counts for all nodes around it.
    around = tree.parent[node]
    while (inner := around >= 0).any():
        start, length, around = start[inner], length[inner], around[inner]
        nodes.append(around)
        ends.append(start)
        lengths.append(length)
        around = tree.parent[around]
    begin, took = np.concatenate(ends), np.concatenate(lengths)
    found = _reach(np.concatenate(nodes), (begin, begin + took, took), len(tree.nodes))
    return LaunchIntervals(*found, iterations)


def _reach(
    owner: IntArray, times: tuple[FloatArray, FloatArray, FloatArray], count: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return first start, last end and sum of durations for each owner."""
    start, end, busy = times
    first, last = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(first, owner, start)
    np.maximum.at(last, owner, end)
    total = np.bincount(owner, weights=busy, minlength=count).astype(np.float64)
    none = np.isinf(first)
    for values in (first, last, total):
        values[none] = np.nan
    return first, last, total
