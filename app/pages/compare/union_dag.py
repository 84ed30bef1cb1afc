"""A level of both graphs as one DAG: the nodes after, and removed ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gviz.app.pages.compare.comparison import Comparison
from gviz.app.pages.compare.open_union import (
    ReadLevel,
    UnionLevel,
    hidden_in_union,
    open_union,
    union_parents,
)
from gviz.app.views import (
    VERDICTS,
    Arrays,
    LevelItems,
    Strings,
    Verdict,
    apart,
    change_arrays,
    describe_overlays,
    frame_arrays,
    labels_of,
    lone_arrays,
    node_arrays,
    overlay_arrays,
    pack,
    painted,
    parent_arrays,
    place_arrays,
    value_scale,
)
from gviz.comparison import BEFORE
from gviz.cuda import node_type_name
from gviz.dag import cover_graph
from gviz.dataclass import dataclass
from gviz.model import TimedLevel, keeper, read_timed_level
from gviz.recording import Recording
from gviz.stats import distinct_values

#: Layouts of the union: along time there are two launches.
LAYOUTS = ("structure", "lanes")
#: Verdicts on what one side alone has: after, before.
ALONE: tuple[Verdict, Verdict] = ("added", "removed")


@dataclass(frozen=True, slots=True)
class UnionRequest:
    """The part of both graphs that is requested.

    Attributes
    ----------
    level
        Which of the comparison's levels.
    layout
        One of :data:`LAYOUTS`; None: what suits the graph.
    opened
        Ids of the nodes whose bodies are open, see
        :func:`gviz.app.views.dag.visible_levels.open_id`.
    """

    level: int = 0
    layout: str | None = None
    opened: frozenset[str] = frozenset()


def union_dag(
    found: Comparison,
    recordings: tuple[Recording, Recording],
    names: tuple[str, str],
    request: UnionRequest,
) -> bytes:
    """Return the payload of a level of both graphs, and of the bodies that are open in it.

    Arrays are those of :func:`gviz.app.views.payload.dag_payload`, nodes by their numbers on the
    page of both graphs, those of :func:`gviz.app.views.change_overlay.change_arrays`, and
    edge_origin (u1, one an edge: of both, before, after, as in
    :mod:`gviz.comparison.union_graph`). Layouts are those of one graph: edges that run back
    (:attr:`gviz.comparison.union_graph.UnionGraph.runs_back`) are laid out the other way round.
    Parent nodes are described as they are after, if they are not gone.

    Parameters
    ----------
    recordings, names
        Before and after.
    """
    levels = open_union(found, request.level, request.opened, level_reader(found, recordings))
    strings = Strings()
    covers = [cover_graph(len(level), *level.union.forward()) for level in levels]
    shapes = [
        LevelItems(len(level), *level.union.forward(), cover.row, cover.chain, None, level.parent)
        for level, cover in zip(levels, covers, strict=True)
    ]
    arrays = joined([node_changes(found, level, strings) for level in levels])
    arrays |= frame_arrays(levels, arrays, strings) | hidden_in_union(found, levels)
    arrays |= parent_arrays(union_parents(found, levels), strings)
    places, placed = place_arrays(shapes, request.layout)
    runs_back = np.concatenate([level.union.runs_back for level in levels])
    arrays |= (
        _turned(placed, runs_back)
        | _edge_arrays(levels)
        | {
            "lane": apart([cover.chain.astype(np.uint32) for cover in covers]),
            "critical": np.zeros(0, np.uint32),
            "critical_edge": np.zeros(0, np.uint32),
        }
    )
    header = _header(found, names, levels, arrays) | both_slots(found, strings)
    shown = strings.to_list()
    labels = labels_of(shown, [arrays["name"]])
    return pack({**header, "strings": shown, "labels": labels, **places}, arrays)


def level_reader(found: Comparison, recordings: tuple[Recording, Recording]) -> ReadLevel:
    """Return what reads levels of both sides; equal ones once."""
    keeps = keeper(), keeper()

    def read(side: int, place: int) -> TimedLevel:
        return read_timed_level(recordings[side], found.trees[side], place, keeps[side])

    return read


def joined(parts: Sequence[Arrays]) -> Arrays:
    """Return arrays of several levels one after the other."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _edge_arrays(levels: Sequence[UnionLevel]) -> Arrays:
    return joined(
        [
            {
                "edge_from": (level.union.source + level.first).astype(np.uint32),
                "edge_to": (level.union.target + level.first).astype(np.uint32),
                "edge_type": level.union.edge_type.astype(np.uint8),
                "edge_origin": level.union.edge_origin,
            }
            for level in levels
        ]
    )


