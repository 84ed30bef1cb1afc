"""Families of a graph's nodes: one a distinct name, and which each node has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gviz.cuda import NodeType
from gviz.families import KernelFamily, KernelLibrary, Kind, family_of
from gviz.model import GraphTree, Keep, distinct
from gviz.stats import BoolArray, IntArray

if TYPE_CHECKING:
    from gviz.recording import Recording

#: Kind of the key by which a run's symbols are remembered (:func:`gviz.model.keeper`).
SYMBOLS = "symbols of kernels"
_OF_TYPES = {
    NodeType.MEMCPY: KernelFamily(Kind.COPY, KernelLibrary.DRIVER),
    NodeType.MEMSET: KernelFamily(Kind.FILL, KernelLibrary.DRIVER),
}
_NO_FUNCTION = -1


@dataclass(frozen=True, slots=True)
class NodeFamilies:
    """Families of nodes.

    Attributes
    ----------
    families
        One a distinct type, name and function.
    code
        int64, one a node: its place among them.
    """

    families: tuple[KernelFamily, ...]
    code: IntArray

    def where(self, is_chosen: Callable[[KernelFamily], bool | None]) -> BoolArray:
        """Return the nodes whose family is chosen: bool, one a node."""
        chosen = [is_chosen(family) is True for family in self.families]
        found: BoolArray = np.array(chosen, bool)[self.code]
        return found

    def of_kind(self, *kinds: Kind) -> BoolArray:
        """Return the nodes of some kinds: bool, one a node."""
        return self.where(lambda family: family.kind in kinds)


def read_node_families(
    recording: Recording, graph: GraphTree, run_id: int, keep: Keep
) -> NodeFamilies:
    """Return the families of a graph's nodes, by their symbols where these were recorded.

    Copies and memsets are the driver's; nodes of other types are of an unknown kind.
    """
    names, function = graph.nodes.texts("name"), graph.nodes.integers("function_id", _NO_FUNCTION)
    first, code = distinct([graph.types, names.codes.astype(np.int64), function])
    symbols: dict[int, str] = keep(
        (SYMBOLS, run_id),
        lambda: {f.function_id: f.mangled_name for f in recording.fetch_functions(run_id).values()},
    )
    columns = (graph.types[first], names.codes[first], function[first])
    families = [
        family_of(symbols.get(function_id) or names.values[name])
        if node_type == NodeType.KERNEL
        else _OF_TYPES.get(NodeType(node_type), KernelFamily(Kind.UNKNOWN))
        for node_type, name, function_id in zip(*(c.tolist() for c in columns), strict=True)
    ]
    return NodeFamilies(tuple(families), code)
