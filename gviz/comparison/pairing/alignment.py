"""Global alignment of two sequences with a score for each pair and a price for each gap.

A gap costs more to open than to extend, so that what was inserted in one piece is found in one
piece, and where it opens and closes has a price of its own: cuts that few edges cross are
cheap.

References
----------
O. Gotoh, An improved algorithm for matching biological sequences (1982): three states a cell.
E. Ukkonen, Algorithms for approximate string matching (1985): only a band around the diagonal
is computed, and a wider one where a better way could leave it.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from gviz.dataclass import dataclass
from gviz.stats import IntArray

Floats = npt.NDArray[np.float64]
#: Half the width of the first band.
_BAND = 256
#: Cells whose directions are kept at once, a byte each; of larger tables, rows are computed twice.
_KEPT_CELLS = 64_000_000
_NEVER = -1e15

_DOWN, _ALONG, _DOWN_OPENS, _ALONG_OPENS = 1, 2, 4, 8


class Scores(Protocol):
    """Scores of putting two places together.

    Attributes
    ----------
    most
        float64, one a place of the first sequence: no score of it is above this.
    """

    most: Floats

    def between(self, place: int, start: int, stop: int) -> Floats:
        """Return the scores of a place of the first sequence with places of the second."""
        ...


@dataclass(frozen=True, slots=True)
class GapCosts:
    """Costs of a gap in a sequence of n places.

    Attributes
    ----------
    open, close
        float64, one for each of n + 1 cuts (cut x is before place x): for a gap that begins, or
        ends, there.
    extend
        For each place in it.
    """

    open: Floats
    close: Floats
    extend: float

    def __len__(self) -> int:
        return len(self.open) - 1


def align(scores: Scores, first: GapCosts, second: GapCosts) -> tuple[IntArray, IntArray]:
    """Return the places that a best alignment puts together, ascending in both sequences.

    Of equally good ones, that whose gaps come latest. O(n w) for n places where a best way
    leaves out about w of them, at worst O(n m).

    Parameters
    ----------
    scores
        Of pairs of places.
    first, second
        Costs of leaving out places of the first and of the second sequence.
    """
    if not len(first) or not len(second):
        none = np.zeros(0, np.int64)
        return none, none
    most = np.maximum(scores.most, -first.extend)
    # What leaving out 1, 2, ... places of both sequences costs at least.
    lost = np.cumsum(np.sort(most) + first.extend + second.extend)
    whole = len(first) + len(second)
    table = _Table(scores, first, second, min(_BAND, whole))
    # A way that leaves the band leaves out more places than its reach. The best that is known
    # says how far ways need to be followed.
    reach = int(np.searchsorted(lost, most.sum() - table.total(), side="left"))
    if reach > _BAND:
        table = _Table(scores, first, second, min(reach, whole))
    return table.trace()


class _Table:
    """The table of an alignment, read from the ends of both sequences.

    Row r is about the last r places of the first sequence, column c about the last c of the
    second, so that the way back starts at the beginning. Of row r the columns from
    ``low(r)`` to ``high(r)`` are computed.
    """

    def __init__(self, scores: Scores, first: GapCosts, second: GapCosts, reach: int) -> None:
        self._between = scores.between
        self._rows, self._columns = len(first), len(second)
        apart = self._columns - self._rows
        self._low, self._high = min(0, apart) - reach, max(0, apart) + reach
        # Read from the end, a gap opens where it would close.
        self._down_open, self._down_close = first.close[::-1].tolist(), first.open[::-1].tolist()
        self._down_extend = first.extend
        along = second.extend * np.arange(self._columns + 1)
        self._along_open = second.close[::-1] - along
        self._along_close = second.open[::-1] + along
        width = min(self._columns, self._high - self._low) + 1
        self._height = max(1, _KEPT_CELLS // width)
        self._width = width
        self._starts = list(range(0, self._rows, self._height))
        self._states = [self._top()]
        for start in self._starts:
            stop = min(start + self._height, self._rows)
            # What fits is kept at once.
            self._kept = np.zeros((stop - start, width), np.uint8)
            keep = self._kept if len(self._starts) == 1 else None
            self._states.append(self._run(self._states[-1], start, stop, keep))

    def total(self) -> float:
        """Return the score of the best alignment in the band."""
        return float(self._states[-1][0][self._columns])

    def trace(self) -> tuple[IntArray, IntArray]:
        """Return the places that it puts together."""
        pairs: list[tuple[int, int]] = []
        column, state = self._columns, 0
        for block in reversed(range(len(self._starts))):
            start = self._starts[block]
            stop = min(start + self._height, self._rows)
            if len(self._starts) > 1:
                self._kept = np.zeros((stop - start, self._width), np.uint8)
                self._run(self._states[block], start, stop, self._kept)
            column, state = self._walk(start, stop, column, state, pairs)
        first = np.array([self._rows - 1 - row for row, _ in pairs], np.int64)
        second = np.array([self._columns - 1 - column for _, column in pairs], np.int64)
        return first, second

    def _from(self, row: int) -> int:
        return max(0, row + self._low)

    def _to(self, row: int) -> int:
        return min(self._columns, row + self._high) + 1

    def _top(self) -> tuple[Floats, Floats]:
        """Return row 0: the best scores, and those of ways that end in a gap downwards."""
        best = np.full(self._columns + 1, _NEVER)
        stop = self._to(0)
        best[:stop] = -self._along_open[0] - self._along_close[:stop]
        best[0] = 0
        return best, np.full(self._columns + 1, _NEVER)

    def _run(
        self,
        state: tuple[Floats, Floats],
        start: int,
        stop: int,
        kept: npt.NDArray[np.uint8] | None,
    ) -> tuple[Floats, Floats]:
        """Compute rows start + 1 to stop from row ``start``; keep their directions if requested."""
        best, down = state[0].copy(), state[1].copy()
        for row in range(start, stop):
            low, high = self._from(row + 1), self._to(row + 1)
            opened = best[low:high] - self._down_open[row]
            opens = opened > down[low:high]
            going = np.maximum(opened, down[low:high]) - self._down_extend
            here = going - self._down_close[row + 1]
            # Columns from `first` on can be met diagonally.
            first = max(low, 1)
            met = best[first - 1 : high - 1] + self._scores(row, first, high)
            inner = here[first - low :]
            is_down = inner > met
            np.maximum(inner, met, out=inner)
            starts = here - self._along_open[low:high]
            reached = np.maximum.accumulate(starts)
            along = reached[:-1] - self._along_close[low + 1 : high]
            is_along = along > here[1:]
            np.maximum(here[1:], along, out=here[1:])
            best[low:high], down[low:high] = here, going
            if kept is not None:
                line = kept[row - start, : high - low]
                line[: first - low] = _DOWN
                line[first - low :] = is_down * np.uint8(_DOWN)
                line[1:][is_along] = _ALONG
                line |= opens * np.uint8(_DOWN_OPENS)
                line[1:] |= (starts[:-1] >= reached[:-1]) * np.uint8(_ALONG_OPENS)
        return best, down

    def _scores(self, row: int, first: int, high: int) -> Floats:
        """Return the scores of the place of a row with those of columns first to high."""
        columns = self._columns
        return self._between(self._rows - 1 - row, columns - high + 1, columns - first + 1)[::-1]

    def _walk(
        self, start: int, stop: int, column: int, state: int, pairs: list[tuple[int, int]]
    ) -> tuple[int, int]:
        """Follow the directions of some rows upwards; return where they are left."""
        row = stop
        while row > start and column > 0:
            cell = int(self._kept[row - start - 1, column - self._from(row)])
            if state == 0:
                state = cell & (_DOWN | _ALONG)
                if state == 0:
                    row, column = row - 1, column - 1
                    pairs.append((row, column))
            elif state == _DOWN:
                row -= 1
                state = 0 if cell & _DOWN_OPENS else _DOWN
            else:
                column -= 1
                state = 0 if cell & _ALONG_OPENS else _ALONG
        return column, state
