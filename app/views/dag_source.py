"""A DAG with all that is in it, out of which a browser makes what is visible and lays it out.

assets/web/layout makes of it what :func:`gviz.app.views.payload.dag_payload` makes for a request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gviz.app.components import FOLDINGS
from gviz.app.views.dag import (
    LARGE_NOTE,
    UNTIMED_NOTE,
    LaunchIntervals,
    OpenLevel,
    ParentNode,
    all_overlays,
    fold_values,
    kept_folds,
    kept_names,
    launch_intervals,
    name_arrays,
    parent_arrays,
    use_arrays,
    visible_parents,
)
from gviz.app.views.family_colours import read_family_colours
from gviz.app.views.labels import labels_of
from gviz.app.views.model_parts import read_model_parts
from gviz.app.views.payload import level_arrays, level_header
from gviz.app.views.wire import Arrays, Strings, join_offsets, pack
from gviz.formats import LOG_RATIO
from gviz.layout import Fold, FoldTree
from gviz.model import (
    Keep,
    LevelMemory,
    TimedLevel,
    TimedTree,
    find_meetings,
    graph_title,
    read_memory,
    read_timed_level,
    read_timed_tree,
)

if TYPE_CHECKING:
    from gviz.recording import Recording

#: Arrays of a level that have no value for each node.
_NOT_OF_NODES = ("edge_from", "edge_to", "edge_type", "critical")


def whole_dag(
    recording: Recording,
    graph_id: int,
    launches: Mapping[int, int],
    keep: Keep,
) -> bytes:
    """Return the DAG of a graph level with all bodies and folds in it, as
    :mod:`gviz.app.views.wire` has it.

    Arrays of nodes and edges are those of :func:`gviz.app.views.payload.dag_payload` of all
    levels, one after the other; ``levels`` in the header says which part is whose. Node indices in
    edge_from, edge_to and critical are a level's own. Beside them: row, chain (u4, one a node); of
    each folding, with its name in front, order (u4, one a node: the tree's), and one value a fold
    start, size (u4: its place in that order), parent, rest_of (i4: the fold it is in, the repeat of
    which it is what follows the first block; -1: none), id (string) and
    :func:`gviz.app.views.dag.fold_sums.fold_values`; of each launch, with ``ran`` and its number
    in front, start, end, busy (f8, one a node, ns), node, begin, stop (of iterations); of memory
    the arrays of :class:`gviz.model.memory.edge_data.Meetings` and
    :func:`gviz.app.views.dag.data_overlay.use_arrays` and name_arrays; parent_node and body_level
    (u4) instead of parent_item and body_open.

    Parameters
    ----------
    recording, graph_id
        Where from, and which level.
    launches
        The ordinals of the launches whose times are wanted, by their ids.
    keep
        Remembers what was read.

    Raises
    ------
    RecordingError
        If there is no such graph or launch, or its edges form a cycle.
    """
    tree = read_timed_tree(recording, graph_id, keep)
    levels = [read_timed_level(recording, tree, at, keep) for at in range(len(tree.levels))]
    strings = Strings()
    families = read_family_colours(recording, tree, keep)
    model = read_model_parts(recording, tree, keep)
    parts = [level_arrays(level, families, model, strings) for level in levels]
    about: list[dict[str, Any]] = [_about(level) for level in levels]
    arrays: Arrays = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    for name, cut in (("edge_from", "edges"), ("critical", "critical")):
        _note_parts(about, cut, [len(part[name]) for part in parts])
    arrays["row"] = np.concatenate([level.row for level in levels]).astype(np.uint32)
    arrays["chain"] = np.concatenate([level.chain for level in levels]).astype(np.uint32)
    for folding in FOLDINGS:
        trees = [kept_folds(recording, level, folding, keep) for level in levels]
        titles = [kept_names(recording, level, folding, keep) for level in levels]
        found = _folding_arrays(levels, parts, folding, trees, titles, strings, about)
        arrays |= {f"{folding}_{name}": values for name, values in found.items()}
    arrays |= _memory_arrays([(x, _memory_of(recording, x, keep)) for x in levels], about, strings)
    for at, launch_id in enumerate(launches):
        ran = launch_intervals(recording, tree, launch_id, keep)
        arrays |= {f"ran{at}_{name}": values for name, values in _ran_arrays(ran).items()}
    arrays |= _parent_arrays(tree, levels, strings)
    texts = strings.to_list()
    header = {
        **layout_header(),
        "shown": level_header(levels[0], graph_title(recording, tree.graph, keep)),
        "levels": about,
        "launches": list(launches.items()),
        "node_arrays": [name for name in parts[0] if name not in _NOT_OF_NODES],
        "family_slots": {texts.index(label): slot for label, slot in families.slot_of.items()},
        "labels": labels_of(texts, [arrays["name"]]),
        "strings": texts,
    }
    return pack(header, arrays)


def _memory_of(recording: Recording, level: TimedLevel, keep: Keep) -> LevelMemory:
    key = "memory", level.tree.graph.graph_id, level.at
    return keep(key, lambda: read_memory(recording, level))


def layout_header() -> dict[str, Any]:
    """Return what places and overlays are made of, whatever the graph."""
    return {
        "notes": {"untimed": UNTIMED_NOTE, "large": LARGE_NOTE},
        "overlays": all_overlays(),
        "log_ratio": LOG_RATIO,
    }


def _about(level: TimedLevel) -> dict[str, Any]:
    inner, nested = level.tree.levels[level.at], level.nested
    iterations = None
    if inner.parent >= 0 and level.at:
        known = nested.iterations_within(level.at, int(level.tree.level[inner.parent]))
        iterations = None if np.isnan(known) else known
    return {
        "first": inner.first,
        "end": inner.end,
        "parent": inner.parent if level.at else -1,
        "iterations": iterations,
        "folds": {},
        "memory": {},
    }


def _note_parts(about: Sequence[dict[str, Any]], name: str, sizes: Sequence[int]) -> None:
    """Note which part of an array each level has."""
    ends = np.cumsum(sizes).tolist()
    for level, size, end in zip(about, sizes, ends, strict=True):
        level[name] = [end - size, end]


def _folding_arrays(
    levels: Sequence[TimedLevel],
    parts: Sequence[Arrays],
    folding: str,
    trees: Sequence[FoldTree],
    names: Sequence[Mapping[str, str]],
    strings: Strings,
    about: Sequence[dict[str, Any]],
) -> Arrays:
    """Return the folds of all levels with what they show."""
    folds = [list(tree.every()) for tree in trees]
    found = []
    for level, part, tree, own, titles in zip(levels, parts, trees, folds, names, strict=True):
        values = fold_values(part, level, own, titles, strings)
        found.append(_tree_arrays(tree, own, strings) | values)
    _note_parts([level["folds"] for level in about], folding, [len(own) for own in folds])
    joined: Arrays = {n: np.concatenate([part[n] for part in found]) for n in found[0]}
    for offset in ("strip_offset", "mix_offset"):
        joined[offset] = join_offsets([part[offset] for part in found])
    return joined


def _tree_arrays(tree: FoldTree, folds: Sequence[Fold], strings: Strings) -> Arrays:
    number = {id(fold): at for at, fold in enumerate(folds)}
    place = np.empty(tree.node_count, np.int64)
    place[tree.order] = np.arange(tree.node_count)
    parent, rest_of = (np.full(len(folds), -1, np.int32) for _ in range(2))
    for fold in tree.walk():
        for child in fold.children:
            parent[number[id(child)]] = number[id(fold)]
    split = [number[id(fold)] for fold in tree.folds if fold.can_split]
    # What is left of repeats comes last, in the order of these.
    rest_of[len(folds) - len(split) :] = split
    return {
        "order": tree.order.astype(np.uint32),
        "start": np.array([place[fold.nodes[0]] for fold in folds], np.uint32),
        "size": np.array([len(fold.nodes) for fold in folds], np.uint32),
        "parent": parent,
        "rest_of": rest_of,
        "id": np.array([strings.add(fold.id) for fold in folds], np.uint32),
    }


def _memory_arrays(
    levels: Sequence[tuple[TimedLevel, LevelMemory]],
    about: Sequence[dict[str, Any]],
    strings: Strings,
) -> Arrays:
    """Return where edges meet in memory, and the uses of it."""
    found: list[Arrays] = []
    for level, memory in levels:
        met = find_meetings(memory.uses, level.edge_from, level.edge_to)
        found.append(
            {
                "meeting_edge": met.edge.astype(np.uint32),
                "meeting_place": met.place.astype(np.uint32),
                "meeting_common": met.common,
                "meeting_source": met.source_access,
                "meeting_target": met.target_access,
                "meeting_mover": met.mover.astype(np.int32),
                "meeting_bytes": met.bytes.astype(np.float64),
                "edge_allocation": met.allocation.astype(np.int32),
                **use_arrays(memory, level.key),
                **name_arrays(memory, strings),
            }
        )
    cuts = {
        "meetings": "meeting_edge",
        "uses": "use_node",
        "places": "place_low",
        "allocations": "allocation_low",
    }
    for name, array in cuts.items():
        _note_parts(
            [level["memory"] for level in about], name, [len(part[array]) for part in found]
        )
    return {name: np.concatenate([part[name] for part in found]) for name in found[0]}


def _ran_arrays(ran: LaunchIntervals) -> Arrays:
    return {
        "start": ran.start_ns,
        "end": ran.end_ns,
        "busy": ran.busy_ns,
        "node": ran.iterations.node.astype(np.uint32),
        "begin": ran.iterations.start_ns,
        "stop": ran.iterations.end_ns,
    }


def _parent_arrays(tree: TimedTree, levels: Sequence[TimedLevel], strings: Strings) -> Arrays:
    everything = [OpenLevel(level, None, level.first, None) for level in levels]
    parents = list(visible_parents(everything))
    inside = [at for parent in parents for at in tree.bodies(parent.node)]
    return whole_parents(parents, inside, strings)


def whole_parents(parents: Sequence[ParentNode], inside: Sequence[int], strings: Strings) -> Arrays:
    """Return the DAG's text on all parent nodes (:func:`gviz.app.views.dag.parent_arrays`).

    parent_node (u4, among the nodes of all levels) stands for parent_item, body_level (u4) for
    body_open: ``inside`` are the levels of the bodies, in their order.
    """
    found = parent_arrays(parents, strings)
    del found["body_open"]
    return found | {
        "parent_node": found.pop("parent_item"),
        "body_level": np.array(inside, np.uint32),
    }
