"""Times of what runs inside nodes with bodies, from spans."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gviz.cuda import NodeType
from gviz.dataclass import dataclass
from gviz.model.tree.body_times import BodySpans, BodyTimes, Iterations, Nesting, measure_bodies
from gviz.model.tree.keep import Keep, build_anew
from gviz.model.tree.spans import in_bodies, read_launch_spans, read_nested_spans
from gviz.stats import FloatArray, IntArray

if TYPE_CHECKING:
    from gviz.model.tree.graph_tree import TimedTree
    from gviz.recording import Recording


@dataclass(frozen=True, slots=True)
class NestedTimes:
    """Times inside a tree's nodes.

    Attributes
    ----------
    typical_ns
        float64, one a node, NaN where there is none: in a launch. The median of nodes of the root,
        and of the sums of what ran inside nodes with bodies; of nodes in bodies the mean over all
        recorded launches.
    bodies, iterations
        What ran inside nodes with bodies, and how often each level ran.
    kept_count
        Launches with node times whose spans are in the recording: ``bodies`` and ``iterations`` are
        over these.
    """

    typical_ns: FloatArray
    bodies: BodyTimes
    iterations: Iterations
    kept_count: int

    def iterations_within(self, level: int, around: int) -> float:
        """Return how often a level runs in an iteration of the level around it: 1 or more.

        The ratio of the medians of a launch; NaN: unknown. A branch that is taken less often than
        once an iteration runs once where it is taken.
        """
        outer = 1.0 if around == 0 else float(self.iterations.median[around])
        return float(np.maximum(1.0, self.iterations.median[level] / outer))


def read_nested_times(
    recording: Recording, tree: TimedTree, keep: Keep = build_anew
) -> NestedTimes:
    """Return the times inside a tree's nodes.

    ``keep`` remembers them, and spans that were read for views of the same launch.
    """
    return keep(("nested times", tree.graph.graph_id), lambda: _measure(recording, tree, keep))


def _measure(recording: Recording, tree: TimedTree, keep: Keep) -> NestedTimes:
    nesting = Nesting(
        level=tree.level,
        parent=np.array([x.parent for x in tree.levels], np.int64),
        is_once=tree.types == NodeType.GRAPH,
        is_launched=tree.graph.parent_graph_id is None,
    )
    spans, kept = _body_spans(recording, tree, keep)
    bodies, iterations = measure_bodies(nesting, spans)
    times = tree.times
    own = np.where(tree.level > 0, times.total_ns / (times.launch_count or np.nan), times.median_ns)
    typical = np.where(np.isnan(bodies.median_ns), own, bodies.median_ns)
    return NestedTimes(typical, bodies, iterations, kept)


def _body_spans(recording: Recording, tree: TimedTree, keep: Keep) -> tuple[BodySpans, int]:
    """Return the spans that are of use for bodies, and how many launches have any."""
    if len(tree.levels) == 1 or not in_bodies(tree, np.arange(len(tree))).any():
        none = np.zeros(0, np.int64)
        return BodySpans(none, none, none, none), 0
    recorded = recording.fetch_launches_with_spans(tree.outermost.graph_id)
    if len(recorded) == 1:  # the one that the views will show
        found = read_launch_spans(recording, tree, recorded[0].launch_id, keep)
        found = found.take(in_bodies(tree, found.node))
    else:
        found = read_nested_spans(recording, tree)
    spans = BodySpans(_numbered(found.launch_id), found.node, found.start_ns, found.duration_ns)
    return spans, sum(1 for x in recorded if x.node_level)


def _numbered(launch_id: IntArray) -> IntArray:
    """Return launches by numbers from 0, which unlike ids are small (int64)."""
    if len(launch_id) and (launch_id == launch_id[0]).all():  # what np.unique would sort
        return np.zeros(len(launch_id), np.int64)
    return np.unique(launch_id, return_inverse=True)[1].reshape(-1).astype(np.int64)
