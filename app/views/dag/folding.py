"""Folding in the DAG: the tree of folds of a level, and its arrays an item instead of a node."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gviz.app.views.dag.dag_places import LevelItems
from gviz.app.views.dag.intervals import LaunchIntervals
from gviz.app.views.wire import Arrays, Strings
from gviz.dag import cover_graph
from gviz.families import kernel_label
from gviz.layout import (
    Fold,
    FoldedDag,
    FoldTree,
    RangePaths,
    RepeatDurations,
    compare_repeats,
    find_ranges,
    find_repeats,
    fold_graph,
)
from gviz.model import SEPARATOR, SHAPE, GraphTree, TimedLevel, distinct
from gviz.stats import FloatArray, IntArray

#: Stands for the type of a fold: no CUgraphNodeType, see :func:`gviz.app.views.wire.node_types`.
FOLD_TYPE = 254
#: Of these a fold has the sum over its nodes, of the others what its nodes agree on.
_SUMMED = ("median_ns", "body_ns", "share", "launch_ns")


def fold_level(level: TimedLevel, folding: str) -> FoldTree:
    """Return the folds of a level.

    ``folding`` is one of :data:`gviz.app.components.dag_options.FOLDINGS`. Nodes are equal when
    type, name, launch shape and size are, and the topologies of what they hold.
    """
    order = np.lexsort((np.arange(len(level.nodes)), level.row))
    if folding == "ranges":
        ranges = {key: tuple(text.split(SEPARATOR)) for key, text in level.tree.nvtx.items()}
        of_node = level.nodes.integers("nvtx_path_id", -1).tolist()
        paths = RangePaths.from_texts(ranges.get(path, ()) for path in of_node)
        # As created: ranges are contiguous there.
        created = np.arange(len(level.nodes), dtype=np.int64)
        return find_ranges(level.edge_from, level.edge_to, created, paths)
    names = level.nodes.texts("name")
    work = [names.codes.astype(np.int64), level.nodes.integers("type"), _contents(level)]
    work += [level.nodes.integers(name, -1) for name in SHAPE]
    _, labels = distinct(work)
    shown = [kernel_label(name) for name in names.values]
    texts = [shown[code] for code in names.codes.tolist()]
    return find_repeats(level.edge_from, level.edge_to, order, labels, texts)


def _contents(level: TimedLevel) -> IntArray:
    """Return a number one a node, equal where nodes hold equal bodies or none (int64)."""
    known: dict[object, int] = {}
    found = np.full(len(level.nodes), -1, np.int64)
    for node in level.parents:
        content = _content(level.tree, level.first + node)
        found[node] = known.setdefault(content, len(known))
    return found


def _content(tree: GraphTree, node: int) -> tuple[object, ...]:
    """Return what is equal where nodes hold equal bodies."""
    found: list[object] = []
    for at in tree.bodies(node):
        graph = tree.levels[at].graph
        # Edges that are not recorded cannot be shown to be equal.
        known = graph.topology_id is not None
        same = ("topology", graph.topology_id) if known else ("graph", graph.graph_id)
        found.append((same, *(_content(tree, n) for n in tree.parents_in(at))))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Folded:
    """Visible items of a level while some folds are open.

    Attributes
    ----------
    prefix
        Before the ids of its folds: equal bodies have folds of equal ids.
    """

    tree: FoldTree
    graph: FoldedDag
    unfolded: frozenset[str]
    prefix: str = ""

    def name_of(self, fold: Fold) -> str:
        """Return the id of a fold on the page."""
        return self.prefix + fold.id

    @property
    def first(self) -> IntArray:
        """Return a node of each item: itself, or the first that a fold holds (int64)."""
        folds = self.graph.folds
        firsts = [-1 if f is None else int(f.nodes[0]) for f in folds]
        return np.where(self.graph.node >= 0, self.graph.node, np.array(firsts, np.int64))


def folded(tree: FoldTree, unfolded: Collection[str], prefix: str = "") -> Folded:
    """Return what is visible of a tree; ``unfolded`` are ids as :meth:`Folded.name_of` has them."""
    mine = frozenset(i.removeprefix(prefix) for i in unfolded if i.startswith(prefix))
    return Folded(tree, fold_graph(tree, mine), mine, prefix)


def fold_arrays(arrays: Arrays, level: TimedLevel, view: Folded, strings: Strings) -> Arrays:
    """Return the DAG's arrays with one value an item.

    Beside those of nodes: item_offset, item_nodes (node ids an item holds), fold (string: id of
    the fold that the item is, -1: a node), inside (string: id of the innermost open fold around
    it, -1), strip_offset, strip_ns (duration of each block of a repeat, f4), mix_offset, mix_family
    (string), mix_part (f4: the parts of a fold's time by kernel family, the largest first),
    fold_words (string: what the fold is, -1).
    """
    graph = view.graph
    first = view.first
    found: Arrays = {
        name: _gather(name, values, graph, first)
        for name, values in arrays.items()
        if not name.startswith(("edge_", "critical"))
    }
    closed = [i for i, fold in enumerate(graph.folds) if fold is not None]
    mixes = {i: _mix(_fold(graph, i).nodes, arrays["family"], level.median_ns) for i in closed}
    found["family"][closed] = [mixes[i][0][0] for i in closed]
    found["type"][closed] = FOLD_TYPE
    found["name"][closed] = [strings.add(_fold(graph, i).title) for i in closed]
    found["reason"][closed] = -1
    path = graph.item_of[arrays["critical"].astype(np.int64)]
    changed = np.ones(len(path), bool)
    changed[1:] = path[1:] != path[:-1]
    times = {
        i: compare_repeats(fold.blocks, level.median_ns)
        for i, fold in enumerate(graph.folds)
        if fold is not None and fold.kind == "repeat"
    }
    words = [
        -1 if f is None else strings.add(_words(f, times.get(i))) for i, f in enumerate(graph.folds)
    ]
    found |= {
        "critical": path[changed].astype(np.uint32),
        "edge_from": graph.source.astype(np.uint32),
        "edge_to": graph.target.astype(np.uint32),
        "edge_type": _edge_types(level, graph).astype(np.uint8),
        "fold": _fold_ids(view, strings),
        "inside": _open_around(view, strings),
        "fold_words": np.array(words, np.int32),
        **_members(level, graph),
        **_strips(times, len(graph)),
        **_mixes(mixes, len(graph)),
    }
    return found


def _fold(graph: FoldedDag, item: int) -> Fold:
    fold = graph.folds[item]
    assert fold is not None
    return fold


def _gather(
    name: str, values: npt.NDArray[Any], graph: FoldedDag, first: IntArray
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


def _edge_types(level: TimedLevel, graph: FoldedDag) -> IntArray:
    """Return the type of each joined edge: programmatic only where all of them are."""
    group = graph.groups_of(level.edge_from, level.edge_to)
    found = np.full(len(graph.source), np.iinfo(np.int64).max)
    np.minimum.at(found, group[group >= 0], level.edge_type[group >= 0])
    return found


def _fold_ids(view: Folded, strings: Strings) -> npt.NDArray[np.int32]:
    folds = view.graph.folds
    return np.array([-1 if f is None else strings.add(view.name_of(f)) for f in folds], np.int32)


def _open_around(view: Folded, strings: Strings) -> npt.NDArray[np.int32]:
    """Return the innermost open fold around each item, by string."""
    around = np.full(view.tree.node_count, -1, np.int32)
    for fold_id, nodes in view.tree.opened(view.unfolded):  # outer ones come before inner ones
        around[nodes] = strings.add(view.prefix + fold_id)
    closed = {f.id for f in view.graph.folds if f is not None}
    assert not closed & view.unfolded
    return around[view.first] if len(view.graph) else around[:0]


def _members(level: TimedLevel, graph: FoldedDag) -> Arrays:
    order = np.argsort(graph.item_of, kind="stable")
    sizes = np.bincount(graph.item_of, minlength=len(graph))
    return {
        "item_offset": np.concatenate(([0], np.cumsum(sizes))).astype(np.uint32),
        "item_nodes": level.key[order].astype(np.uint32),
    }


def _strips(times: Mapping[int, RepeatDurations], count: int) -> Arrays:
    """Return the durations of the blocks of each item; of what is no repeat none."""
    none = np.zeros(0)
    strips = [times[i].total_ns if i in times else none for i in range(count)]
    return {
        "strip_offset": np.cumsum([0, *map(len, strips)]).astype(np.uint32),
        "strip_ns": np.concatenate([none, *strips]).astype(np.float32),
    }


def _mix(
    nodes: IntArray, family: npt.NDArray[np.int32], median_ns: FloatArray
) -> list[tuple[int, float]]:
    """Return the families of a fold's nodes with their parts of its time, the largest first.

    Where none is timed each node counts alike.
    """
    weight = np.nan_to_num(median_ns[nodes])
    if not weight.any():
        weight = np.ones(len(nodes))
    found, which = np.unique(family[nodes], return_inverse=True)
    parts = np.bincount(which.reshape(-1), weight) / weight.sum()
    order = np.argsort(-parts, kind="stable")
    return list(zip(found[order].tolist(), parts[order].tolist(), strict=True))


def _mixes(mixes: Mapping[int, Sequence[tuple[int, float]]], count: int) -> Arrays:
    sizes = [len(mixes.get(i, ())) for i in range(count)]
    pairs = [pair for i in range(count) for pair in mixes.get(i, ())]
    return {
        "mix_offset": np.cumsum([0, *sizes]).astype(np.uint32),
        "mix_family": np.array([family for family, _ in pairs], np.int32),
        "mix_part": np.array([part for _, part in pairs], np.float32),
    }


def _words(fold: Fold, times: RepeatDurations | None) -> str:
    """Return what a fold is, for the tooltip; ``times``: of a repeat."""
    count = f"{len(fold.nodes):,} nodes"
    if times is None:
        return count
    words = f"{fold.repeats} × {fold.period:,} nodes" if fold.period > 1 else count
    if times.slowest is None:
        return words
    return f"{words}; slowest is number {times.slowest + 1}"


def items_shape(
    view: Folded, ran: LaunchIntervals | None, parent: tuple[int, int] | None
) -> LevelItems:
    """Return the shape of what is visible of a level, ``ran`` and ``parent`` those of its nodes."""
    graph = view.graph
    cover = cover_graph(len(graph), graph.source, graph.target)
    intervals = None if ran is None else ran.joined(graph.item_of, graph.node < 0)
    return LevelItems(
        len(graph), graph.source, graph.target, cover.row, cover.chain, intervals, parent
    )
