"""A level of both graphs as one DAG: the nodes after, and those before that are gone."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gviz.app.baseline_overlay import VERDICTS, baseline_arrays
from gviz.app.compare.comparison import Comparison
from gviz.app.dag_places import Shape, place_arrays
from gviz.app.graph_level import GraphLevel, read_level
from gviz.app.overlays import describe_overlays, overlay_arrays, value_scale
from gviz.app.payload import node_arrays
from gviz.app.wire import Arrays, Strings, pack
from gviz.comparison.comparison import GraphComparison
from gviz.comparison.union_graph import BEFORE, UnionGraph, join_graphs
from gviz.layout.lanes import cover_graph
from gviz.node_type import node_type_name
from gviz.recording.reader import Recording

#: Layouts of the union: along time there are two launches.
LAYOUTS = ("structure", "lanes")
_NO_VALUE = (np.uint8(0), np.uint32(0), np.int32(-1), np.float32(np.nan))


def union_dag(
    found: Comparison,
    recordings: tuple[Recording, Recording],
    names: tuple[str, str],
    at: int,
    layout: str | None,
) -> bytes:
    """Return the payload of a level of both graphs.

    Arrays are those of :func:`gviz.app.payload.dag_payload` against a baseline, nodes by their
    numbers on the Compare page, and edge_origin (u1, one an edge: of both, before, after, as in
    :mod:`gviz.comparison.union_graph`). Layouts are those of one graph: edges that run back
    (:attr:`gviz.comparison.union_graph.UnionGraph.runs_back`) are laid out the other way round.

    Parameters
    ----------
    recordings, names
        Before and after.
    at
        Which of the comparison's levels.
    layout
        One of :data:`LAYOUTS`; None: what suits the graph.
    """
    comparison = found.level(at)
    union = _join(comparison)
    levels = [_level(found, recordings[side], side, at) for side in (0, 1)]
    strings = Strings()
    arrays = _node_arrays(found, at, levels, union, comparison, strings)
    source, target = union.forward()
    cover = cover_graph(len(union), source, target)
    shape = Shape(len(union), source, target, cover.row, cover.chain, None)
    places, placed = place_arrays([shape], layout)
    arrays |= _turned(placed, union.runs_back) | {
        "edge_from": union.source.astype(np.uint32),
        "edge_to": union.target.astype(np.uint32),
        "edge_type": union.edge_type.astype(np.uint8),
        "edge_origin": union.edge_origin,
        "lane": cover.chain.astype(np.uint32),
        "critical": np.zeros(0, np.uint32),
        "critical_edge": np.zeros(0, np.uint32),
    }
    header = _header(found, names, comparison, arrays)
    return pack({**header, "strings": strings.to_list(), **places}, arrays)


def _header(
    found: Comparison, names: tuple[str, str], comparison: GraphComparison, arrays: Arrays
) -> dict[str, Any]:
    scale = value_scale(arrays["median_ns"].astype(np.float64))
    times = found.trees[1].times
    return {
        "kind": "dag",
        "graph_id": found.trees[1].graph.graph_id,
        "graph_name": f"{names[0]} and {names[1]}",
        "kinds": {t: node_type_name(t) for t in np.unique(arrays["type"]).tolist()},
        "edges_known": comparison.first.edges_known and comparison.second.edges_known,
        "launch_count": times.launch_count,
        "kept_count": times.kept_count,
        "launch_asked": False,
        "folding": None,
        "baseline": {
            "name": "A",
            "verdicts": VERDICTS,
            "added": len(comparison.added),
            "gone": len(comparison.removed),
            "untested": comparison.times.untested,
            "union": True,
        },
        "scale": {"least_ns": scale["least"], "most_ns": scale["most"], "log": scale["log"]},
        "folded": 0,
        "fold_count": 0,
        "launch_ordinal": None,
        "overlays": describe_overlays(arrays),
    }


def _join(comparison: GraphComparison) -> UnionGraph:
    partner = np.full(len(comparison.first), -1, np.int64)
    partner[comparison.pairs[:, 0]] = comparison.pairs[:, 1]
    return join_graphs(comparison.first, comparison.second, partner, comparison.edges)


def _level(found: Comparison, recording: Recording, side: int, at: int) -> GraphLevel:
    tree, graph_id = found.trees[side], found.pair.levels[at].graph_ids[side]
    place = next(n for n, x in enumerate(tree.levels) if x.graph.graph_id == graph_id)
    return read_level(recording, tree, place)


def _node_arrays(
    found: Comparison,
    at: int,
    levels: list[GraphLevel],
    union: UnionGraph,
    comparison: GraphComparison,
    strings: Strings,
) -> Arrays:
    """Return one value a node: of those after as they are there, then of those gone."""
    gone = union.before[union.origin == BEFORE]
    before = _side_arrays(levels[0], found.keys.before, strings)
    after = _side_arrays(levels[1], found.keys.after, strings)
    nodes = {name: np.concatenate((after[name], before[name][gone])) for name in after}
    changes = baseline_arrays(comparison, len(comparison.second), strings)
    for name, values in changes.items():
        nodes[name] = np.concatenate((values, _filled(values, len(gone))))
    lone = np.arange(len(comparison.second), len(union))
    nodes["verdict"][lone] = VERDICTS.index("removed")
    nodes["baseline_ns"][lone] = before["median_ns"][gone]
    return nodes


def _side_arrays(level: GraphLevel, numbers: npt.NDArray[np.int64], strings: Strings) -> Arrays:
    return {
        **node_arrays(level, numbers[level.part], strings),
        **{n: a for n, a in overlay_arrays(level, strings).items() if n not in _OF_ONE_GRAPH},
    }


#: What is true of one graph alone: in a picture of two there is no such path.
_OF_ONE_GRAPH = ("critical", "slack_ns")


def _filled(values: npt.NDArray[Any], count: int) -> npt.NDArray[Any]:
    """Return as many values that say there is none."""
    none = next(x for x in _NO_VALUE if x.dtype == values.dtype)
    return np.full(count, none, values.dtype)


def _turned(placed: Arrays, runs_back: npt.NDArray[np.bool_]) -> Arrays:
    """Return routes from source to target also of edges that were laid out the other way."""
    offset = placed["route_offset"]
    found = dict(placed)
    for name in ("route_x", "route_y"):
        found[name] = placed[name].copy()
        for edge in np.flatnonzero(runs_back).tolist():
            part = slice(int(offset[edge]), int(offset[edge + 1]))
            found[name][part] = placed[name][part][::-1]
    return found
