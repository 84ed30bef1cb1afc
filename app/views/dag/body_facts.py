"""The inside of parent nodes, in words: nodes, bodies, iterations, and their times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from gviz.app.views.dag.visible_levels import OpenLevel
from gviz.app.views.wire import Arrays, Strings
from gviz.model import NestedTimes, TimedTree
from gviz.text import counted, integer


def parent_words(tree: TimedTree, node: int) -> str:
    """Return how much a node holds: ``2 bodies, 14 nodes``."""
    levels = tree.bodies(node)
    inside = len(tree.inside(node))
    own = sum(tree.levels[at].end - tree.levels[at].first for at in levels)
    nested = f", {integer(inside - own)} of them nested deeper" if inside > own else ""
    bodies = counted(len(levels), "body", "bodies")
    return f"{bodies}, {counted(inside, 'node')}{nested}"


def iteration_words(tree: TimedTree, times: NestedTimes, at: int) -> str:
    """Return how often a body ran: ``5 iterations a launch (3 to 8), in 18 of 20 launches``."""
    level = tree.levels[at]
    if not times.kept_count:
        return "no launch recorded"
    ran = int(times.iterations.launches[at])
    if not ran:
        return _untold(tree, at)
    median, least, most = (
        float(values[at])
        for values in (times.iterations.median, times.iterations.least, times.iterations.most)
    )
    always = ran == times.kept_count
    launches = counted(times.kept_count, "launch", "launches")
    where = "every launch" if always else f"{integer(ran)} of {launches}"
    if most == 1:
        # A child graph runs when its node does: that it does so once needs no word.
        return "" if always and level.label == "child graph" else f"ran in {where}"
    spread = "" if least == most else f" ({least:g} to {most:g})"
    return f"{median:g} iterations a launch{spread}, in {where}"


def _untold(tree: TimedTree, at: int) -> str:
    """Return why there is no number of iterations."""
    level = tree.levels[at]
    inside = [n for own in range(level.first, level.end) for n in (own, *tree.inside(own))]
    if any(not np.isnan(tree.times.total_ns[n]) for n in inside):
        return "iterations unknown: none of its own nodes has a time"
    if level.first == level.end:
        return "empty"
    untold = tree.nodes.texts("not_timed_reason").codes < 0
    if not any(untold[n] for n in inside if not tree.bodies(n)):
        return "iterations unknown: none of its nodes can have a time"
    return "did not run in any recorded launch"


class NestedBody(NamedTuple):
    """A body of a visible node: what it is to that, how often it ran, which open body it is."""

    label: str
    words: str
    opened: int


class ParentNode(NamedTuple):
    """A visible parent node.

    Attributes
    ----------
    item
        Among those of all levels.
    tree, times, node
        The node, and what ran inside it.
    bodies
        By branch; ``opened`` is -1 where they are closed.
    """

    item: int
    tree: TimedTree
    times: NestedTimes
    node: int
    bodies: Sequence[NestedBody]


def visible_parents(levels: Sequence[OpenLevel]) -> Iterator[ParentNode]:
    """Yield the parent nodes of visible levels, open or not."""
    tree, nested = levels[0].level.tree, levels[0].level.nested
    number = {level.level.at: at for at, level in enumerate(levels)}
    for level in levels:
        for node in tree.parents_in(level.level.at):
            item = level.item_that_is(node - level.level.first)
            if item is None:
                continue
            bodies = [
                NestedBody(
                    tree.levels[at].label, iteration_words(tree, nested, at), number.get(at, 0) - 1
                )
                for at in tree.bodies(node)
            ]
            yield ParentNode(level.first + item, tree, nested, node, bodies)


def parent_arrays(parents: Iterable[ParentNode], strings: Strings) -> Arrays:
    """Return the DAG's text on visible parent nodes.

    Of each: parent_item (u4), parent_words (string), parent_launches (u4, in which anything inside
    ran), parent_p5_ns and parent_p95_ns (f4, of what ran inside in these, summed); of each of its
    bodies, one after the other: body_parent (u4, which of these), body_label and body_words
    (string), body_open (i4, which of the open bodies, -1).
    """
    found = list(parents)
    table = np.array(
        [
            (at, strings.add(body.label), strings.add(body.words), body.opened)
            for at, parent in enumerate(found)
            for body in parent.bodies
        ],
        np.int64,
    ).reshape(-1, 4)
    words = [strings.add(parent_words(x.tree, x.node)) for x in found]
    times = [(x.times.bodies, x.node) for x in found]
    return {
        "parent_item": np.array([parent.item for parent in found], np.uint32),
        "parent_words": np.array(words, np.uint32),
        "parent_launches": np.array([inside.launches[n] for inside, n in times], np.uint32),
        "parent_p5_ns": np.array([inside.p5_ns[n] for inside, n in times], np.float32),
        "parent_p95_ns": np.array([inside.p95_ns[n] for inside, n in times], np.float32),
        "body_parent": table[:, 0].astype(np.uint32),
        "body_label": table[:, 1].astype(np.uint32),
        "body_words": table[:, 2].astype(np.uint32),
        "body_open": table[:, 3].astype(np.int32),
    }
