"""Fields of results: what each number is, and whether it was measured, derived or estimated.

Results are dataclasses whose fields are made with :func:`figure`. The documentation of the JSON
(docs/analysis.md) is written from them, and the JSON itself says of every number how it came
about.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import types
import typing
from collections.abc import Iterator
from enum import Enum
from typing import Any, Literal, get_args

from gviz.dataclass import dataclass

#: ``measured``: read from the recording. ``derived``: follows from measured numbers by arithmetic
#: alone. ``estimated``: rests on an assumption that the documentation names. ``stated``: no
#: measurement, such as an id, a name or a limit.
How = Literal["measured", "derived", "estimated", "stated"]

#: Types of values that JSON has as they are.
_PLAIN = frozenset({str, int, bool, type(None)})


@dataclass(frozen=True, slots=True)
class NotComputed:
    """Stands where a result would, and says why there is none."""

    not_computed: str


def figure(how: How, doc: str, *, default: Any = dataclasses.MISSING) -> Any:
    """Describe a field of a result.

    Parameters
    ----------
    how
        How its numbers came about.
    doc
        What it means; of a field that holds further results, what they are of.
    """
    if how not in get_args(How):
        raise ValueError(f"{how!r} is none of {get_args(How)}")
    return dataclasses.field(default=default, metadata={"how": how, "doc": doc})


def apart(doc: str) -> Any:
    """Describe a field of a result that is for programs alone: the JSON has not got it."""
    return dataclasses.field(default=(), repr=False, metadata={"apart": True, "doc": doc})


def _shown_fields(cls: type) -> list[dataclasses.Field[Any]]:
    return [field for field in dataclasses.fields(cls) if not field.metadata.get("apart")]


def to_json(value: Any) -> Any:
    """Return results as JSON values: arrays as lists, whole floats as integers, NaN as null."""
    kind: Any = type(value)
    if kind in _PLAIN:
        return value
    names = _field_names(kind)
    if names is not None:
        return {name: to_json(getattr(value, name)) for name in names}
    # By name: whoever imports this module for its types alone does not load numpy.
    if kind.__module__ == "numpy" and kind.__name__ == "ndarray":
        return [to_json(v) for v in value.tolist()]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (list, tuple)):
        return [to_json(v) for v in value]
    if isinstance(value, dict):
        return {key: to_json(v) for key, v in value.items()}
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return int(value) if value.is_integer() else value
    return value


@functools.cache
def _field_names(cls: type) -> tuple[str, ...] | None:
    """Return the fields of a dataclass; None: it is none. Results name nodes by the 100,000."""
    if not dataclasses.is_dataclass(cls):
        return None
    return tuple(field.name for field in _shown_fields(cls))


def fields_of(cls: type) -> Iterator[tuple[str, How, str]]:
    """Yield name, how and meaning of the fields of a result class."""
    for found in _shown_fields(cls):
        yield found.name, found.metadata["how"], found.metadata["doc"]


def to_document(root: Any) -> dict[str, Any]:
    """Return a result as JSON values, with how each number came about under ``how``, by class."""
    found: dict[str, Any] = to_json(root)
    classes = result_classes(type(root))
    found["how"] = {cls.__name__: {name: how for name, how, _ in fields_of(cls)} for cls in classes}
    return found


def result_classes(root: type) -> Iterator[type]:
    """Yield the classes of a result, each before those of its fields."""
    seen: set[type] = set()
    waiting: list[type] = [root]
    while waiting:
        cls = waiting.pop(0)
        if cls in seen:
            continue
        seen.add(cls)
        if cls is not NotComputed:
            yield cls
        hints = typing.get_type_hints(cls)
        for field in _shown_fields(cls):
            waiting += _classes_in(hints[field.name])


def _classes_in(hint: Any) -> list[type]:
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return [hint]
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is not None:
        return [cls for inner in typing.get_args(hint) for cls in _classes_in(inner)]
    return []
