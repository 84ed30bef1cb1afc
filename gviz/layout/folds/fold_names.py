"""Names of folds: the layers of a model that they are, or the NVTX range that they fill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gviz.layout.folds.fold import Fold, FoldTree
from gviz.layout.folds.ranges import RangePaths
from gviz.stats import BoolArray, IntArray

#: Between a range and what it holds, where it is not all of a fold's name.
_HOLDS = ": "
#: A fold is called after a range of which it holds at least this part.
_LEAST_PART = 0.5
#: Layers are called inferred where those of more of their nodes are.
_MOSTLY = 0.5
INFERRED = " (inferred)"


@dataclass(frozen=True, slots=True)
class NumberedLayers:
    """The layers that the nodes of a graph level are in.

    Attributes
    ----------
    kind
        What a layer is called.
    number
        int64, one a node: that of its layer; -1: it is in none.
    is_inferred
        bool, one a node: its layer follows from the order of blocks.
    """

    kind: str
    number: IntArray
    is_inferred: BoolArray


def name_layers(kind: str, numbers: Sequence[int]) -> str:
    """Return what layers are called together, in their order; at least one.

    Examples
    --------
    >>> name_layers("layer", [0, 1, 2])
    'layer 0..2'
    >>> name_layers("layer", [7]), name_layers("layer", [2, 1]), name_layers("layer", [0, 4])
    ('layer 7', 'layer 2..1', '2 × layer')
    """
    first, last = numbers[0], numbers[-1]
    if len(numbers) == 1:
        return f"{kind} {first}"
    steps = np.diff(np.asarray(numbers, np.int64))
    if (steps == 1).all() or (steps == -1).all():
        return f"{kind} {first}..{last}"
    return f"{len(numbers)} × {kind}"


def name_folds(
    tree: FoldTree, layers: NumberedLayers | None, ranges: RangePaths | None
) -> Mapping[str, str]:
    """Return the names of folds by their ids; what has none keeps its title.

    A repeat whose blocks are layers one after the other is called after them, and so are its
    blocks. Any other repeat is called after the innermost range that its nodes share, if it is
    most of that range and the range is not all of the graph.
    """
    found: dict[str, str] = {}
    sizes = None if ranges is None else _range_sizes(ranges)
    for fold in tree.every():
        if fold.kind != "repeat":
            continue
        name = "" if layers is None else _name_blocks(fold, layers, found)
        if not name and ranges is not None and sizes is not None:
            text = _shared_range(fold, ranges, sizes)
            name = f"{text}{_HOLDS}{fold.title}" if text else ""
        if name:
            found[fold.id] = name
    return found


def _name_blocks(fold: Fold, layers: NumberedLayers, found: dict[str, str]) -> str:
    """Return the name of a repeat whose blocks are layers, and add those of its blocks.

    Empty where they are not. Of a block the layer of most of its nodes counts: an edge of one may
    be a node of the next.
    """
    if fold.period < 2:
        return ""
    numbers = [_most(layers.number[block]) for block in fold.blocks]
    if min(numbers) < 0 or len(set(numbers)) < len(numbers):
        return ""
    mark = INFERRED if layers.is_inferred[fold.nodes].mean() > _MOSTLY else ""
    for child, number in zip(fold.children, numbers, strict=True):
        found[child.id] = name_layers(layers.kind, [number]) + mark
    return name_layers(layers.kind, numbers) + mark


def _most(numbers: IntArray) -> int:
    """Return the number that more than half of some nodes have; -1: none."""
    known, count = np.unique(numbers, return_counts=True)
    at = int(np.argmax(count))
    return int(known[at]) if 2 * int(count[at]) > len(numbers) else -1


def _range_sizes(ranges: RangePaths) -> IntArray:
    """Return how many nodes each path holds, those of ranges inside it too."""
    sizes = np.bincount(ranges.path[ranges.path >= 0], minlength=len(ranges.text))
    # A range is in the table after that around it.
    for path in range(len(sizes) - 1, -1, -1):
        parent = int(ranges.parent[path])
        if parent >= 0:
            sizes[parent] += sizes[path]
    return sizes.astype(np.int64)


def _shared_range(fold: Fold, ranges: RangePaths, sizes: IntArray) -> str:
    """Return the innermost range around all nodes of a fold; empty: it says nothing of the fold."""
    lines = [ranges.line_of(path) for path in np.unique(ranges.path[fold.nodes]).tolist()]
    shared = -1
    for paths in zip(*lines, strict=False):
        if len(set(paths)) > 1:
            break
        shared = paths[0]
    if shared < 0 or sizes[shared] == len(ranges.path):
        return ""
    return ranges.text[shared] if len(fold.nodes) >= _LEAST_PART * sizes[shared] else ""
