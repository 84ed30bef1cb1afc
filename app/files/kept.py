"""Values computed once and kept while there is room."""

from __future__ import annotations

import gc
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from types import FunctionType, ModuleType
from typing import TypeVar

import numpy as np

_T = TypeVar("_T")

Key = tuple[object, ...]

#: What is kept of all files, in bytes. The page of a graph of 100,000 nodes takes 190 MB: what is
#: read of it 120, its analysis 30, answers 40; each more of its launches in the timeline 8.
KEPT_BYTES = 256_000_000
#: However small they are: to look through them takes time.
KEPT_VALUES = 2_000


class _Place:
    """Room for one value, and the lock of who builds it."""

    __slots__ = ("bytes", "is_built", "lock", "value")

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.is_built = False
        self.value: object = None
        self.bytes = 0


class Kept:
    """Values by key, each built on first demand by one thread.

    Those not used for longest make room for new ones; the newest is kept however large it is.
    A value being built is not released.

    Attributes
    ----------
    bytes
        What they hold, about (:func:`byte_size`).
    """

    def __init__(self) -> None:
        self._places: OrderedDict[Key, _Place] = OrderedDict()
        self._lock = threading.Lock()
        self.bytes = 0

    def value(self, key: Key, build: Callable[[], _T]) -> _T:
        """Return the value of a key; what ``build`` raises is raised, and nothing kept."""
        with self._lock:
            place = self._places.setdefault(key, _Place())
            self._places.move_to_end(key)
        with place.lock:
            if not place.is_built:
                try:
                    value = build()
                except BaseException:
                    self._drop(key, place)
                    raise
                self._fill(key, place, value)
            return place.value  # type: ignore[return-value]

    def forget(self, outdated: Callable[[Key], bool]) -> None:
        """Release the values whose key is outdated."""
        with self._lock:
            for key in [key for key in self._places if outdated(key)]:
                self.bytes -= self._places.pop(key).bytes

    def _drop(self, key: Key, place: _Place) -> None:
        with self._lock:
            if self._places.get(key) is place:
                del self._places[key]

    def _fill(self, key: Key, place: _Place, value: object) -> None:
        with self._lock:
            kept = [other.value for other in self._places.values() if other.is_built]
        # What is kept on its own, such as the tree that levels are cut from, is counted there.
        size = byte_size(value, kept)
        place.value, place.is_built = value, True
        with self._lock:
            if self._places.get(key) is not place:
                return  # forgotten meanwhile: for those who wait for it, not for later
            place.bytes = size
            self.bytes += size
            self._places.move_to_end(key)
            self._make_room(key)

    def _make_room(self, newest: Key) -> None:
        for key, place in list(self._places.items()):
            if self.bytes <= KEPT_BYTES and len(self._places) <= KEPT_VALUES:
                return
            if place.is_built and key != newest:
                self.bytes -= self._places.pop(key).bytes


#: What a value refers to that is the program's, not its own.
_PROGRAM = (type, FunctionType, ModuleType)


def byte_size(value: object, elsewhere: Iterable[object] = ()) -> int:
    """Return about how many bytes a value and all it refers to hold; what is shared counts once.

    Objects ``elsewhere`` do not count, nor what only they refer to.
    """
    seen = {id(other) for other in elsewhere} - {id(value)}
    parts, total = [value], 0
    while parts:
        part = parts.pop()
        if id(part) not in seen and not isinstance(part, _PROGRAM):
            seen.add(id(part))
            total += part.nbytes if isinstance(part, np.ndarray) else sys.getsizeof(part)
            parts += gc.get_referents(part)
    return total