def _header(
    found: Comparison, names: tuple[str, str], levels: Sequence[UnionLevel], arrays: Arrays
) -> dict[str, Any]:
    drawn = painted(arrays, levels)
    scale = value_scale(drawn["median_ns"].astype(np.float64))
    about = requested_header(levels[0])
    added, gone = (int((arrays["verdict"] == VERDICTS.index(v)).sum()) for v in ALONE)
    return {
        **both_header(found, names),
        **about,
        "edges_known": all(map(edges_known, levels)),
        "launch_requested": False,
        "folding": None,
        "change": {**about["change"], "added": added, "gone": gone},
        "scale": {"least_ns": scale["least"], "most_ns": scale["most"], "log": scale["log"]},
        "folded": 0,
        "fold_count": 0,
        "launch_ordinal": None,
        "overlays": describe_overlays(drawn),
    }


def both_header(found: Comparison, names: tuple[str, str]) -> dict[str, Any]:
    """Return what the header says of both graphs, whatever of them is drawn."""
    types = distinct_values(np.concatenate([tree.nodes.integers("type") for tree in found.trees]))
    return {
        "kind": "dag",
        "graph_name": f"{names[0]} and {names[1]}",
        "kinds": {t: node_type_name(t) for t in types.tolist()},
    }


def both_slots(found: Comparison, strings: Strings) -> dict[str, Any]:
    """Return the places of the colours of the families of both graphs."""
    before, after = (side.header(strings) for side in found.families)
    return {"family_slots": before | after}


def requested_header(level: UnionLevel) -> dict[str, Any]:
    """Return what the header says of the level requested, whatever is open in it."""
    tree, compared = level.level.tree, level.comparison
    untested = "" if compared is None else compared.times.untested
    return {
        "graph_id": tree.graph.graph_id,
        "launch_count": tree.times.launch_count,
        "kept_count": level.level.nested.kept_count,
        "change": {"verdicts": VERDICTS, "untested": untested},
    }


def edges_known(level: UnionLevel) -> bool:
    """Return whether the edges of each version of a level are recorded."""
    return all(side is None or side.graph.topology_id is not None for side in level.sides)


def node_changes(found: Comparison, level: UnionLevel, strings: Strings) -> Arrays:
    """Return one value a node: of those after as they are there, then of those gone."""
    union, comparison = level.union, level.comparison
    if comparison is None:
        return _lone_arrays(found, level, strings)
    gone = union.before[union.origin == BEFORE]
    before, after = (_side_arrays(found, level, side, strings) for side in (0, 1))
    after |= change_arrays(comparison, strings)
    removed = {name: before[name][gone] for name in before}
    removed |= lone_arrays(removed["median_ns"], "removed")
    return joined([after, removed])


def _lone_arrays(found: Comparison, level: UnionLevel, strings: Strings) -> Arrays:
    """Return the same of a level that one side only has."""
    side = found.page.levels[level.at].side
    nodes = _side_arrays(found, level, side, strings)
    return nodes | lone_arrays(nodes["median_ns"], ALONE[0 if side else 1])


def _side_arrays(found: Comparison, level: UnionLevel, side: int, strings: Strings) -> Arrays:
    shown = level.sides[side]
    assert shown is not None
    return {
        **node_arrays(shown, found.keys.of_side(side)[shown.part], strings),
        **{n: a for n, a in overlay_arrays(shown, strings).items() if n not in _OF_ONE_GRAPH},
        "family": found.families[side].names(shown.part, strings),
    }


#: What is true of one graph alone: in a picture of two there is no such path.
_OF_ONE_GRAPH = ("critical", "slack_ns")


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
