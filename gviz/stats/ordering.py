"""Rows in order of several columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def is_ascending(keys: Sequence[npt.NDArray[np.number[Any]]]) -> bool:
    """Return whether rows follow each other by the first of some columns, then by the next.

    Parameters
    ----------
    keys
        Columns of one length, at least one; none holds NaN.
    """
    import numpy as np

    equal = np.ones(max(len(keys[0]) - 1, 0), bool)
    for key in keys:
        if (equal & (key[1:] < key[:-1])).any():
            return False
        equal &= key[1:] == key[:-1]
    return True


def order_of_rows(keys: Sequence[npt.NDArray[np.number[Any]]]) -> npt.NDArray[np.int64]:
    """Return the order of rows by the first of some columns, then by the next (int64).

    Parameters
    ----------
    keys
        Columns of one length, at least one, the first with few equal values: only rows that
        share one are sorted by the others.
    """
    import numpy as np

    order = np.argsort(keys[0])
    first = keys[0][order]
    equal = first[1:] == first[:-1]
    tied = np.flatnonzero(np.append(equal, False) | np.append(False, equal))
    if len(tied):
        rows = order[tied]
        order[tied] = rows[np.lexsort((rows, *(key[rows] for key in reversed(keys))))]
    return order
