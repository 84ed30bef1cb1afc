"""The levels of two graphs that one picture can have: those of both, then those of one alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from gviz.app.pages.compare.union_keys import UnionKeys
from gviz.comparison import ComparedLevel
from gviz.dataclass import dataclass
from gviz.model import GraphTree

#: What both sides are called on the page.
SIDES = ("A", "B")


@dataclass(frozen=True, slots=True)
class PageLevel:
    """The graphs themselves, or a body of both or of one.

    Attributes
    ----------
    places
        Which level it is of the tree before and of that after; None: that side has none such.
    parent
        The page's number of its parent node; None: it is the graphs themselves.
    """

    places: tuple[int | None, int | None]
    parent: int | None

    @property
    def side(self) -> Literal[0, 1]:
        """The side that is described: after, before where it is gone."""
        return 0 if self.places[1] is None else 1

    @property
    def place(self) -> int:
        """Its level in the tree of that side."""
        found = self.places[self.side]
        assert found is not None
        return found

    @property
    def alone(self) -> bool:
        """Return whether one side only has it."""
        return None in self.places


@dataclass(frozen=True, slots=True)
class PageLevels:
    """All levels of two graphs.

    Attributes
    ----------
    levels
        Those that are compared, in the comparison's order; then those of the graph after alone,
        then those before.
    bodies
        By the page's number of a parent node its levels, by branch; of one branch that
        after first.
    """

    levels: tuple[PageLevel, ...]
    bodies: Mapping[int, tuple[int, ...]]

    @classmethod
    def of(
        cls,
        trees: tuple[GraphTree, GraphTree],
        keys: UnionKeys,
        compared: Sequence[ComparedLevel],
    ) -> PageLevels:
        """Return the levels of two trees, of which some are compared."""
        at = [{x.graph.graph_id: n for n, x in enumerate(tree.levels)} for tree in trees]
        places: list[tuple[int | None, int | None]] = [
            (at[0][level.graph_ids[0]], at[1][level.graph_ids[1]]) for level in compared
        ]
        known = tuple({pair[side] for pair in places} for side in (0, 1))
        places += [(None, n) for n in range(len(trees[1].levels)) if n not in known[1]]
        places += [(n, None) for n in range(len(trees[0].levels)) if n not in known[0]]
        levels = tuple(PageLevel(pair, _parent_number(trees, keys, pair)) for pair in places)
        return cls(levels, _bodies_of(trees, levels))

    def __len__(self) -> int:
        return len(self.levels)


def _parent_number(
    trees: tuple[GraphTree, GraphTree], keys: UnionKeys, places: tuple[int | None, int | None]
) -> int | None:
    """Return the page's number of a level's parent node: partners share theirs."""
    for tree, numbers, place in zip(trees, (keys.before, keys.after), places, strict=True):
        if place is not None:
            parent = tree.levels[place].parent
            return None if parent < 0 else int(numbers[parent])
    raise AssertionError("a level of neither side")


def _bodies_of(
    trees: tuple[GraphTree, GraphTree], levels: Sequence[PageLevel]
) -> dict[int, tuple[int, ...]]:
    def order(at: int) -> tuple[int, int]:
        level = levels[at]
        return trees[level.side].levels[level.place].graph.branch or 0, -level.side

    found: dict[int, list[int]] = {}
    for at, level in enumerate(levels):
        if level.parent is not None:
            found.setdefault(level.parent, []).append(at)
    return {parent: tuple(sorted(bodies, key=order)) for parent, bodies in found.items()}
