"""Folding in the DAG: the tree of folds of a level, and its arrays an item instead of a node."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gviz.app.views.dag.dag_places import LevelItems
from gviz.app.views.dag.fold_sums import fold_values
from gviz.app.views.dag.intervals import LaunchIntervals
from gviz.app.views.model_parts import read_model_parts
from gviz.app.views.wire import Arrays, Strings, offsets
from gviz.cuda import NodeType
from gviz.dag import cover_graph
from gviz.dataclass import dataclass
from gviz.families import Kind, family_of, kernel_label
from gviz.layout import (
    Fold,
    FoldedDag,
    FoldTree,
    NumberedLayers,
    RangePaths,
    find_ranges,
    find_repeats,
    fold_graph,
    name_folds,
    section_breaks,
)
from gviz.model import SEPARATOR, SHAPE, GraphTree, Keep, TimedLevel, distinct, short_range
from gviz.stats import IntArray

if TYPE_CHECKING:
    from gviz.analysis import ModelLayers
    from gviz.recording import Recording


#: Kinds of work that stand together where several follow each other in a long block: a product with
#: its split-K reductions, what normalizes, and what is small.
_TOGETHER = (
    (Kind.GEMM, Kind.GEMV, Kind.SPLIT_K_REDUCTION),
    (Kind.NORM,),
    (Kind.ELEMENTWISE, Kind.REDUCTION, Kind.INDEX, Kind.COPY, Kind.CAST, Kind.TRANSPOSE, Kind.FILL,
     Kind.RANDOM),
)  # fmt: skip
_CHAIN_OF = {kind: number for number, kinds in enumerate(_TOGETHER) for kind in kinds}
_SMALL = _CHAIN_OF[Kind.COPY]
_SMALL_TYPES = (NodeType.MEMCPY, NodeType.MEMSET, NodeType.EMPTY)


def kept_folds(recording: Recording, level: TimedLevel, folding: str, keep: Keep) -> FoldTree:
    """Return the folds of a level (:func:`fold_level`), which all that is made of it share."""

    def fold() -> FoldTree:
        if folding != "modules":
            return fold_level(level, folding)
        modules = read_model_parts(recording, level.tree, keep).modules
        paths = () if modules is None else modules.paths
        # The last: of nodes in no module.
        code = np.full(len(level.nodes), -1) if modules is None else modules.code[level.part]
        return _fold_paths(level, RangePaths.from_texts([*paths, ()][at] for at in code.tolist()))

    return keep(("folds", level.tree.graph.graph_id, level.at, folding), fold)


def fold_level(level: TimedLevel, folding: str) -> FoldTree:
    """Return the folds of a level, of its repeats or of its ranges.

    ``folding`` is one of :data:`gviz.app.components.dag_options.FOLDINGS`. Nodes are equal when
    type, name, launch shape and size are, and the topologies of what they hold.
    """
    order = np.lexsort((np.arange(len(level.nodes)), level.row))
    if folding == "ranges":
        return _fold_paths(level, _range_paths(level))
    names = level.nodes.texts("name")
    work = [names.codes.astype(np.int64), level.nodes.integers("type"), _contents(level)]
    work += [level.nodes.integers(name, -1) for name in SHAPE]
    _, labels = distinct(work)
    shown = [kernel_label(name) for name in names.values]
    texts = [shown[code] for code in names.codes.tolist()]
    return find_repeats(level.edge_from, level.edge_to, order, labels, texts, _kinds_of_work(level))


def _kinds_of_work(level: TimedLevel) -> IntArray:
    """Return which of the kinds that stand together each node is of (int64); -1: it is alone."""
    names, types = level.nodes.texts("name"), level.nodes.integers("type")
    kind = np.array([_CHAIN_OF.get(family_of(name).kind, -1) for name in names.values], np.int64)
    found = np.where(types == NodeType.KERNEL, kind[names.codes], -1)
    found[np.isin(types, _SMALL_TYPES)] = _SMALL
    return found


def _fold_paths(level: TimedLevel, paths: RangePaths) -> FoldTree:
    # As created: ranges are contiguous there.
    created = np.arange(len(level.nodes), dtype=np.int64)
    return find_ranges(level.edge_from, level.edge_to, created, paths)


def _range_paths(level: TimedLevel) -> RangePaths:
    ranges = {
        key: tuple(map(short_range, text.split(SEPARATOR))) for key, text in level.tree.nvtx.items()
    }
    of_node = level.nodes.integers("nvtx_path_id", -1).tolist()
    return RangePaths.from_texts(ranges.get(path, ()) for path in of_node)


def kept_names(
    recording: Recording, level: TimedLevel, folding: str, keep: Keep
) -> Mapping[str, str]:
    """Return the names of a level's folds by their ids (:func:`gviz.layout.name_folds`)."""

    def name() -> Mapping[str, str]:
        tree = kept_folds(recording, level, folding, keep)
        found = read_model_parts(recording, level.tree, keep).layers
        return name_folds(tree, _numbered(found, level), _range_paths(level))

    return keep(("fold names", level.tree.graph.graph_id, level.at, folding), name)


