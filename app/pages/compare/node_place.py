"""The place of a node on the Compare page: in the trees of both sides, and what became of it."""

from __future__ import annotations

import numpy as np

from gviz.app.pages.compare.comparison import Comparison
from gviz.app.pages.compare.page_levels import PageLevel
from gviz.comparison import GraphComparison, TimeChange
from gviz.dataclass import dataclass
from gviz.model import TreeNode


@dataclass(frozen=True, slots=True)
class NodePlace:
    """A node of both sides or of one.

    Attributes
    ----------
    found
        The comparison.
    number
        Its number on the page.
    index
        Its index in the tree before, and in that after; None: that side has it not.
    at
        Which of the page's levels it is in.
    pair
        The comparison of its level, and its place among the pairs there; None: it has no partner.
    became
        Its time before and after; None: it has no partner.
    replacement
        What by what, of a node without a partner that a replacement took in; else "".
    """

    found: Comparison
    number: int
    index: tuple[int | None, int | None]
    at: int
    pair: tuple[GraphComparison, int] | None
    became: TimeChange | None
    replacement: str

    @property
    def side(self) -> int:
        """The side that describes it: after, before where it is gone."""
        return 0 if self.index[1] is None else 1

    @property
    def row(self) -> TreeNode:
        """The node as that side has it."""
        return self._row(self.side)

    @property
    def name(self) -> str:
        """Its name; of a replaced kernel what by what."""
        if self.pair is None:
            return self.row.name
        comparison, pair = self.pair
        return comparison.pair_names()[pair]

    @property
    def ids_text(self) -> str:
        """Its ids on both sides."""
        return "node " + " → ".join(
            str(self.node_id(side)) for side in (0, 1) if self.index[side] is not None
        )

    @property
    def own_ns(self) -> float | None:
        """Its median duration on the side that describes it."""
        index = self.index[self.side]
        ns = float(self.found.trees[self.side].times.median_ns[index])
        return None if np.isnan(ns) else ns

    def node_id(self, side: int) -> int:
        """Return its id in its graph on a side that has it."""
        return self._row(side).node_id

    def own_number(self, side: int) -> int:
        """Return its number on the page of the graph of a side that has it."""
        return int(self.found.trees[side].key[self.index[side]])

    def level_of(self, side: int) -> int:
        """Return its level in the tree of a side that has it."""
        return int(self.found.trees[side].level[self.index[side]])

    def _row(self, side: int) -> TreeNode:
        index = self.index[side]
        assert index is not None
        return self.found.trees[side].nodes[index]


def place_of(found: Comparison, number: int) -> NodePlace | None:
    """Return the place of the node that has a number on the page; None: there is none such."""
    before, after = (_index(found, side, number) for side in (0, 1))
    if before is None and after is None:
        return None
    side = 0 if after is None else 1
    index = before if after is None else after
    level = int(found.trees[side].level[index])
    at = next(n for n, page in enumerate(found.page.levels) if page.places[side] == level)
    place = NodePlace(found, number, (before, after), at, None, None, "")
    return place if found.page.levels[at].alone else _compared(place, side, level)


def _compared(place: NodePlace, side: int, level: int) -> NodePlace:
    """Return a place in a level that both sides have, with what became of the node."""
    found = place.found
    comparison = found.level(place.at)
    index = place.index[side]
    assert index is not None
    node = index - found.trees[side].levels[level].first
    pairs = np.flatnonzero(comparison.pairs[:, side] == node)
    if len(pairs):
        pair = int(pairs[0])
        became = found.pair.levels[place.at].nodes.at(pair)
        return NodePlace(found, place.number, place.index, place.at, (comparison, pair), became, "")
    name = next((r.name for r in comparison.replacements if node in (r.before, r.after)[side]), "")
    return NodePlace(found, place.number, place.index, place.at, None, None, name)


def _index(found: Comparison, side: int, number: int) -> int | None:
    here = np.flatnonzero(found.keys.of_side(side) == number)
    return int(here[0]) if len(here) else None


def open_path(found: Comparison, place: NodePlace) -> list[int]:
    """Return the nodes that have to be open for a node to be seen, from it outwards."""
    nodes: list[int] = []
    level: PageLevel = found.page.levels[place.at]
    while level.parent is not None:
        nodes.append(level.parent)
        outer = place_of(found, level.parent)
        assert outer is not None
        level = found.page.levels[outer.at]
    return nodes
