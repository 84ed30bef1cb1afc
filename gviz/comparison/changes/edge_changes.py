"""Dependencies that two graphs share, and those that one has alone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gviz.comparison.pairing import ComparedGraph
from gviz.dataclass import dataclass
from gviz.stats import IntArray


@dataclass(frozen=True, slots=True)
class EdgeChanges:
    """Edges by index into the edges of their graph, int64.

    Attributes
    ----------
    kept
        Shape (k, 2): the edge in the first graph and in the second, between partners.
    retyped
        bool, one an edge kept: it is programmatic in one graph only.
    removed
        Edges of the first graph that the second has not, also those of removed nodes.
    added
        Edges of the second graph that the first has not, also those of added nodes.
    """

    kept: IntArray
    retyped: npt.NDArray[np.bool_]
    removed: IntArray
    added: IntArray


def compare_edges(first: ComparedGraph, second: ComparedGraph, partner: IntArray) -> EdgeChanges:
    """Return what became of the edges.

    Parameters
    ----------
    first, second
        The graphs.
    partner
        int64, one a node of the first graph: its partner in the second, -1: none.
    """
    ends = partner[first.source], partner[first.target]
    here = np.where((ends[0] < 0) | (ends[1] < 0), -1, ends[0] * len(second) + ends[1])
    there = second.source * len(second) + second.target
    one, two = _common(here, there, first.edge_type, second.edge_type)
    return EdgeChanges(
        kept=np.column_stack([one, two]),
        retyped=first.edge_type[one] != second.edge_type[two],
        removed=np.setdiff1d(np.arange(len(here)), one),
        added=np.setdiff1d(np.arange(len(there)), two),
    )


def _common(
    here: IntArray, there: IntArray, type_here: IntArray, type_there: IntArray
) -> tuple[IntArray, IntArray]:
    """Return the indices of equal keys; the n-th of equal ones with the n-th."""
    orders = np.lexsort((type_here, here)), np.lexsort((type_there, there))
    numbered = [_numbered(keys[order]) for keys, order in zip((here, there), orders, strict=True)]
    width = 1 + max((int(n.max(initial=0)) for n in numbered), default=0)
    keys = [k[o] * width + n for k, o, n in zip((here, there), orders, numbered, strict=True)]
    keys[0] = np.where(here[orders[0]] < 0, -1, keys[0])
    _, one, two = np.intersect1d(keys[0], keys[1], return_indices=True)
    return orders[0][one], orders[1][two]


def _numbered(ordered: IntArray) -> IntArray:
    """Return for each of ordered keys how many equal ones stand before it."""
    place = np.arange(len(ordered))
    new = np.ones(len(ordered), bool)
    new[1:] = ordered[1:] != ordered[:-1]
    return place - np.maximum.accumulate(np.where(new, place, 0))
