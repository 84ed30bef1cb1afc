"""The visible part of two graphs in one picture: a level of both, and the bodies open in it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np

from gviz.app.pages.compare.comparison import Comparison
from gviz.app.pages.compare.page_levels import SIDES, PageLevel
from gviz.app.views import (
    Arrays,
    NestedBody,
    ParentNode,
    hidden_nodes,
    iteration_words,
    opened_keys,
)
from gviz.comparison import AFTER, BEFORE, GraphComparison, UnionGraph, join_graphs
from gviz.dataclass import dataclass
from gviz.model import TimedLevel
from gviz.stats import IntArray

#: Returns a level of a side: (0 or 1, place in its tree).
ReadLevel = Callable[[int, int], TimedLevel]


@dataclass(frozen=True, slots=True)
class UnionLevel:
    """A visible level of both graphs. Its items are the nodes after, then those that are gone.

    Attributes
    ----------
    at
        Which of the page's levels.
    comparison
        What became of it; None: one side only has it.
    union
        Both versions as one graph.
    sides
        Before and after; None where it is not there.
    numbers
        int64, one an item: its number on the page.
    first
        The number of its first item among those of all levels.
    parent
        (visible level, item of that level) that it is in; None for the level requested.
    """

    at: int
    comparison: GraphComparison | None
    union: UnionGraph
    sides: tuple[TimedLevel | None, TimedLevel | None]
    numbers: IntArray
    first: int
    parent: tuple[int, int] | None

    @property
    def level(self) -> TimedLevel:
        """The level after; where that is gone, the one before."""
        before, after = self.sides
        found = before if after is None else after
        assert found is not None
        return found

    def __len__(self) -> int:
        return len(self.union)


def open_union(
    found: Comparison,
    at: int,
    opened: Collection[str],
    read: ReadLevel,
) -> list[UnionLevel]:
    """Return the visible levels; a body comes after the level it is in.

    Parameters
    ----------
    at
        The level requested, of the page.
    opened
        Ids of open nodes (:func:`gviz.app.views.dag.visible_levels.open_id`), by their numbers on
        the page.
    """
    bodies = found.page.bodies
    wanted = np.array(sorted(opened_keys(opened) & bodies.keys()), np.int64)
    levels = [_build(found, at, read, 0, None)]
    end = len(levels[0])
    for number, outer in enumerate(levels):  # it grows meanwhile
        for item in np.flatnonzero(np.isin(outer.numbers, wanted)).tolist():
            for body in bodies[int(outer.numbers[item])]:
                levels.append(_build(found, body, read, end, (number, item)))
                end += len(levels[-1])
    return levels


def every_level(found: Comparison, read: ReadLevel) -> list[UnionLevel]:
    """Return all levels of the page in its order, each by itself; outer ones come before inner."""
    levels: list[UnionLevel] = []
    end = 0
    for at in range(len(found.page)):
        levels.append(_build(found, at, read, end, None))
        end += len(levels[-1])
    return levels


def _build(
    found: Comparison, at: int, read: ReadLevel, first: int, parent: tuple[int, int] | None
) -> UnionLevel:
    page = found.page.levels[at]
    before, after = (
        None if place is None else read(side, place) for side, place in enumerate(page.places)
    )
    comparison = None if page.alone else found.level(at)
    union = _union(comparison, before, after)
    numbers = _numbers(found, page, union)
    return UnionLevel(at, comparison, union, (before, after), numbers, first, parent)


def union_parents(found: Comparison, levels: Sequence[UnionLevel]) -> Iterator[ParentNode]:
    """Yield the visible parent nodes; each is described as after, if it is not gone."""
    number = {level.at: at for at, level in enumerate(levels)}
    holding = np.array(sorted(found.page.bodies), np.int64)
    for level in levels:
        for item in np.flatnonzero(np.isin(level.numbers, holding)).tolist():
            after = int(level.union.after[item])
            side = 0 if after < 0 else 1
            index = int(level.union.before[item]) if after < 0 else after
            shown = level.sides[side]
            assert shown is not None
            bodies = [
                _describe(found, found.page.levels[at], level, number.get(at, 0) - 1)
                for at in found.page.bodies[int(level.numbers[item])]
            ]
            node = shown.first + index
            yield ParentNode(level.first + item, shown.tree, shown.nested, node, bodies)


def _describe(found: Comparison, page: PageLevel, outer: UnionLevel, opened: int) -> NestedBody:
    """Return what a body is, and how often it ran on both sides or the one that has it."""
    iterations: list[str | None] = [None, None]
    for side, (place, around) in enumerate(zip(page.places, outer.sides, strict=True)):
        if place is not None and around is not None:
            iterations[side] = iteration_words(found.trees[side], around.nested, place)
    before, after = iterations
    if page.alone:
        words = ": ".join(filter(None, [f"only in {SIDES[page.side]}", iterations[page.side]]))
    elif before == after:
        words = after or ""
    else:
        words = f"{after or 'once'}; in A {before or 'once'}"
    return NestedBody(found.trees[page.side].levels[page.place].label, words, opened)


def hidden_in_union(found: Comparison, levels: Sequence[UnionLevel]) -> Arrays:
    """Return the nodes of both sides that are in closed bodies, and the items that hold these.

    Partners are there once. Arrays are those of
    :func:`gviz.app.views.dag.visible_levels.hidden_arrays`.
    """
    nodes, items = (
        np.concatenate(parts)
        for parts in zip(*(_hidden(found, levels, side) for side in (1, 0)), strict=True)
    )
    return {"hidden_node": nodes.astype(np.uint32), "hidden_item": items.astype(np.uint32)}


def _hidden(
    found: Comparison, levels: Sequence[UnionLevel], side: int
) -> tuple[IntArray, IntArray]:
    tree, numbers = found.trees[side], found.keys.of_side(side)
    item = np.full(len(tree.nodes), -1, np.int64)
    visible: set[int] = set()
    for level in levels:
        shown = level.sides[side]
        if shown is None:
            continue
        index = level.union.after if side else level.union.before
        here = np.flatnonzero(index >= 0)
        item[shown.first + index[here]] = level.first + here
        visible.add(shown.at)
    nodes = hidden_nodes(tree, visible, item)
    if not side:
        nodes = nodes[~np.isin(numbers[nodes], found.keys.after)]
    return numbers[nodes], item[nodes]


def _union(
    comparison: GraphComparison | None, before: TimedLevel | None, after: TimedLevel | None
) -> UnionGraph:
    if comparison is not None:
        partner = np.full(len(comparison.first), -1, np.int64)
        partner[comparison.pairs[:, 0]] = comparison.pairs[:, 1]
        return join_graphs(comparison.first, comparison.second, partner, comparison.edges)
    level = before if after is None else after
    assert level is not None
    edges = level.edge_from, level.edge_to, level.edge_type
    return UnionGraph.alone(len(level.key), *edges, BEFORE if after is None else AFTER)


def _numbers(found: Comparison, page: PageLevel, union: UnionGraph) -> IntArray:
    numbers = np.full(len(union), -1, np.int64)
    for side, index in enumerate((union.before, union.after)):
        place = page.places[side]
        if place is not None:
            here = index >= 0
            first = found.trees[side].levels[place].first
            numbers[here] = found.keys.of_side(side)[first + index[here]]
    return numbers
