"""The values of folds out of those of the nodes they hold: sums, families, strips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gviz.app.views.wire import Arrays, Strings, offsets
from gviz.layout import Fold, sum_blocks
from gviz.model import TimedLevel
from gviz.stats import FloatArray

#: Stands for the type of a fold: no CUgraphNodeType, see :func:`gviz.app.views.wire.node_types`.
FOLD_TYPE = 254
#: Of these a fold has the sum over its nodes, of the others what its nodes agree on.
_SUMMED = ("median_ns", "body_ns", "share", "launch_ns")


def fold_values(
    arrays: Arrays,
    level: TimedLevel,
    folds: Sequence[Fold],
    names: Mapping[str, str],
    strings: Strings,
) -> Arrays:
    """Return the DAG's arrays with one value a fold instead of one a node; none of edges.

    ``names`` are those of folds by their ids; others keep their titles.
    Beside those of nodes: fold_words (string: what the fold is), strip_offset, strip_ns (duration
    of each block of a repeat, f4), mix_offset, mix_family (string), mix_part (f4: the parts of a
    fold's time by kernel family, the largest first).
    """
    of_nodes = {n: a for n, a in arrays.items() if not n.startswith(("edge_", "critical"))}
    held = _Held(folds)
    found = {name: held.gather(name, values) for name, values in of_nodes.items()}
    mixes = held.mixes(arrays["family"], level.median_ns)
    found["family"] = mixes["mix_family"][mixes["mix_offset"][:-1]]
    found["type"] = np.full(len(folds), FOLD_TYPE, np.uint8)
    found["name"] = np.array(
        [strings.add(names.get(fold.id, fold.title)) for fold in folds], np.uint32
    )
    found["reason"] = np.full(len(folds), -1, np.int32)
    # What is no repeat has no blocks.
    blocks = [sum_blocks(fold.blocks, level.median_ns)[0] for fold in folds]
    words = [strings.add(_words(f, ns, names)) for f, ns in zip(folds, blocks, strict=True)]
    return {
        **found,
        **mixes,
        "fold_words": np.array(words, np.int32),
        "strip_offset": offsets([len(ns) for ns in blocks]),
        "strip_ns": np.concatenate([np.zeros(0), *blocks]).astype(np.float32),
    }


class _Held:
    """The nodes of folds, fold after fold: every fold holds some."""

    def __init__(self, folds: Sequence[Fold]) -> None:
        sizes = np.array([len(fold.nodes) for fold in folds], np.int64)
        self._nodes = np.concatenate([np.zeros(0, np.int64), *(fold.nodes for fold in folds)])
        self._first = np.cumsum(sizes) - sizes
        self._fold = np.repeat(np.arange(len(folds)), sizes)

    def gather(self, name: str, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the value of each fold: a sum, the least slack, or what is common."""
        if not len(self._first):
            return values[:0]
        mine = values[self._nodes]
        kind = values.dtype.kind
        if kind == "f":
            return self._of_times(name, mine.astype(np.float64)).astype(values.dtype)
        first: npt.NDArray[Any] = mine[self._first]
        if kind != "i":
            return first
        first[self._reduce(np.minimum, mine) != self._reduce(np.maximum, mine)] = -1
        return first

    def _of_times(self, name: str, values: FloatArray) -> FloatArray:
        if name != "slack_ns" and name not in _SUMMED:
            return np.full(len(self._first), np.nan)
        known = ~np.isnan(values)
        if name == "slack_ns":
            found = self._reduce(np.minimum, np.where(known, values, np.inf))
        else:
            found = self._reduce(np.add, np.where(known, values, 0.0))
        return np.where(self._reduce(np.logical_or, known), found, np.nan)

    def _reduce(self, how: np.ufunc, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        found: npt.NDArray[Any] = how.reduceat(values, self._first)
        return found

    def mixes(self, family: npt.NDArray[np.int32], median_ns: FloatArray) -> Arrays:
        """Return the families of each fold's nodes with their parts of its time, the largest
        first.

        Where none of a fold's nodes is timed each counts alike.
        """
        count = len(self._first)
        weight = np.nan_to_num(median_ns[self._nodes])
        total = np.bincount(self._fold, weight, minlength=count)
        weight = np.where(total[self._fold] > 0, weight, 1.0)
        total = np.bincount(self._fold, weight, minlength=count)
        width = int(family.max(initial=0)) + 2
        # From 1: nodes without a family have -1.
        keys = self._fold * width + family[self._nodes] + 1
        known, which = np.unique(keys, return_inverse=True)
        fold = known // width
        part = np.bincount(which.reshape(-1), weight, minlength=len(known)) / total[fold]
        order = np.lexsort((known, -part, fold))
        return {
            "mix_offset": offsets(np.bincount(fold, minlength=count)),
            "mix_family": (known % width - 1)[order].astype(np.int32),
            "mix_part": part[order].astype(np.float32),
        }


def _words(fold: Fold, block_ns: FloatArray, names: Mapping[str, str]) -> str:
    """Return what a fold is, for the tooltip; ``block_ns`` of the blocks of a repeat."""
    count = f"{len(fold.nodes):,} nodes"
    if not len(block_ns):
        return count
    words = f"{fold.repeats} × {fold.period:,} nodes" if fold.period > 1 else count
    if np.isnan(block_ns).all():
        return words
    slowest = int(np.nanargmax(block_ns))
    name = names.get(fold.children[slowest].id) if fold.children else None
    return f"{words}; slowest is {name or f'number {slowest + 1}'}"
