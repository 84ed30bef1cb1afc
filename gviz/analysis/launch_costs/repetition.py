"""Eager iterations of a program without graphs: equal operations in the same order, repeated."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gviz.dataclass import dataclass
from gviz.stats import IntArray

#: Operations in a row that are looked up at once: single kernels repeat within an iteration, and
#: iterations may be short.
_GRAMS = (8, 3, 1)
#: Distances between equal grams that are tried as a period, of each kind.
_CANDIDATES = 64


@dataclass(frozen=True, slots=True)
class Repetition:
    """A stretch of operations that repeats with one period.

    Attributes
    ----------
    first
        Index of the first operation of the first iteration.
    period
        Operations of an iteration.
    count
        Whole iterations.
    """

    first: int
    period: int
    count: int

    def bounds(self, number: int) -> tuple[int, int]:
        """Return the first operation of an iteration and the one after its last."""
        begin = self.first + number * self.period
        return begin, begin + self.period


def find_repetition(tokens: IntArray) -> Repetition | None:
    """Return the repetition in a sequence of operations, or None where nothing repeats.

    The period is the one that holds over the longest stretch without a break: that of the
    layers of a model breaks at the end of every iteration, that of the iterations does not; of
    equal stretches the shorter period.

    Parameters
    ----------
    tokens
        int64 array: equal numbers are equal operations, in order of their calls.
    """
    best: tuple[int, int, int] | None = None  # length of the stretch, -period, first
    for period in _candidates(tokens):
        first, length = _longest_run(tokens[period:] == tokens[:-period])
        whole = length + period
        if length >= period and (best is None or (whole, -period) > best[:2]):
            best = (whole, -period, first)
    if best is None:
        return None
    whole, negative, first = best
    return Repetition(first, -negative, whole // -negative)


def _candidates(tokens: IntArray) -> list[int]:
    """Return distances at which stretches repeat."""
    sizes = [size for size in _GRAMS if 2 * size <= len(tokens)]
    return list(dict.fromkeys(d for size in sizes for d in _distances(tokens, size)))


def _distances(tokens: IntArray, size: int) -> list[int]:
    """Return distances between equal grams: the most frequent ones, and the longest."""
    grams = np.lib.stride_tricks.sliding_window_view(tokens, size)
    _, key = np.unique(grams, axis=0, return_inverse=True)
    key = key.ravel()
    order = np.argsort(key, kind="stable")
    apart = np.diff(order)[np.diff(key[order]) == 0]
    values, counts = np.unique(apart, return_counts=True)
    frequent = values[np.argsort(-counts, kind="stable")][:_CANDIDATES]
    # What an iteration has once lies one period apart, further than what repeats inside it.
    return [*frequent.tolist(), *values[-_CANDIDATES:].tolist()]


def _longest_run(equal: npt.NDArray[np.bool_]) -> tuple[int, int]:
    """Return where the longest run of True begins, and its length."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], equal.view(np.int8), [0]))))
    if not len(edges):
        return 0, 0
    lengths = edges[1::2] - edges[::2]
    longest = int(np.argmax(lengths))
    return int(edges[2 * longest]), int(lengths[longest])
