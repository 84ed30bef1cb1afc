"""Families of a graph's nodes: one a distinct name, and which each node has."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from gviz.cuda import NodeType, node_type_name
from gviz.dataclass import dataclass
from gviz.families import KernelFamily, KernelLibrary, Kind, family_of
from gviz.model import GraphTree, Keep, distinct
from gviz.stats import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from gviz.recording import Recording

#: Kind of the key by which a run's symbols are remembered (:func:`gviz.model.keeper`).
SYMBOLS = "symbols of kernels"
_OF_TYPES: dict[int, KernelFamily] = {
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


@dataclass(frozen=True, slots=True)
class NamedFamilies:
    """Families of a graph's nodes by what they are called, those with the most time first.

    Attributes
    ----------
    labels
        Of the families.
    kinds
        Work that each does.
    code
        int64, one a node: its place among them.
    """

    labels: tuple[str, ...]
    kinds: tuple[Kind, ...]
    code: IntArray


def name_families(graph: GraphTree, found: NodeFamilies, total_ns: FloatArray) -> NamedFamilies:
    """Return the families of a graph's nodes by what they are called.

    Parameters
    ----------
    total_ns
        float64, one a node: its time in a launch, 0 where it has none.
    """
    names = graph.nodes.texts("name")
    columns = (found.code, graph.types, names.codes.astype(np.int64))
    first, code = distinct(columns)
    known: dict[str, int] = {}
    kinds: list[Kind] = []
    place = np.zeros(len(first), np.int64)
    for at, (family, node_type, name) in enumerate(np.stack(columns, axis=1)[first].tolist()):
        label = family_label(found.families[family], node_type, names.values[name])
        place[at] = known.setdefault(label, len(known))
        if len(known) > len(kinds):
            kinds.append(found.families[family].kind)
    code = place[code]
    family_ns = np.bincount(code, total_ns, minlength=len(known))
    count = np.bincount(code, minlength=len(known))
    # Without times the most frequent first.
    order = np.lexsort((np.arange(len(known)), -count, -family_ns))
    rank = np.empty(len(known), np.int64)
    rank[order] = np.arange(len(known))
    labels = list(known)
    return NamedFamilies(
        labels=tuple(labels[at] for at in order.tolist()),
        kinds=tuple(kinds[at] for at in order.tolist()),
        code=rank[code],
    )


def family_label(family: KernelFamily, node_type: int, name: str) -> str:
    """Return what a family is called: kind, types and tile; of an unknown kernel its name."""
    if node_type == NodeType.MEMCPY:
        return "memcpy"
    if node_type == NodeType.MEMSET:
        return "memset"
    if node_type != NodeType.KERNEL:
        return node_type_name(node_type)
    if family.kind is Kind.UNKNOWN:
        return name
    tile = "" if family.tile is None else "x".join(map(str, family.tile[:2]))
    return " ".join(filter(None, (family.kind.value, "/".join(family.data_types), tile)))


def label_of(name: str, node_type: int) -> str:
    """Return what the family of work of this name and type is called."""
    return family_label(family_of(name), node_type, name)


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
        else _OF_TYPES.get(node_type, KernelFamily(Kind.UNKNOWN))
        for node_type, name, function_id in zip(*(c.tolist() for c in columns), strict=True)
    ]
    return NodeFamilies(tuple(families), code)