def _numbered(layers: ModelLayers | None, level: TimedLevel) -> NumberedLayers | None:
    if layers is None:
        return None
    place = layers.of_node[level.part]
    return NumberedLayers(
        layers.kind,
        np.where(place < 0, -1, layers.numbers[place]),
        layers.is_inferred[level.part],
        layers.source == "repeats",
    )


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
    names
        Of folds, by their ids; others keep their titles.
    prefix
        Before the ids of its folds: equal bodies have folds of equal ids.
    """

    tree: FoldTree
    graph: FoldedDag
    unfolded: frozenset[str]
    names: Mapping[str, str]
    prefix: str = ""

    def name_of(self, fold: Fold) -> str:
        """Return the id of a fold on the page."""
        return self.prefix + fold.id

    def called(self, fold: Fold) -> str:
        """Return what a fold is called."""
        return self.names.get(fold.id, fold.title)

    @property
    def first(self) -> IntArray:
        """Return a node of each item: itself, or the first that a fold holds (int64)."""
        folds = self.graph.folds
        firsts = [-1 if f is None else int(f.nodes[0]) for f in folds]
        return np.where(self.graph.node >= 0, self.graph.node, np.array(firsts, np.int64))


def folded(
    tree: FoldTree, unfolded: Collection[str], names: Mapping[str, str], prefix: str = ""
) -> Folded:
    """Return what is visible of a tree; ``unfolded`` are ids as :meth:`Folded.name_of` has them."""
    mine = frozenset(i.removeprefix(prefix) for i in unfolded if i.startswith(prefix))
    return Folded(tree, fold_graph(tree, mine), mine, names, prefix)


def fold_arrays(arrays: Arrays, level: TimedLevel, view: Folded, strings: Strings) -> Arrays:
    """Return the DAG's arrays with one value an item.

    Beside those of nodes: item_offset, item_nodes (node ids an item holds, block after block of a
    repeat), fold (string: id of
    the fold that the item is, -1: a node), inside (string: id of the innermost open fold around
    it, -1), open_name (string: what that is called, -1), open_of (string: the name of the repeat of
    which that is the first block, alone open, -1), and what folds have of their own
    (:func:`gviz.app.views.dag.fold_sums.fold_values`).
    """
    graph = view.graph
    is_fold = graph.node < 0
    closed = [fold for fold in graph.folds if fold is not None]
    of_folds = fold_values(arrays, level, closed, view.names, strings)
    found: Arrays = {}
    for name, values in arrays.items():
        if not name.startswith(("edge_", "critical")):
            found[name] = values[view.first].copy()
            found[name][is_fold] = of_folds[name]
    words = np.full(len(graph), -1, np.int32)
    words[is_fold] = of_folds["fold_words"]
    path = graph.item_of[arrays["critical"].astype(np.int64)]
    changed = np.ones(len(path), bool)
    changed[1:] = path[1:] != path[:-1]
    open_name, open_of = _open_names(view, strings)
    found |= {
        "critical": path[changed].astype(np.uint32),
        "edge_from": graph.source.astype(np.uint32),
        "edge_to": graph.target.astype(np.uint32),
        "edge_type": _edge_types(level, graph).astype(np.uint8),
        "fold": _fold_ids(view, strings),
        "inside": _open_around(view, strings),
        "open_name": open_name,
        "open_of": open_of,
        "fold_words": words,
        **_members(level, view),
        "strip_offset": _cut(is_fold, of_folds["strip_offset"]),
        "mix_offset": _cut(is_fold, of_folds["mix_offset"]),
    }
    return found | {name: of_folds[name] for name in ("strip_ns", "mix_family", "mix_part")}


def _cut(is_fold: npt.NDArray[np.bool_], offset: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """Return offsets by item of arrays that folds have and nodes have not."""
    sizes = np.zeros(len(is_fold), np.int64)
    sizes[is_fold] = np.diff(offset)
    return offsets(sizes)


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
    for one in view.tree.opened(view.unfolded):  # outer ones come before inner ones
        around[one.fold.nodes] = strings.add(view.prefix + one.closed_by)
    closed = {f.id for f in view.graph.folds if f is not None}
    assert not closed & view.unfolded
    return around[view.first] if len(view.graph) else around[:0]


def _open_names(
    view: Folded, strings: Strings
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return the name of the innermost open fold around each item, and that of the repeat of which
    it is the first block, by string.
    """
    name, of = (np.full(view.tree.node_count, -1, np.int32) for _ in range(2))
    for one in view.tree.opened(view.unfolded):
        name[one.fold.nodes] = strings.add(view.called(one.fold))
        of[one.fold.nodes] = -1 if one.whole is None else strings.add(view.called(one.whole))
    return name[view.first], of[view.first]


def _members(level: TimedLevel, view: Folded) -> Arrays:
    """Return the nodes that each item holds, block after block where it is a repeat."""
    graph, lined_up = view.graph, view.tree.order
    order = lined_up[np.argsort(graph.item_of[lined_up], kind="stable")]
    sizes = np.bincount(graph.item_of, minlength=len(graph))
    return {
        "item_offset": offsets(sizes),
        "item_nodes": level.key[order].astype(np.uint32),
    }


def in_sections(shape: LevelItems, view: Folded | None, phase: npt.NDArray[np.int32]) -> LevelItems:
    """Return the shape of items whose phases stand side by side; unfolded ones stay as they are.

    ``phase``: of each item; -1: none, or several.
    """
    if view is None:
        return shape
    return replace(shape, breaks=section_breaks(shape.row, phase.astype(np.int64)))


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
