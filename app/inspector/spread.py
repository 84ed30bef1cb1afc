"""Distributions of nodes' durations over launches: how many spans are of which length."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gviz.stats import FloatArray, IntArray, distinct_values, median_ranks

#: Fewer spans say nothing about a distribution.
SHOWN_FROM = 5


class DurationSpread:
    """Distributions of the durations of nodes that follow each other.

    Parameters
    ----------
    count
        How many nodes; none has spans at first.
    """

    def __init__(self, count: int) -> None:
        self._shortest = np.zeros(count, np.int64)
        self._longest = np.zeros(count, np.int64)
        self._median = np.zeros(count)
        #: Ends of the 95% interval of the median; NaN: too few spans.
        self._ends = np.full((2, count), np.nan)
        self._counts: list[list[int] | None] = [None] * count

    def add(self, node: IntArray, duration: IntArray) -> None:
        """Take in all spans of some nodes.

        Parameters
        ----------
        node, duration
            int64, one a span: the node, from 0, and how long it took (ns).
        """
        order = np.lexsort((duration, node))
        values, of = duration[order], node[order]
        nodes, first, spans = np.unique(of, return_index=True, return_counts=True)
        for many in distinct_values(spans[spans >= SHOWN_FROM]).tolist():
            chosen = spans == many
            self._fill(nodes[chosen], values[first[chosen][:, None] + np.arange(many)])

    def part(self, first: int, end: int) -> dict[str, list[Any]]:
        """Return the distributions of some nodes; null where there are too few spans.

        ``shortest``, ``longest`` and ``median`` in ns, ``interval``: the 95% interval of the median
        (null: too few spans for one), ``counts``: spans in bins of equal width from the shortest to
        the longest.
        """
        counts = self._counts[first:end]

        def shown(values: npt.NDArray[Any]) -> list[Any]:
            found = values[first:end].tolist()
            return [v if c else None for v, c in zip(found, counts, strict=True)]

        return {
            "shortest": shown(self._shortest),
            "longest": shown(self._longest),
            "median": shown(self._median),
            "interval": [
                None if np.isnan(ends[0]) else ends for ends in self._ends[:, first:end].T.tolist()
            ],
            "counts": counts,
        }

    def _fill(self, nodes: IntArray, values: IntArray) -> None:
        """Fill in nodes with equally many spans; ``values``: a row for each, ascending."""
        many = values.shape[1]
        self._shortest[nodes], self._longest[nodes] = values[:, 0], values[:, -1]
        self._median[nodes] = (values[:, (many - 1) // 2] + values[:, many // 2]) / 2
        ranks = median_ranks(many)
        if ranks is not None:
            self._ends[:, nodes] = values[:, list(ranks)].T
        # From the shortest on: large numbers have no edges between them as floating point numbers.
        above = (values - values[:, :1]).astype(np.float64)
        for node, row in zip(nodes.tolist(), _binned(above).tolist(), strict=True):
            self._counts[node] = row


def _binned(values: FloatArray) -> IntArray:
    """Return how many values of each row are in each bin, as :func:`numpy.histogram` counts them.

    ``values`` ascend in each row and begin with 0.
    """
    rows, many = values.shape
    bins = min(40, max(8, many // 3))
    longest = values[:, -1:]
    low, high = np.where(longest > 0, 0.0, -0.5), np.where(longest > 0, longest, 0.5)
    edges = low + np.arange(bins + 1) * ((high - low) / bins)
    edges[:, -1:] = high
    at = np.minimum(((values - low) / (high - low) * bins).astype(np.int64), bins - 1)
    # What a rounded quotient puts beside its bin goes back by the bin's edges.
    at -= values < np.take_along_axis(edges, at, 1)
    at += (values >= np.take_along_axis(edges, at + 1, 1)) & (at != bins - 1)
    places = (np.arange(rows)[:, None] * bins + at).ravel()
    return np.bincount(places, minlength=rows * bins).reshape(rows, bins)
