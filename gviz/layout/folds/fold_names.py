"""Names of folds: the layers of a model that they are, or the NVTX range that they fill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gviz.dataclass import dataclass
from gviz.layout.folds.fold import Fold, FoldTree
from gviz.layout.folds.ranges import RangePaths
from gviz.stats import BoolArray, IntArray, distinct_values

#: Between a range and what it holds, where it is not all of a fold's name.
_HOLDS = ": "
#: A fold is called after a range of which it holds at least this part.
_LEAST_PART = 0.5
#: Layers are called inferred where those of more of their nodes are.
_MOSTLY = 0.5
INFERRED = " (inferred)"
#: Depth of a range inside another one; that around the whole graph does not count.
_INSIDE = 2


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
    are_repeats
        The layers are told by repeats alone.
    """

    kind: str
    number: IntArray
    is_inferred: BoolArray
    are_repeats: bool = False


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
    most of that range and the range is not all of the graph. So is one whose layers follow from
    the order of blocks, where the range is inside another, such as an optimizer's in its phase.
    """
    found: dict[str, str] = {}
    around = None if ranges is None else _Around(ranges)
    for fold in tree.every():
        if fold.kind != "repeat":
            continue
        text, depth = ("", 0) if around is None else around.shared(fold)
        are_known = layers is not None and not _is_inferred(fold, layers)
        name = ""
        if layers is not None and (are_known or depth < _INSIDE):
            name = _name_blocks(fold, layers, found)
        if not name and text:
            name = f"{text}{_HOLDS}{fold.title}"
        if name:
            found[fold.id] = name
    return found


def _is_inferred(fold: Fold, layers: NumberedLayers) -> bool:
    return float(layers.is_inferred[fold.nodes].mean()) > _MOSTLY


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
    mark = INFERRED if layers.are_repeats or _is_inferred(fold, layers) else ""
    for child, number in zip(fold.children, numbers, strict=True):
        found[child.id] = name_layers(layers.kind, [number]) + mark
    return name_layers(layers.kind, numbers) + mark


def _most(numbers: IntArray) -> int:
    """Return the number that more than half of some nodes have; -1: none."""
    known, count = np.unique(numbers, return_counts=True)
    at = int(np.argmax(count))
    return int(known[at]) if 2 * int(count[at]) > len(numbers) else -1


class _Around:
    """The ranges around folds."""

    def __init__(self, ranges: RangePaths) -> None:
        self._ranges = ranges
        sizes = np.bincount(ranges.path[ranges.path >= 0], minlength=len(ranges.text))
        # A range is in the table after that around it.
        for path in range(len(sizes) - 1, -1, -1):
            parent = int(ranges.parent[path])
            if parent >= 0:
                sizes[parent] += sizes[path]
        #: How many nodes each range holds, those of ranges inside it too.
        self._sizes = sizes

    def shared(self, fold: Fold) -> tuple[str, int]:
        """Return the innermost range around all nodes of a fold, and how many are around them.

        Those that hold the whole graph do not count. Empty: the range is much more than the fold.
        """
        ranges = self._ranges
        lines = [ranges.line_of(path) for path in distinct_values(ranges.path[fold.nodes]).tolist()]
        shared: list[int] = []
        for paths in zip(*lines, strict=False):
            if len(set(paths)) > 1:
                break
            if self._sizes[paths[0]] < len(ranges.path):
                shared.append(paths[0])
        if not shared or len(fold.nodes) < _LEAST_PART * self._sizes[shared[-1]]:
            return "", 0
        return ranges.text[shared[-1]], len(shared)
