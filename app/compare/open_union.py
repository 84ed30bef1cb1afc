"""What of two graphs in one picture is visible: a level of both, and the bodies open in it.

Nodes of the graph after hold the bodies, and only those that are compared can be opened.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gviz.app.compare.comparison import Comparison
from gviz.app.graph_level import TimedLevel
from gviz.app.open_levels import frame_arrays, hidden_arrays, hidden_nodes, opened_nodes
from gviz.app.wire import Arrays, Strings
from gviz.comparison.comparison import GraphComparison
from gviz.comparison.union_graph import UnionGraph, join_graphs

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class UnionLevel:
    """A visible level of both graphs. Its items are the nodes after, then those that are gone.

    Attributes
    ----------
    comparison, union
        What became of it, and both versions as one graph.
    sides
        Before and after.
    first
        The number of its first item among those of all levels.
    holder
        (visible level, item of that level) that it is in; None for the level asked for.
    openable
        Its nodes after that hold compared bodies: indices among them.
    """

    comparison: GraphComparison
    union: UnionGraph
    sides: tuple[TimedLevel, TimedLevel]
    first: int
    holder: tuple[int, int] | None
    openable: frozenset[int]

    @property
    def level(self) -> TimedLevel:
        """The level after, whose nodes are its first items."""
        return self.sides[1]

    @property
    def item_of(self) -> IntArray:
        """The item of each node after."""
        return np.arange(len(self.comparison.second))

    def item_that_is(self, node: int) -> int | None:
        """Return the item that a node after is; None: it holds no compared body."""
        return node if node in self.openable else None

    def __len__(self) -> int:
        return len(self.union)


def open_union(
    found: Comparison,
    at: int,
    opened: Collection[str],
    read: Callable[[int, int], TimedLevel],
) -> list[UnionLevel]:
    """Return the visible levels; a body comes after the level it is in.

    Parameters
    ----------
    at
        The level asked for, of the comparison.
    opened
        Ids of open nodes (:func:`gviz.app.open_levels.open_id`), by their numbers on the page.
    read
        Return a level of a side: (0 or 1, place in its tree).
    """
    trees = found.trees
    places = [{x.graph.graph_id: n for n, x in enumerate(tree.levels)} for tree in trees]
    compared = {places[1][x.graph_ids[1]]: n for n, x in enumerate(found.pair.levels)}
    wanted = opened_nodes(trees[1], opened)

    def build(number: int, first: int, holder: tuple[int, int] | None) -> UnionLevel:
        ids, comparison = found.pair.levels[number].graph_ids, found.level(number)
        before, after = (read(side, places[side][ids[side]]) for side in (0, 1))
        held = [n for n in trees[1].holders_in(after.at)
                if any(body in compared for body in trees[1].bodies(n))]  # fmt: skip
        openable = frozenset(node - after.first for node in held)
        union = _join(comparison)
        return UnionLevel(comparison, union, (before, after), first, holder, openable)

    levels = [build(at, 0, None)]
    end = len(levels[0])
    for number, outer in enumerate(levels):  # it grows meanwhile
        for item in sorted(outer.openable):
            node = outer.level.first + item
            bodies = trees[1].bodies(node) if node in wanted else ()
            for body in bodies:
                if body in compared:
                    levels.append(build(compared[body], end, (number, item)))
                    end += len(levels[-1])
    return levels


def nested_arrays(
    found: Comparison, levels: Sequence[UnionLevel], arrays: Arrays, strings: Strings
) -> Arrays:
    """Return what frames and closed bodies need, as :func:`gviz.app.open_levels.join_levels`."""
    hidden = hidden_arrays(levels)
    gone = _gone_in_bodies(found, levels)
    hidden = {name: np.concatenate((hidden[name], gone[name])) for name in hidden}
    return frame_arrays(levels, arrays, strings) | hidden


def _gone_in_bodies(found: Comparison, levels: Sequence[UnionLevel]) -> Arrays:
    """Return the nodes before without a partner that are in closed bodies, and what holds them."""
    tree, numbers = found.trees[0], found.keys.before
    item = np.full(len(tree.nodes), -1, np.int64)
    for level in levels:
        of_both = np.flatnonzero(level.union.before >= 0)
        item[level.sides[0].first + level.union.before[of_both]] = level.first + of_both
    nodes = hidden_nodes(tree, {level.sides[0].at for level in levels}, item)
    nodes = nodes[~np.isin(numbers[nodes], found.keys.after)]
    return {
        "hidden_node": numbers[nodes].astype(np.uint32),
        "hidden_item": item[nodes].astype(np.uint32),
    }


def _join(comparison: GraphComparison) -> UnionGraph:
    partner = np.full(len(comparison.first), -1, np.int64)
    partner[comparison.pairs[:, 0]] = comparison.pairs[:, 1]
    return join_graphs(comparison.first, comparison.second, partner, comparison.edges)
