"""Colours of kernel families: one place in the table of colours each, the same in every view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gviz.analysis import NamedFamilies, label_of, name_families, read_node_families
from gviz.app.views.wire import Strings
from gviz.dataclass import dataclass
from gviz.families import Kind
from gviz.model import Keep, TimedTree, distinct
from gviz.stats import IntArray

if TYPE_CHECKING:
    from gviz.recording import Recording

#: Places of families that multiply matrices; assets/web/core/colour.js has them in shades of one.
_PRODUCT_SLOTS = 5
#: Places of the other families, behind these.
_OTHER_SLOTS = 12
#: The place of all families beyond these.
REST = _PRODUCT_SLOTS + _OTHER_SLOTS
_PRODUCTS = frozenset({Kind.GEMM, Kind.GEMV, Kind.CONVOLUTION, Kind.SPLIT_K_REDUCTION})


def family_slots(found: NamedFamilies) -> dict[str, int]:
    """Return the place of each family in the table of colours.

    Those with the most time have one of their own.
    """
    products, others = 0, _PRODUCT_SLOTS
    slots: dict[str, int] = {}
    for label, kind in zip(found.labels, found.kinds, strict=True):
        if kind in _PRODUCTS:
            slots[label] = products if products < _PRODUCT_SLOTS else REST
            products += 1
        else:
            slots[label] = min(others, REST)
            others += 1
    return slots


@dataclass(frozen=True, slots=True)
class FamilyColours:
    """Families of a graph's nodes, and the places of their colours.

    Attributes
    ----------
    labels
        Of the families, those with the most time over the recorded launches first.
    kinds
        Work that each does.
    slot_of
        Place of each in the table of colours, by label.
    code
        int64, one a node of the tree: its family.
    """

    labels: tuple[str, ...]
    kinds: tuple[Kind, ...]
    slot_of: Mapping[str, int]
    code: IntArray

    def slots(self) -> npt.NDArray[np.uint8]:
        """Return the place of each node's colour."""
        return np.array([self.slot_of[label] for label in self.labels], np.uint8)[self.code]

    def names(self, part: slice, strings: Strings) -> npt.NDArray[np.int32]:
        """Return the label of each of neighbouring nodes, as its place among strings."""
        found = np.array([strings.add(label) for label in self.labels], np.int32)
        return found[self.code[part]]

    def header(self, strings: Strings) -> dict[int, int]:
        """Return the place of the colour of each label, by that of the label among strings."""
        return {strings.add(label): slot for label, slot in self.slot_of.items()}

    def slots_of_names(
        self, node_types: IntArray, name: npt.NDArray[np.integer], names: Sequence[str]
    ) -> npt.NDArray[np.uint8]:
        """Return the place of the colour of work outside the graph, by type and name.

        Parameters
        ----------
        node_types, name
            One value an operation: its type, and its name's place in ``names``; -1: it has none.
        """
        types = node_types.astype(np.int64)
        first, code = distinct((types, name.astype(np.int64)))
        pairs = zip(types[first].tolist(), name[first].tolist(), strict=True)
        labels = (label_of(names[at] if at >= 0 else "", kind) for kind, at in pairs)
        return np.array([self.slot_of.get(x, REST) for x in labels], np.uint8)[code]


def read_family_colours(recording: Recording, tree: TimedTree, keep: Keep) -> FamilyColours:
    """Return the families of a graph's nodes with their colours, made once for all views."""

    def read() -> FamilyColours:
        families = read_node_families(recording, tree, tree.graph.run_id, keep)
        found = name_families(tree, families, np.nan_to_num(tree.times.total_ns))
        return FamilyColours(found.labels, found.kinds, family_slots(found), found.code)

    return keep(("family colours", tree.graph.graph_id), read)


def shared_colours(graphs: Sequence[FamilyColours]) -> list[FamilyColours]:
    """Return the families of several graphs, each in the same place in all of them.

    What the first graph has takes its places as there; families of the others come behind these.
    """
    kinds: dict[str, Kind] = {}
    for one in graphs:
        for label, kind in zip(one.labels, one.kinds, strict=True):
            kinds.setdefault(label, kind)
    place = family_slots(NamedFamilies(tuple(kinds), tuple(kinds.values()), np.zeros(0, np.int64)))
    return [replace(one, slot_of={x: place[x] for x in one.labels}) for one in graphs]
