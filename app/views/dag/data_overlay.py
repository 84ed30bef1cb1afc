"""The data that edges of the DAG carry, and who is given which address, as arrays for the browser.

assets/web/dag/scene/uses.js and assets/web/dag/draw/data_edges.js draw from these alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gviz.app.views.wire import Arrays, Strings
from gviz.layout import FoldedDag
from gviz.model import GraphLevel, LevelMemory, data_edges

#: Stands for "none" in arrays of places.
_NONE = 0xFFFFFFFF
#: Arrays of indices of places, and of allocations; less than 0: none.
_OF_PLACES = ("data_place", "use_place")
_OF_ALLOCATIONS = ("data_allocation", "place_allocation")


def data_arrays(
    memory: LevelMemory, level: GraphLevel, folded: FoldedDag | None, strings: Strings
) -> Arrays:
    """Return what nodes and edges have in common.

    One value an edge that is drawn (:class:`gviz.model.memory.edge_data.DataEdges`): data_common
    (u1), data_count (u4), data_bytes (f8, NaN: not known), data_place (u4), data_allocation (i4),
    data_source, data_target (u1). One value a use, by place and then in the order of the graph:
    use_node (node id, u4), use_order, use_place, use_reach (u4), use_access (u1), use_bytes (f8),
    use_position, use_offset (where the address stands in what the node is given, u4), use_extent
    (f8, NaN: not known), use_how (:class:`gviz.model.ExtentKind`, u1).
    One a place:
    place_low, place_high (halves of the address, u4), place_allocation (i4), and those of
    :func:`name_arrays`. One an allocation:
    allocation_low, allocation_high (u4), allocation_bytes (f8), allocation_node (node id or -1,
    i4).
    """
    uses = memory.uses
    if folded is None:
        found = data_edges(uses, level.edge_from, level.edge_to)
    else:
        group = folded.groups_of(level.edge_from, level.edge_to)
        found = data_edges(uses, level.edge_from, level.edge_to, group, len(folded.source))
    arrays: Arrays = {
        "data_common": found.common,
        "data_count": found.count.astype(np.uint32),
        "data_bytes": found.bytes,
        "data_place": np.where(found.place < 0, _NONE, found.place).astype(np.uint32),
        "data_allocation": found.allocation.astype(np.int32),
        "data_source": found.source_access,
        "data_target": found.target_access,
    }
    return arrays | use_arrays(memory, level.key) | name_arrays(memory, strings)


def join_data(parts: Sequence[Arrays]) -> Arrays:
    """Return the arrays of several levels as one: each level has places and allocations of its own.

    So a level is described by itself: what is in a node's bodies counts as that node's around it,
    and as their nodes' inside.
    """
    places = np.cumsum([0, *(len(part["place_low"]) for part in parts)])
    allocations = np.cumsum([0, *(len(part["allocation_low"]) for part in parts)])
    found: dict[str, list[npt.NDArray[Any]]] = {}
    for part, place, allocation in zip(parts, places.tolist(), allocations.tolist(), strict=False):
        for name, values in part.items():
            moved = values
            if name in _OF_PLACES:
                moved = np.where(values == _NONE, _NONE, values + np.uint32(place))
            elif name in _OF_ALLOCATIONS:
                moved = np.where(values < 0, values, values + allocation)
            found.setdefault(name, []).append(moved.astype(values.dtype))
    return {name: np.concatenate(values) for name, values in found.items()}


def name_arrays(memory: LevelMemory, strings: Strings) -> Arrays:
    """Return what places are called: place_name (i4, among ``strings``; -1: nothing tells it)."""
    names = [-1 if name is None else strings.add(name) for name in memory.names]
    return {"place_name": np.array(names, np.int32)}


def use_arrays(memory: LevelMemory, ids: npt.NDArray[np.int64]) -> Arrays:
    """Return the arrays of uses, places and allocations; ``ids``: node ids by index."""
    uses, reached = memory.uses, memory.extents
    node = uses.allocation_node
    return {
        "use_node": ids[uses.node].astype(np.uint32),
        "use_order": memory.order[uses.node].astype(np.uint32),
        "use_place": uses.place.astype(np.uint32),
        "use_reach": uses.reach.astype(np.uint32),
        "use_access": uses.access,
        "use_bytes": np.where(uses.bytes < 0, np.nan, uses.bytes),
        "use_position": uses.position.astype(np.uint32),
        "use_offset": uses.offset.astype(np.uint32),
        "use_extent": np.where(reached.bytes < 0, np.nan, reached.bytes),
        "use_how": reached.how,
        **halves("place", uses.place_address),
        "place_allocation": uses.place_allocation.astype(np.int32),
        **halves("allocation", uses.allocation_address),
        "allocation_bytes": uses.allocation_bytes.astype(np.float64),
        "allocation_node": np.where(node < 0, -1, ids[np.maximum(node, 0)]).astype(np.int32)
        if len(ids)
        else np.zeros(0, np.int32),
    }


def halves(name: str, address: npt.NDArray[np.uint64]) -> Arrays:
    """Return addresses in two halves: JavaScript's numbers are exact to 53 bits."""
    half = np.uint64(32)
    return {
        f"{name}_low": (address & np.uint64(0xFFFFFFFF)).astype(np.uint32),
        f"{name}_high": (address >> half).astype(np.uint32),
    }
