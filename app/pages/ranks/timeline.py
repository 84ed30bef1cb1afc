"""One launch of every rank on one time axis."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from gviz.app.views import (
    Arrays,
    SideArrays,
    ViewWindow,
    graph_side,
    graph_zero,
    nested_arrays,
    pack_sides,
    read_arrays,
    read_family_colours,
    shared_colours,
    value_scale,
)
from gviz.comparison import RankComparison, RankGraph, RankLevel, collective_waits
from gviz.cuda import node_type_name
from gviz.model import GraphLevel, GraphTree, Keep, TimedTree, read_level, read_timed_tree
from gviz.recording import Recording
from gviz.report import rank_name
from gviz.stats import FloatArray, IntArray, distinct_values


def ranks_timeline(
    recording: Recording,
    found: RankComparison,
    graph: RankGraph,
    launch: int,
    window: ViewWindow | None,
    keep: Keep,
) -> bytes:
    """Return the payload of a timeline whose sides are the ranks.

    Sides are called ``rank0`` and so on, in order of the ranks that have the graph. On one clock
    all count from the first host call (or what stands for it) of any rank; else their first nodes
    are put below each other. Arrays are those of :func:`gviz.app.views.payload.timeline_payload`,
    and for each wait in a collective ``_wait_start_ns``, ``_wait_end_ns`` (f8), ``_wait_node_id``
    and ``_wait_for``, the place of the side that came last (u4). A node has the number that it has
    on the page of the first rank's graph.

    Parameters
    ----------
    graph
        One of ``found.graphs``.
    launch
        Which of its launches (index).
    window
        The part that is wanted where there is too much.
    """
    trees = [read_timed_tree(recording, side.graph_id, keep) for side in graph.sides]
    levels = [read_level(recording, tree, keep=keep) for tree in trees]
    numbers = _numbers(graph, trees)
    families = [read_family_colours(recording, tree, keep) for tree in trees]
    slots = [one.slots() for one in shared_colours(families)]
    ids = graph.launch_id[:, launch].tolist()
    shifts = _shifts(recording, ids, found.skew.clock.is_one)
    sides: dict[str, SideArrays] = {}
    for at, (level, launch_id) in enumerate(zip(levels, ids, strict=True)):
        read = keep(("rank side", level.graph.graph_id, launch_id),
                    partial(_read_side, recording, level, launch_id, slots[at]))  # fmt: skip
        side = _placed(read, f"rank{at}", level.tree, numbers[at], shifts[at])
        side = side._replace(header={**(side.header or {}), "zero": _zero(found)})
        sides[side.name] = side.after(sum(len(s.strings) for s in sides.values()))
    nested = nested_arrays(
        *((one.tree.parent, own) for one, own in zip(levels, numbers, strict=True))
    )
    return pack_sides(
        _header(found, graph, trees, sides, int(graph.ordinal[launch])),
        sides,
        window or ViewWindow(),
        _waits(graph, launch, sides, levels[0].tree) | nested,
    )


def _zero(found: RankComparison) -> str:
    return "first rank" if found.skew.clock.is_one else "own first node"


def _read_side(
    recording: Recording, level: GraphLevel, launch_id: int, slots: npt.NDArray[np.uint8]
) -> SideArrays:
    return read_arrays("graph", lambda s: graph_side(recording, level, launch_id, s, slots))


def _shifts(recording: Recording, launch_ids: Sequence[int], is_one_clock: bool) -> list[float]:
    """Return how far right each launch's own zero stands (ns)."""
    launches = [recording.fetch_launch(number) for number in launch_ids]
    zeros = [graph_zero(recording, launch).zero_ns for launch in launches]
    if not is_one_clock:
        # First nodes below each other: a later zero for those whose call is nearer to it.
        zeros = [zero - (x.gpu_start_ns or 0) for zero, x in zip(zeros, launches, strict=True)]
    return [float(zero - min(zeros)) for zero in zeros]


def _placed(
    read: SideArrays, name: str, tree: GraphTree, numbers: IntArray, shift: float
) -> SideArrays:
    """Return a launch as a side of the page, moved right."""
    arrays: Arrays = {name + n.removeprefix("graph"): a for n, a in read.arrays.items()}
    for key in arrays:
        if key.endswith(("_start_ns", "_end_ns")):
            arrays[key] = arrays[key] + shift
    keys = arrays[f"{name}_node_id"]
    arrays[f"{name}_node_id"] = numbers[np.searchsorted(tree.key, keys)].astype(np.uint32)
    if shift > 0:
        # Nothing of it runs before its own zero.
        for end, value in (("start", 0.0), ("end", shift)):
            gaps = arrays[f"{name}_gap_{end}_ns"]
            arrays[f"{name}_gap_{end}_ns"] = np.concatenate([[value], gaps])
    header = read.header and {**read.header, "total_ns": read.header["total_ns"] + shift}
    return read._replace(name=name, header=header, arrays=arrays)


