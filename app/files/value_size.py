"""The memory that a value holds, about: so that what is kept is bounded by bytes."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Collection, Iterable, Iterator

import numpy as np

#: Of longer collections so many items are looked at, evenly, for all.
_LOOKED_AT = 200


def byte_size(value: object, elsewhere: Iterable[object] = ()) -> int:
    """Return about how many bytes a value and all it refers to hold; what is shared counts once.

    Objects ``elsewhere`` do not count, nor what only they refer to.
    """
    return _size(value, {id(other) for other in elsewhere} - {id(value)})


def _size(value: object, seen: set[int]) -> int:
    if id(value) in seen:
        return 0
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        return value.nbytes
    own = sys.getsizeof(value, 64)
    if isinstance(value, (str, bytes, int, float, type)):
        return own
    return own + sum(_sizes_of(part, seen) for part in _parts(value))


def _parts(value: object) -> Iterator[Collection[object]]:
    if isinstance(value, dict):
        yield value.keys()
        yield value.values()
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield value
    elif dataclasses.is_dataclass(value):
        yield [getattr(value, field.name) for field in dataclasses.fields(value)]
    else:
        # A mapping or sequence of ours would make its items anew: what it holds is in here.
        yield list(getattr(value, "__dict__", {}).values())


def _sizes_of(items: Collection[object], seen: set[int]) -> int:
    if len(items) <= _LOOKED_AT:
        return sum(_size(item, seen) for item in items)
    step = len(items) // _LOOKED_AT
    looked_at = [item for i, item in enumerate(items) if i % step == 0]
    return round(sum(_size(item, seen) for item in looked_at) * len(items) / len(looked_at))
