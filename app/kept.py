"""Values computed once and kept while there is room."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")

Key = tuple[object, ...]

#: A timeline of 5,000 nodes takes about 0.1 MB compressed, a graph's rows a few MB.
_KEPT_VALUES = 200


class _Place:
    """Room for one value, and the lock of who builds it."""

    __slots__ = ("built", "lock", "value")

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.built = False
        self.value: object = None


class Kept:
    """Values by key, each built on first demand by one thread.

    Those not used for longest make room for new ones.
    """

    def __init__(self) -> None:
        self._places: OrderedDict[Key, _Place] = OrderedDict()
        self._lock = threading.Lock()

    def value(self, key: Key, build: Callable[[], _T]) -> _T:
        """Return the value of a key; what ``build`` raises is raised, and nothing kept."""
        with self._lock:
            place = self._places.setdefault(key, _Place())
            self._places.move_to_end(key)
            if len(self._places) > _KEPT_VALUES:
                self._places.popitem(last=False)
        with place.lock:
            if not place.built:
                place.value = build()
                place.built = True
            return place.value  # type: ignore[return-value]

    def forget(self, outdated: Callable[[Key], bool]) -> None:
        """Let go of the values whose key is outdated."""
        with self._lock:
            for key in [key for key in self._places if outdated(key)]:
                del self._places[key]
