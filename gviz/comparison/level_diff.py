"""A graph, or a body in it, before and after, as ``gviz diff`` reports it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gviz.analysis import NodeRef
from gviz.comparison.changes import Groups, add_up, by_name, by_range, replaced_by_name
from gviz.comparison.compared_tree import ComparedTree
from gviz.comparison.comparison import GraphComparison, compare_graphs
from gviz.comparison.diff_result import (
    Change,
    EdgeRef,
    GroupTime,
    LevelDiff,
    NodeChange,
    NodePair,
    NodeTimes,
)
from gviz.comparison.pairing import ComparedGraph
from gviz.comparison.timed_pairs import TimedPairs, pair_all
from gviz.dataclass import dataclass
from gviz.stats import IntArray

#: A node by graph_id and node_id.
NodeKey = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ComparedLevel:
    """A level compared, before noise is judged over all levels and graphs.

    Attributes
    ----------
    graph_ids
        Before and after.
    comparison
        The two levels.
    nodes, range_times, name_times, replaced_times
        Times of partners, and of the groups in ``ranges``, ``names`` and ``replaced``.
    """

    graph_ids: tuple[int, int]
    comparison: GraphComparison
    nodes: TimedPairs
    ranges: Groups
    range_times: TimedPairs
    names: Groups
    name_times: TimedPairs
    replaced: Groups
    replaced_times: TimedPairs

    def families(self) -> tuple[TimedPairs, TimedPairs, TimedPairs, TimedPairs]:
        """Return what is judged together with the same of other levels."""
        return self.nodes, self.range_times, self.name_times, self.replaced_times

    def with_families(
        self,
        nodes: TimedPairs,
        range_times: TimedPairs,
        name_times: TimedPairs,
        replaced_times: TimedPairs,
    ) -> ComparedLevel:
        """Return the level with times judged anew."""
        return replace(
            self,
            nodes=nodes,
            range_times=range_times,
            name_times=name_times,
            replaced_times=replaced_times,
        )

    def replaced_names(self) -> tuple[dict[NodeKey, str], dict[NodeKey, str]]:
        """Return by node before, and by node after, the name of the replacement that it is in."""
        found = self.comparison
        known: tuple[dict[NodeKey, str], dict[NodeKey, str]] = ({}, {})
        for one in found.replacements:
            for side, (graph, nodes) in enumerate(
                ((found.first, one.before), (found.second, one.after))
            ):
                for node_id in graph.node_id[nodes].tolist():
                    known[side][self.graph_ids[side], node_id] = one.name
        return known

    def partners(self) -> dict[NodeKey, NodeKey]:
        """Return the node after of each node before that has a partner."""
        found = self.comparison
        one, two = found.pairs[:, 0], found.pairs[:, 1]
        ids = found.first.node_id[one].tolist(), found.second.node_id[two].tolist()
        a, b = self.graph_ids
        return {(a, x): (b, y) for x, y in zip(*ids, strict=True)}

    def changed(self) -> set[NodeKey]:
        """Return the nodes before whose partner has another value of a parameter."""
        found = self.comparison
        nodes = found.first.node_id[found.pairs[found.changed, 0]].tolist()
        return {(self.graph_ids[0], node) for node in nodes}

    def contexts(self) -> tuple[dict[NodeKey, str], dict[NodeKey, str]]:
        """Return the NVTX paths of the nodes before, and of those after."""
        graphs = self.comparison.first, self.comparison.second
        before, after = (
            {(i, n): c for n, c in zip(g.node_id.tolist(), g.context, strict=True)}
            for i, g in zip(self.graph_ids, graphs, strict=True)
        )
        return before, after


def compare_level(
    first: ComparedTree, first_graph_id: int, second: ComparedTree, second_graph_id: int
) -> ComparedLevel:
    """Compare a level before and after.

    Raises
    ------
    RecordingError
        If edges form a cycle.
    """
    found = compare_graphs(first, first_graph_id, second, second_graph_id)
    ranges = by_range(found.first, found.second)
    names = by_name(found.first, found.second, found.in_replacements())
    replaced = replaced_by_name(found.replacements)
    return ComparedLevel(
        graph_ids=(first_graph_id, second_graph_id),
        comparison=found,
        nodes=pair_all(*found.paired),
        ranges=ranges,
        range_times=_group_times(found, ranges),
        names=names,
        name_times=_group_times(found, names),
        replaced=replaced,
        replaced_times=_group_times(found, replaced),
    )


def _group_times(found: GraphComparison, groups: Groups) -> TimedPairs:
    return pair_all(add_up(found.before, groups.before), add_up(found.after, groups.after))


def level_diff(level: ComparedLevel) -> LevelDiff:
    """Return a level as a result."""
    found = level.comparison
    refs = _refs(found.first, level.graph_ids[0]), _refs(found.second, level.graph_ids[1])
    pairs = [NodePair(refs[0][a], refs[1][b]) for a, b in found.pairs.tolist()]
    edges, changed = found.edges, found.changed
    return LevelDiff(
        before_graph_id=level.graph_ids[0],
        after_graph_id=level.graph_ids[1],
        node_count_before=len(found.first),
        node_count_after=len(found.second),
        pair_count=len(pairs),
        common_fraction=found.common_fraction,
        removed=tuple(refs[0][i] for i in found.removed.tolist()),
        added=tuple(refs[1][i] for i in found.added.tolist()),
        changed=_changes(found, pairs, np.flatnonzero(changed)),
        only_addresses=_changes(found, pairs, np.flatnonzero(found.only_addresses)),
        moved=tuple(pairs[i] for i in np.flatnonzero(found.moved).tolist()),
        edges_known=found.first.edges_known and found.second.edges_known,
        edge_kept_count=len(edges.kept),
        edges_retyped=_edges(found.first, refs[0], edges.kept[edges.retyped, 0]),
        edges_removed=_edges(found.first, refs[0], edges.removed),
        edges_added=_edges(found.second, refs[1], edges.added),
        node_times=_node_times(level),
        untested=level.nodes.changes.untested or None,
        ranges=_groups(level.ranges, level.range_times),
        names=_groups(level.names, level.name_times),
        replaced=_groups(level.replaced, level.replaced_times),
    )


def _refs(graph: ComparedGraph, graph_id: int) -> list[NodeRef]:
    ids = graph.node_id.tolist()
    return [NodeRef(graph_id, node, name) for node, name in zip(ids, graph.title, strict=True)]


def _changes(
    found: GraphComparison, pairs: list[NodePair], which: IntArray
) -> tuple[NodeChange, ...]:
    return tuple(
        NodeChange(pairs[i].before, pairs[i].after, tuple(Change(*d) for d in found.differences[i]))
        for i in which.tolist()
    )


def _edges(graph: ComparedGraph, refs: list[NodeRef], which: IntArray) -> tuple[EdgeRef, ...]:
    ends = graph.source[which].tolist(), graph.target[which].tolist()
    return tuple(EdgeRef(refs[tail], refs[head]) for tail, head in zip(*ends, strict=True))


def _node_times(level: ComparedLevel) -> NodeTimes:
    found, times = level.comparison, level.nodes.changes
    return NodeTimes(
        before_node_id=found.first.node_id[found.pairs[:, 0]],
        after_node_id=found.second.node_id[found.pairs[:, 1]],
        name=tuple(found.pair_names()),
        before_ns=times.before_ns,
        after_ns=times.after_ns,
        rate=times.rate,
        significant=times.significant,
    )


def _groups(groups: Groups, times: TimedPairs) -> tuple[GroupTime, ...]:
    sides = zip(groups.name, groups.before, groups.after, strict=True)
    return tuple(
        GroupTime(name, len(before), len(after), times.at(i))
        for i, (name, before, after) in enumerate(sides)
    )
