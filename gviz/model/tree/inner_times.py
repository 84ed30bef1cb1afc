"""Times inside nodes that hold bodies, as their spans tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gviz.cuda import NodeType
from gviz.model.body_times import BodyTimes, LaunchSpans, Nesting, Turns, measure_bodies
from gviz.model.tree.keep import Keep, build_anew
from gviz.model.tree.spans import read_launch_spans
from gviz.stats import FloatArray, IntArray

if TYPE_CHECKING:
    from gviz.model.tree.graph_tree import GraphTree
    from gviz.recording import Recording


@dataclass(frozen=True, slots=True)
class InnerTimes:
    """Times inside a tree's nodes.

    Attributes
    ----------
    typical_ns
        float64, one a node, NaN where there is none: in a launch. The median of nodes of the level
        shown, and of the sums of what ran inside nodes that hold bodies; of nodes in bodies the
        mean over all recorded launches.
    bodies, turns
        What ran inside nodes that hold bodies, and how often each level ran.
    kept_count
        Launches with node times whose spans are in the recording: ``bodies`` and ``turns`` are
        over these.
    """

    typical_ns: FloatArray
    bodies: BodyTimes
    turns: Turns
    kept_count: int

    def turns_within(self, level: int, around: int) -> float:
        """Return how often a level runs in a turn of the level around it: 1 or more.

        The ratio of the medians of a launch; NaN: unknown. A branch that is taken less often than
        once a turn runs once where it is taken.
        """
        outer = 1.0 if around == 0 else float(self.turns.median[around])
        return float(np.maximum(1.0, self.turns.median[level] / outer))


def read_inner_times(recording: Recording, tree: GraphTree, keep: Keep = build_anew) -> InnerTimes:
    """Return the times inside a tree's nodes.

    ``keep`` remembers them, and spans that were read for views of the same launch.
    """
    return keep(("inner", tree.graph.graph_id), lambda: _measure(recording, tree, keep))


def _measure(recording: Recording, tree: GraphTree, keep: Keep) -> InnerTimes:
    nesting = Nesting(
        level=tree.level,
        holder=np.array([x.holder for x in tree.levels], np.int64),
        is_once=tree.nodes.integers("type") == NodeType.GRAPH,
        is_launched=tree.graph.parent_graph_id is None,
    )
    spans, kept = _body_spans(recording, tree, nesting.is_launched, keep)
    bodies, turns = measure_bodies(nesting, spans)
    times = tree.times
    own = np.where(tree.level > 0, times.total_ns / (times.launch_count or np.nan), times.median_ns)
    typical = np.where(np.isnan(bodies.median_ns), own, bodies.median_ns)
    return InnerTimes(typical, bodies, turns, kept)


def _body_spans(
    recording: Recording, tree: GraphTree, is_launched: bool, keep: Keep
) -> tuple[LaunchSpans, int]:
    """Return the spans that tell about bodies, and how many launches have any."""
    inner = tree.nested_exec_ids(including_shown=not is_launched)
    if len(tree.levels) == 1 or not len(inner):
        none = np.zeros(0, np.int64)
        return LaunchSpans(none, none, none, none), 0
    launches = recording.fetch_launches(tree.outermost.graph_id)
    kept = sum(1 for x in launches if x.node_level and x.span_count)
    # Nested nodes are numbered after those of the level around: the others need not be read.
    wanted = range(int(inner[0]), int(inner[-1]) + 1)
    recorded = [x for x in launches if x.span_count]
    if len(recorded) == 1:  # the one that the views will show
        spans = read_launch_spans(recording, recorded[0].launch_id, keep)
    else:
        spans = recording.fetch_graph_spans(tree.outermost.graph_id, wanted)
    node = tree.owners(spans.node_id)
    mine = (node >= 0) & (spans.node_id >= wanted.start)
    found = LaunchSpans(_numbered(spans.launch_id), node, spans.start_ns, spans.duration_ns)
    return found if mine.all() else found.taken(mine, node[mine]), kept


def _numbered(launch_id: IntArray) -> IntArray:
    """Return launches by numbers from 0, which unlike ids are small (int64)."""
    if len(launch_id) and (launch_id == launch_id[0]).all():  # what np.unique would sort
        return np.zeros(len(launch_id), np.int64)
    return np.unique(launch_id, return_inverse=True)[1].reshape(-1).astype(np.int64)
