"""Two graph levels compared: partners, what changed in them, edges, lanes, times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gviz.comparison.changes import (
    Difference,
    EdgeChanges,
    NodeDurations,
    Replacement,
    TimeChanges,
    add_up,
    compare_details,
    compare_durations,
    compare_edges,
    find_replacements,
    moved_lanes,
    paired_durations,
)
from gviz.comparison.compared_tree import ComparedTree
from gviz.comparison.pairing import ComparedGraph, pair_nodes
from gviz.dataclass import dataclass
from gviz.stats import BoolArray, IntArray

if TYPE_CHECKING:
    from gviz.recording import rows


@dataclass(frozen=True, slots=True)
class GraphComparison:
    """A graph level and its counterpart, compared.

    Attributes
    ----------
    first, second
        The level before and after.
    pairs
        int64 of shape (k, 2): indices of partners in the first and the second, ascending in the
        first.
    removed, added
        int64 indices of nodes without a partner: in the first, in the second.
    differences
        One tuple a pair: what differs in the two nodes.
    moved
        bool, one a pair: in another lane
        (:func:`gviz.comparison.changes.lane_changes.moved_lanes`).
    edges
        What became of the dependencies.
    before, after
        Durations of the nodes of the first and of the second.
    replacements
        Kernels that another took the place of, each with the nodes around it that have no partner.
    paired
        Durations before and after, one column a pair; of a pair that stands for a replacement the
        sums of that, of further pairs in one none.
    times
        What became of these, one value a pair.
    """

    first: ComparedGraph
    second: ComparedGraph
    pairs: IntArray
    removed: IntArray
    added: IntArray
    differences: tuple[tuple[Difference, ...], ...]
    moved: BoolArray
    edges: EdgeChanges
    before: NodeDurations
    after: NodeDurations
    replacements: tuple[Replacement, ...]
    paired: tuple[NodeDurations, NodeDurations]
    times: TimeChanges

    @property
    def changed(self) -> BoolArray:
        """Return which pairs have other work than before, not only other addresses."""
        return np.array([any(d.kind == "value" for d in found) for found in self.differences], bool)

    def pair_names(self) -> list[str]:
        """Return the name shown of each pair; of partners that differ in it both."""
        before, after = self.first.title, self.second.title
        names = [
            after[b] if before[a] == after[b] else f"{before[a]} → {after[b]}"
            for a, b in self.pairs.tolist()
        ]
        for replacement in self.replacements:
            for pair in replacement.pairs.tolist():
                names[pair] = replacement.name
        return names

    def in_replacements(self) -> tuple[IntArray, IntArray]:
        """Return the nodes before and after that are in replacements (int64 indices)."""
        none = np.zeros(0, np.int64)
        return (
            np.concatenate([none, *(r.before for r in self.replacements)]),
            np.concatenate([none, *(r.after for r in self.replacements)]),
        )

    @property
    def only_addresses(self) -> BoolArray:
        """Return which pairs differ in addresses or possible padding only."""
        return np.array([bool(found) for found in self.differences], bool) & ~self.changed

    @property
    def common_fraction(self) -> float:
        """Share of all nodes, 0..1, whose partner has the same kind and name.

        Where it is low, the graphs are not two versions of one.
        """
        one, two = self.pairs[:, 0], self.pairs[:, 1]
        same = self.first.type[one] == self.second.type[two]
        names = (self.first.title[a] == self.second.title[b] for a, b in self.pairs.tolist())
        same &= np.fromiter(names, bool, len(one))
        total = len(self.first) + len(self.second)
        return 2 * int(same.sum()) / total if total else 1.0


def compare_graphs(
    first: ComparedTree, first_graph_id: int, second: ComparedTree, second_graph_id: int
) -> GraphComparison:
    """Compare a level of one tree, by its graph_id, with a level of another.

    Raises
    ------
    RecordingError
        If edges form a cycle.
    """
    before, after = first.graph(first_graph_id), second.graph(second_graph_id)
    partner = pair_nodes(before, after)
    one = np.flatnonzero(partner >= 0)
    two = partner[one]
    pairs = np.column_stack([one, two])
    details = first.details(first_graph_id), second.details(second_graph_id)
    differences = compare_details(*details, pairs.tolist())
    one_side, other = first.durations(first_graph_id), second.durations(second_graph_id)
    replacements = find_replacements(before, after, pairs)
    paired = paired_durations(one_side, other, pairs, replacements)
    each = np.arange(len(pairs))
    return GraphComparison(
        first=before,
        second=after,
        pairs=pairs,
        removed=np.flatnonzero(partner < 0),
        added=np.setdiff1d(np.arange(len(after)), two),
        differences=tuple(differences),
        moved=moved_lanes(before, after, partner)[one],
        edges=compare_edges(before, after, partner),
        before=one_side,
        after=other,
        replacements=replacements,
        paired=paired,
        times=compare_durations(*paired, each, each),
    )


def compare_groups(
    comparison: GraphComparison, before: Sequence[IntArray], after: Sequence[IntArray]
) -> TimeChanges:
    """Return how the summed durations of groups of nodes changed, one value a group.

    Parameters
    ----------
    comparison
        Of the levels.
    before, after
        For each group its node indices in the first and in the second, int64: the nodes of an
        NVTX range, of a kernel name, or partners only.
    """
    groups = np.arange(len(before))
    sides = add_up(comparison.before, before), add_up(comparison.after, after)
    return compare_durations(*sides, groups, groups)


def pair_bodies(
    comparison: GraphComparison, first: Sequence[rows.Graph], second: Sequence[rows.Graph]
) -> list[tuple[int, int]]:
    """Return the graph_ids of bodies that partners hold, branch by branch.

    Parameters
    ----------
    comparison
        Of the levels that hold them.
    first, second
        The bodies whose ``parent_graph_id`` is the level before, and the level after.
    """
    one, two = comparison.pairs[:, 0], comparison.pairs[:, 1]
    ids = comparison.first.node_id[one].tolist(), comparison.second.node_id[two].tolist()
    return pair_by_parents(dict(zip(*ids, strict=True)), first, second)


def pair_by_parents(
    partner: Mapping[int, int], first: Sequence[rows.Graph], second: Sequence[rows.Graph]
) -> list[tuple[int, int]]:
    """Return the graph_ids of bodies that partners hold; ``partner`` is by their node ids."""
    bodies = {(g.parent_node_id, g.branch): g.graph_id for g in second}
    found = []
    for body in first:
        parent = None if body.parent_node_id is None else partner.get(body.parent_node_id)
        other = None if parent is None else bodies.get((parent, body.branch))
        if other is not None:
            found.append((body.graph_id, other))
    return found
