"""Folding in the DAG: the tree of folds of a level, and its arrays an item instead of a node."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gviz.app.dag_places import Shape
from gviz.app.graph_level import GraphLevel
from gviz.app.launch_intervals import LaunchIntervals
from gviz.app.wire import Arrays, Strings
from gviz.folding.durations import compare_repeats
from gviz.folding.fold import Fold, FoldTree
from gviz.folding.folded_graph import FoldedGraph, fold_graph
from gviz.folding.ranges import RangePaths, find_ranges
from gviz.folding.repeats import find_repeats
from gviz.layout.lanes import cover_chains
from gviz.layout.ranks import rank_rows

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

#: As addresses name them: equal blocks, and NVTX ranges.
FOLDINGS = ("repeats", "ranges")
#: Stands for the type of a fold: no CUgraphNodeType, see :func:`gviz.app.wire.node_types`.
FOLD_TYPE = 254
#: Of these a fold has the sum over its nodes, of the others what its nodes agree on.
_SUMMED = ("median_ns", "body_ns", "share", "launch_ns")


def fold_level(level: GraphLevel, folding: str) -> FoldTree:
    """Return the folds of a level.

    ``folding`` is one of :data:`FOLDINGS`. Nodes are equal when type, name, launch shape and
    size are.
    """
    order = np.lexsort((np.arange(len(level.nodes)), level.row))
    if folding == "ranges":
        texts = {key: tuple(text.split(" › ")) for key, text in level.nvtx.items()}
        paths = RangePaths.from_texts(texts.get(n.nvtx_path_id or -1, ()) for n in level.nodes)
        # As created: ranges are contiguous there.
        created = np.arange(len(level.nodes), dtype=np.int64)
        return find_ranges(level.edge_from, level.edge_to, created, paths)
    known: dict[object, int] = {}
    labels = [known.setdefault((n.type, n.name, *n.shape), len(known)) for n in level.nodes]
    names = [n.name for n in level.nodes]
    return find_repeats(level.edge_from, level.edge_to, order, labels, names)


@dataclass(frozen=True, slots=True)
class Folded:
    """What is visible of a level while some folds are open."""

    tree: FoldTree
    graph: FoldedGraph
    unfolded: frozenset[str]

    @property
    def first(self) -> IntArray:
        """Return a node of each item: itself, or the first that a fold holds (int64)."""
        folds = self.graph.folds
        firsts = [-1 if f is None else int(f.nodes[0]) for f in folds]
        return np.where(self.graph.node >= 0, self.graph.node, np.array(firsts, np.int64))


def folded(tree: FoldTree, unfolded: Collection[str]) -> Folded:
    """Return what is visible of a tree."""
    return Folded(tree, fold_graph(tree, unfolded), frozenset(unfolded))


def fold_arrays(
    arrays: Arrays, level: GraphLevel, view: Folded, strings: Strings
) -> tuple[dict[str, Any], Arrays]:
    """Return header fields, and the DAG's arrays with one value an item.

    Beside those of nodes: item_offset, item_nodes (node ids an item holds), fold (string: id of
    the fold that the item is, -1: a node), inside (string: id of the innermost open fold around
    it, -1), strip_offset, strip_ns (duration of each block of a repeat, f4), fold_words (string:
    what the fold is, -1).
    """
    graph = view.graph
    first = view.first
    found: Arrays = {
        name: _gather(name, values, graph, first)
        for name, values in arrays.items()
        if len(values) == len(level.nodes) and not name.startswith(("edge_", "critical"))
    }
    closed = [i for i, fold in enumerate(graph.folds) if fold is not None]
    found["type"][closed] = FOLD_TYPE
    found["name"][closed] = [strings.add(_fold(graph, i).title) for i in closed]
    found["reason"][closed] = -1
    path = graph.item_of[arrays["critical"].astype(np.int64)]
    changed = np.ones(len(path), bool)
    changed[1:] = path[1:] != path[:-1]
    found |= {
        "critical": path[changed].astype(np.uint32),
        "edge_from": graph.source.astype(np.uint32),
        "edge_to": graph.target.astype(np.uint32),
        "edge_type": _edge_types(level, graph).astype(np.uint8),
        "fold": _fold_ids(graph, strings),
        "inside": _open_around(view, strings),
        "fold_words": np.array(
            [-1 if f is None else strings.add(_words(f, level)) for f in graph.folds], np.int32
        ),
        **_members(level, graph),
        **_strips(level, graph),
    }
    return {"folded": len(closed), "fold_count": sum(1 for _ in view.tree.walk())}, found


def _fold(graph: FoldedGraph, item: int) -> Fold:
    fold = graph.folds[item]
    assert fold is not None
    return fold


def _gather(
    name: str, values: npt.NDArray[Any], graph: FoldedGraph, first: IntArray
) -> npt.NDArray[Any]:
    """Return the value of each item: of folds a sum, the least slack, or what is common."""
    found = values[first].copy()
    for i, fold in enumerate(graph.folds):
        if fold is None:
            continue
        mine = values[fold.nodes]
        if name in _SUMMED:
            found[i] = np.nan if np.isnan(mine).all() else np.nansum(mine)
        elif name == "slack_ns":
            found[i] = np.nan if np.isnan(mine).all() else np.nanmin(mine)
        elif values.dtype.kind == "f":
            found[i] = np.nan
        elif values.dtype.kind == "i" and (mine != mine[0]).any():
            found[i] = -1
    return found


def _edge_types(level: GraphLevel, graph: FoldedGraph) -> IntArray:
    """Return the type of each joined edge: programmatic only where all of them are."""
    group = graph.groups_of(level.edge_from, level.edge_to)
    found = np.full(len(graph.source), np.iinfo(np.int64).max)
    np.minimum.at(found, group[group >= 0], level.edge_type[group >= 0])
    return found


def _fold_ids(graph: FoldedGraph, strings: Strings) -> npt.NDArray[np.int32]:
    return np.array([-1 if f is None else strings.add(f.id) for f in graph.folds], np.int32)


def _open_around(view: Folded, strings: Strings) -> npt.NDArray[np.int32]:
    """Return the innermost open fold around each item, by string."""
    around = np.full(view.tree.node_count, -1, np.int32)
    for fold in view.tree.walk():  # outer ones come before inner ones
        if fold.id in view.unfolded:
            around[fold.nodes] = strings.add(fold.id)
    closed = {f.id for f in view.graph.folds if f is not None}
    assert not closed & view.unfolded
    return around[view.first] if len(view.graph) else around[:0]


def _members(level: GraphLevel, graph: FoldedGraph) -> Arrays:
    ids = np.array([n.node_id for n in level.nodes], np.uint32)
    order = np.argsort(graph.item_of, kind="stable")
    sizes = np.bincount(graph.item_of, minlength=len(graph))
    return {
        "item_offset": np.concatenate(([0], np.cumsum(sizes))).astype(np.uint32),
        "item_nodes": ids[order] if len(ids) else ids,
    }


def _strips(level: GraphLevel, graph: FoldedGraph) -> Arrays:
    times = _times(level)
    strips = [
        compare_repeats(f, times).total_ns if f is not None and f.kind == "repeat" else np.zeros(0)
        for f in graph.folds
    ]
    return {
        "strip_offset": np.cumsum([0, *(len(s) for s in strips)]).astype(np.uint32),
        "strip_ns": np.concatenate([np.zeros(0), *strips]).astype(np.float32),
    }


def _times(level: GraphLevel) -> FloatArray:
    return np.where(np.isnan(level.median_ns), level.body_ns, level.median_ns)


def _words(fold: Fold, level: GraphLevel) -> str:
    """Return what a fold is: for the tooltip."""
    count = f"{len(fold.nodes):,} nodes"
    if fold.kind != "repeat":
        return count
    times = compare_repeats(fold, _times(level))
    words = f"{fold.repeats} × {fold.period:,} nodes" if fold.period > 1 else count
    if times.slowest is None:
        return words
    return f"{words}; slowest is number {times.slowest + 1}"


def items_shape(view: Folded, ran: LaunchIntervals | None) -> Shape:
    """Return the shape of what is visible."""
    graph = view.graph
    row = rank_rows(len(graph), graph.source, graph.target)
    chain = cover_chains(row, graph.source, graph.target)
    intervals = None if ran is None else _join_intervals(ran, graph)
    return Shape(len(graph), graph.source, graph.target, row, chain, intervals)


def _join_intervals(ran: LaunchIntervals, graph: FoldedGraph) -> LaunchIntervals:
    count = len(graph)
    timed = ~np.isnan(ran.start_ns)
    owner = graph.item_of[timed]
    start, end = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(start, owner, ran.start_ns[timed])
    np.maximum.at(end, owner, ran.end_ns[timed])
    busy = np.bincount(owner, weights=ran.busy_ns[timed], minlength=count).astype(np.float64)
    none = np.isinf(start)
    start[none] = end[none] = busy[none] = np.nan
    return LaunchIntervals(start, end, busy)
