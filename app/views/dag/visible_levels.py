"""The visible part of a tree: the level shown, and the bodies that are open in it.

The items of all visible levels (nodes, and closed folds) stand in one row of arrays, level after
level. A node whose bodies are open stays an item: the frame around them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from gviz.app.views.dag.folding import Folded
from gviz.app.views.wire import Arrays, Strings
from gviz.dataclass import dataclass
from gviz.model import GraphTree, TimedLevel
from gviz.stats import IntArray

#: The id of an open node, beside those of open folds: its number on the page.
_OPEN = re.compile(r"n(\d{1,10})")
#: Arrays of edges, and arrays that offsets cut up, beside those of one value an item.
_EDGES = ("edge_from", "edge_to", "edge_type")
_CUT = {
    "item_offset": ("item_nodes",),
    "strip_offset": ("strip_ns",),
    "mix_offset": ("mix_family", "mix_part"),
}


def open_id(key: int) -> str:
    """Return the id of a node whose bodies are open."""
    return f"n{key}"


@dataclass(frozen=True, slots=True)
class OpenLevel:
    """A visible level.

    Attributes
    ----------
    level
        Its nodes.
    view
        Its folds; None: every node is an item.
    first
        The number of its first item among those of all levels.
    parent
        (visible level, item of that level) that it is in; None for the level shown.
    """

    level: TimedLevel
    view: Folded | None
    first: int
    parent: tuple[int, int] | None

    def __len__(self) -> int:
        return len(self.level.nodes) if self.view is None else len(self.view.graph)

    @property
    def item_of(self) -> IntArray:
        """Return the item of each node, among those of its level (int64)."""
        if self.view is None:
            return np.arange(len(self.level.nodes))
        return self.view.graph.item_of

    def item_that_is(self, node: int) -> int | None:
        """Return the item that a node is; None where a closed fold holds it."""
        if self.view is None:
            return node
        item = int(self.view.graph.item_of[node])
        return item if self.view.graph.node[item] == node else None


class VisibleLevel(Protocol):
    """A level whose items stand among those of others: of one graph, or of two in one picture."""

    @property
    def first(self) -> int:
        """The number of its first item."""

    @property
    def parent(self) -> tuple[int, int] | None:
        """The (visible level, item of that level) that it is in."""

    def __len__(self) -> int:
        """Return how many items it has."""


def open_levels(
    tree: GraphTree,
    opened: Collection[str],
    read: Callable[[int], TimedLevel],
    fold: Callable[[TimedLevel], Folded | None],
) -> list[OpenLevel]:
    """Return the visible levels; a body comes after the level it is in.

    A node inside a closed fold or body counts as open as soon as that is opened; what is no id of
    a node with bodies is ignored.

    Parameters
    ----------
    tree
        The level shown and what is nested in it.
    opened
        Ids of open nodes, see :func:`open_id`; of open folds too.
    read, fold
        Return a level of the tree, and its folds.
    """
    wanted = opened_nodes(tree, opened)
    level = read(0)
    found = [OpenLevel(level, fold(level), 0, None)]
    end = len(found[0])
    for number, outer in enumerate(found):  # it grows meanwhile
        for node in tree.parents_in(outer.level.at):
            item = outer.item_that_is(node - outer.level.first) if node in wanted else None
            for at in tree.bodies(node) if item is not None else ():
                level = read(at)
                assert item is not None
                found.append(OpenLevel(level, fold(level), end, (number, item)))
                end += len(found[-1])
    return found


def opened_nodes(tree: GraphTree, opened: Collection[str]) -> set[int]:
    """Return the nodes that ids are about; others are of folds."""
    return {node for key in opened_keys(opened) if (node := tree.index_of(key)) is not None}


def opened_keys(opened: Collection[str]) -> set[int]:
    """Return the numbers of the nodes that ids are about."""
    return {int(m[1]) for name in opened if (m := _OPEN.fullmatch(name))}


def join_levels(levels: Sequence[OpenLevel], parts: Sequence[Arrays], strings: Strings) -> Arrays:
    """Return the arrays of all items from those of each level, with what the frames need.

    Beside the arrays of the levels: critical (u4, items of the critical path; after an open node on
    it those of its bodies' paths), critical_edge (u4, the edges between them), within (i4, the
    open node around each item, -1), inside (string: id of the innermost open fold or node around
    it, -1), hidden_node and hidden_item (u4: nodes in bodies that are closed, and the items that
    hold them).
    """
    first = [level.first for level in levels]
    parts = _with_slack_around(levels, parts)
    found: Arrays = {}
    for name in parts[0]:
        if name in ("critical", *_EDGES, *_CUT, *(n for cut in _CUT.values() for n in cut)):
            continue
        found[name] = np.concatenate([part[name] for part in parts])
    for name in ("edge_from", "edge_to"):
        moved = [part[name] + np.uint32(at) for part, at in zip(parts, first, strict=True)]
        found[name] = np.concatenate(moved)
    found["edge_type"] = np.concatenate([part["edge_type"] for part in parts])
    found["lane"] = apart([part["lane"] for part in parts])
    for name, values in _CUT.items():
        if name in parts[0]:
            found |= _join_cut(parts, name, values)
    found |= _critical(levels, parts)
    return found | frame_arrays(levels, found, strings) | hidden_arrays(levels)


def frame_arrays(levels: Sequence[VisibleLevel], arrays: Arrays, strings: Strings) -> Arrays:
    """Return within and inside (:func:`join_levels`) of joined items; none without open nodes."""
    if len(levels) == 1:
        return {}
    return {"within": _within(levels), "inside": _inside(levels, arrays, strings)}


def painted(arrays: Arrays, levels: Sequence[VisibleLevel]) -> Arrays:
    """Return the arrays without open nodes: their frames have no colour."""
    count = len(arrays["node_id"])
    closed = np.ones(count, bool)
    for level in levels[1:]:
        closed[_parent_item(levels, level)] = False
    if closed.all():
        return arrays
    return {n: a[closed] if len(a) == count else a for n, a in arrays.items()}


def _with_slack_around(levels: Sequence[OpenLevel], parts: Sequence[Arrays]) -> list[Arrays]:
    """Return the arrays with slack_ns in bodies counted up to the longest path of the level shown.

    A node that could finish later by its slack in each iteration of its body, and beyond that as
    much as the parent node of the body could, shared among the iterations, makes no path longer.
    """
    found: list[Arrays] = []
    for level, part in zip(levels, parts, strict=True):
        added = np.float32(0.0)
        if level.parent is not None:
            outer, item = level.parent
            around = levels[outer].level.at
            iterations = level.level.nested.iterations_within(level.level.at, around)
            added = np.nan_to_num(found[outer]["slack_ns"][item] / np.float32(iterations))
        found.append(part | {"slack_ns": part["slack_ns"] + added})
    return found


def apart(numbers: Sequence[npt.NDArray[np.uint32]]) -> npt.NDArray[np.uint32]:
    """Return numbers such that those of different levels differ."""
    above, parts = 0, []
    for part in numbers:
        parts.append(part + np.uint32(above))
        above += int(part.max()) + 1 if len(part) else 0
    return np.concatenate(parts)


def _join_cut(parts: Sequence[Arrays], offset: str, values: Sequence[str]) -> Arrays:
    ends = np.cumsum([0, *(int(part[offset][-1]) for part in parts)])
    joined = [part[offset][:-1] + np.uint32(at) for part, at in zip(parts, ends[:-1], strict=True)]
    found: Arrays = {offset: np.append(np.concatenate(joined), ends[-1]).astype(np.uint32)}
    return found | {name: np.concatenate([part[name] for part in parts]) for name in values}


def _critical(levels: Sequence[OpenLevel], parts: Sequence[Arrays]) -> Arrays:
    bodies: dict[tuple[int, int], list[int]] = {}
    for number, level in enumerate(levels):
        if level.parent is not None:
            bodies.setdefault(level.parent, []).append(number)
    begin = np.cumsum([0, *(len(part["edge_from"]) for part in parts)])
    pieces: list[IntArray] = []
    waiting = [(0, parts[0]["critical"].astype(np.int64))]
    used = [0]
    while waiting:
        number, path = waiting.pop()
        opened = np.flatnonzero(np.isin(path, [item for outer, item in bodies if outer == number]))
        end = int(opened[0]) + 1 if len(opened) else len(path)
        pieces.append(levels[number].first + path[:end])
        if len(opened):
            waiting.append((number, path[end:]))
            for body in reversed(bodies[number, int(path[end - 1])]):
                used.append(body)
                waiting.append((body, parts[body]["critical"].astype(np.int64)))
    edges = [begin[number] + _edges_along(parts[number]) for number in used]
    return {
        "critical": np.concatenate(pieces).astype(np.uint32),
        "critical_edge": np.concatenate(edges).astype(np.uint32),
    }


def _edges_along(part: Arrays) -> IntArray:
    """Return the edges between neighbours on the critical path of a level."""
    path = part["critical"]
    # Two steps off for what is not on the path.
    place = np.full(len(part["node_id"]), -2, np.int64)
    place[path] = np.arange(len(path))
    step = place[part["edge_from"]]
    along = np.flatnonzero((step >= 0) & (place[part["edge_to"]] == step + 1))
    edge = np.full(len(path), -1, np.int64)
    # Written in reverse so that the first of equal edges wins.
    edge[step[along[::-1]]] = along[::-1]
    return edge[edge >= 0]


def _within(levels: Sequence[VisibleLevel]) -> npt.NDArray[np.int32]:
    return np.concatenate([np.full(len(x), _parent_item(levels, x), np.int32) for x in levels])


def _parent_item(levels: Sequence[VisibleLevel], level: VisibleLevel) -> int:
    """Return the item that holds a level, among those of all; -1 for the level shown."""
    return -1 if level.parent is None else levels[level.parent[0]].first + level.parent[1]


def _inside(
    levels: Sequence[VisibleLevel], arrays: Arrays, strings: Strings
) -> npt.NDArray[np.int32]:
    count = sum(len(level) for level in levels)
    found = arrays.get("inside", np.full(count, -1, np.int32)).copy()
    for level in levels:
        item = _parent_item(levels, level)
        if item < 0:
            continue
        mine = found[level.first : level.first + len(level)]
        mine[mine < 0] = strings.add(open_id(int(arrays["node_id"][item])))
    return found


def hidden_arrays(levels: Sequence[OpenLevel]) -> Arrays:
    """Return the nodes that no item is or folds, with the items that hold them."""
    tree = levels[0].level.tree
    item = np.full(len(tree.nodes), -1, np.int64)
    for level in levels:
        item[level.level.part] = level.first + level.item_of
    visible = {level.level.at for level in levels}
    nodes = hidden_nodes(tree, visible, item)
    return {
        "hidden_node": tree.key[nodes].astype(np.uint32),
        "hidden_item": item[nodes].astype(np.uint32),
    }


def hidden_nodes(tree: GraphTree, visible: Collection[int], item: IntArray) -> IntArray:
    """Return the nodes of a tree that are in closed bodies of what is visible.

    Parameters
    ----------
    visible
        The levels that are.
    item
        int64, one a node: its item, -1: none. Nodes in closed bodies get that of their parent node.
    """
    hidden = [np.zeros(0, np.int64)]
    for at, inner in enumerate(tree.levels):
        if at not in visible and inner.parent >= 0 and item[inner.parent] >= 0:
            item[inner.first : inner.end] = item[inner.parent]
            hidden.append(np.arange(inner.first, inner.end))
    return np.concatenate(hidden)