def _numbers(graph: RankGraph, trees: Sequence[GraphTree]) -> list[IntArray]:
    """Return the numbers of each tree's nodes on the page; partners share that of the first."""
    first = trees[0].key.astype(np.int64)
    found = [first]
    free = int(first.max(initial=-1)) + 1
    begins = [{level.graph.graph_id: level.first for level in tree.levels} for tree in trees]
    for at, tree in enumerate(trees[1:], start=1):
        numbers = np.full(len(tree.key), -1, np.int64)
        for level in graph.levels:
            here, there = (level.pairs.graph_ids[side] for side in (0, at))
            if here is None or there is None:
                continue
            partner = level.pairs.partners[at]
            paired = np.flatnonzero(partner >= 0)
            own = first[begins[0][here] + paired]
            numbers[begins[at][there] + partner[paired]] = own
        lone = np.flatnonzero(numbers < 0)
        numbers[lone] = free + np.arange(len(lone))
        free += len(lone)
        found.append(numbers)
    return found


def _waits(graph: RankGraph, launch: int, sides: dict[str, SideArrays], tree: GraphTree) -> Arrays:
    """Return the waits in collectives: from the start of each, as long as it waits.

    ``tree`` is that of the first side, whose nodes' numbers are those of the page.
    """
    begins = {level.graph.graph_id: level.first for level in tree.levels}
    levels = [(begins[x.pairs.graph_ids[0] or 0], x, collective_waits(x, launch))
              for x in graph.levels]  # fmt: skip
    arrays: Arrays = {}
    for at, (name, side) in enumerate(sides.items()):
        parts = [_side_waits(at, level, waits, tree.key[first:]) for first, level, waits in levels]
        ids, iterations, lengths, awaited = (
            np.concatenate(column) for column in zip(*parts, strict=True)
        )
        start = _starts(side.arrays, name, ids, iterations)
        arrays |= {
            f"{name}_wait_start_ns": start,
            f"{name}_wait_end_ns": start + lengths,
            f"{name}_wait_node_id": ids.astype(np.uint32),
            f"{name}_wait_for": awaited.astype(np.uint32),
        }
    return arrays


def _side_waits(
    side: int, level: RankLevel, waits: FloatArray, keys: IntArray
) -> tuple[IntArray, IntArray, FloatArray, IntArray]:
    """Return a side's waits in a level: nodes' numbers, iterations, durations, the last side."""
    execution, node = np.nonzero(waits[side] > 0)
    mine = waits[:, execution, node]
    # The executions of a launch are its iterations, from the first on.
    last = np.nanargmin(mine, axis=0) if len(node) else node
    return keys[node].astype(np.int64), execution, mine[side], last


def _starts(arrays: Arrays, name: str, ids: IntArray, iterations: IntArray) -> FloatArray:
    """Return when nodes start on a side, the how-manieth time each; spans are in order of start."""
    spans = arrays[f"{name}_node_id"].astype(np.int64)
    order = np.argsort(spans, kind="stable")
    at = np.searchsorted(spans[order], ids) + iterations
    found: FloatArray = arrays[f"{name}_start_ns"][order[at]].astype(np.float64)
    return found


def _header(
    found: RankComparison,
    graph: RankGraph,
    trees: Sequence[TimedTree],
    sides: dict[str, SideArrays],
    ordinal: int,
) -> dict[str, Any]:
    refs = [found.skew.ranks[side.rank] for side in graph.sides]
    kinds = distinct_values(np.concatenate([x.nodes.integers("type") for x in trees]))
    scale = value_scale(np.concatenate([x.times.median_ns for x in trees]))
    return {
        "kind": "timeline",
        "graph_id": graph.sides[0].graph_id,
        "graph_name": f"{graph.name}, launch {ordinal} on {len(refs)} ranks",
        **{name: side.header for name, side in sides.items()},
        "kinds": {t: node_type_name(t) for t in kinds.tolist()},
        "scale": {"least_ns": scale["least"], "most_ns": scale["most"], "log": scale["log"]},
        "sides": {
            name: {
                "title": " · ".join(filter(None, (rank_name(ref), ref.host, ref.gpus))),
                "letter": rank_name(ref),
                "missing": f"This launch has no node times on {rank_name(ref)}.",
            }
            for name, ref in zip(sides, refs, strict=True)
        },
    }
