"""Values of ranks by layer, made so small that a page can draw them: the largest of each part."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from gviz.dataclass import dataclass
from gviz.stats import FloatArray, IntArray

#: Rows and columns of a map, at most: more are no wider than a pixel or two.
MOST_ROWS, MOST_COLUMNS = 256, 128


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A map: a row some ranks that follow each other, a column some layers.

    Attributes
    ----------
    rows, columns
        Their names, such as 8–15 and layer 3.
    values
        float64 (row, column): the largest in that part; NaN: nothing is known.
    rank
        int64 (row, column): place of the rank that has it, among all.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: FloatArray
    rank: IntArray


def draw_map(
    ranks: Sequence[str],
    columns: Sequence[str],
    values: FloatArray,
    most: tuple[int, int] = (MOST_ROWS, MOST_COLUMNS),
) -> HeatMap:
    """Return a map.

    Parameters
    ----------
    ranks
        Names of ranks, in order.
    columns
        Names of layers, in order.
    values
        float64 (rank, layer); NaN: not known.
    most
        Rows and columns of the map.
    """
    parts = _parts(len(ranks), most[0])
    across = _parts(len(columns), most[1])
    found = np.full((len(parts), len(across)), np.nan)
    places = np.zeros((len(parts), len(across)), np.int64)
    for row, (first, stop) in enumerate(parts):
        # What is not known is never the largest.
        block = np.where(np.isnan(values[first:stop]), -np.inf, values[first:stop])
        place = block.argmax(axis=0)
        largest = block[place, np.arange(block.shape[1])]
        for column, (left, right) in enumerate(across):
            at = left + int(largest[left:right].argmax())
            places[row, column] = first + place[at]
            if largest[at] > -np.inf:
                found[row, column] = largest[at]
    return HeatMap(
        rows=tuple(_range(ranks[a], ranks[b - 1]) for a, b in parts),
        columns=tuple(_range(columns[a], columns[b - 1]) for a, b in across),
        values=found,
        rank=places,
    )


def _parts(count: int, most: int) -> list[tuple[int, int]]:
    """Return first and end of each of at most so many parts of something."""
    ends = np.linspace(0, count, min(count, most) + 1).astype(int).tolist()
    return list(pairwise(ends)) if count else []


def _range(first: str, last: str) -> str:
    return first if first == last else f"{first}–{last}"
