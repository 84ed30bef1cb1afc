"""Groups of nodes that are compared as a whole: of a kernel name, of an NVTX range."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from gviz.comparison.pairing import ComparedGraph
from gviz.dataclass import dataclass
from gviz.model import SEPARATOR
from gviz.stats import IntArray


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of two graphs, one entry a name, in order of first appearance.

    Attributes
    ----------
    name
        What the group is called in both.
    before, after
        int64 indices of its nodes in the first and in the second graph; one of them may be
        empty.
    """

    name: tuple[str, ...]
    before: tuple[IntArray, ...]
    after: tuple[IntArray, ...]


def by_name(
    first: ComparedGraph, second: ComparedGraph, left_out: tuple[IntArray, IntArray]
) -> Groups:
    """Return the nodes of each name shown, some of either graph left out (int64 indices)."""
    sides = []
    for graph, nodes in zip((first, second), left_out, strict=True):
        without = set(nodes.tolist())
        sides.append([[] if i in without else [title] for i, title in enumerate(graph.title)])
    return _group(*sides)


def by_range(first: ComparedGraph, second: ComparedGraph) -> Groups:
    """Return the nodes of each NVTX range, those of the ranges inside it included."""
    return _group(*([_ranges(context) for context in g.context] for g in (first, second)))


def _ranges(context: str) -> list[str]:
    """Return the paths of all ranges around a node, outermost first."""
    parts = context.split(SEPARATOR) if context else []
    return [SEPARATOR.join(parts[: i + 1]) for i in range(len(parts))]


def _group(first: Iterable[Sequence[str]], second: Iterable[Sequence[str]]) -> Groups:
    found: dict[str, tuple[list[int], list[int]]] = {}
    for side, graph in enumerate((first, second)):
        for node, names in enumerate(graph):
            for name in names:
                found.setdefault(name, ([], []))[side].append(node)
    sides = list(found.values())
    return Groups(
        tuple(found),
        tuple(np.array(before, np.int64) for before, _ in sides),
        tuple(np.array(after, np.int64) for _, after in sides),
    )
