"""Rows of a table found by an id, each read when it is requested."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

import numpy as np

from gviz.stats import IntArray

_R = TypeVar("_R")


class RowTable(Mapping[int, _R]):
    """A mapping from ids to rows.

    Parameters
    ----------
    ids
        int64, increasing: one a row.
    fetch
        Reads the row of an id, in any thread.
    """

    def __init__(self, ids: IntArray, fetch: Callable[[int], _R]) -> None:
        self.ids = ids
        self._fetch = fetch

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[int]:
        return iter(self.ids.tolist())

    def __contains__(self, key: object) -> bool:
        return isinstance(key, int) and self.index_of(key) is not None

    def __getitem__(self, key: int) -> _R:
        if key not in self:
            raise KeyError(key)
        return self._fetch(key)

    def index_of(self, key: int) -> int | None:
        """Return where an id stands among :attr:`ids`; None: it is not there."""
        at = int(np.searchsorted(self.ids, key))
        return at if at < len(self.ids) and self.ids[at] == key else None
