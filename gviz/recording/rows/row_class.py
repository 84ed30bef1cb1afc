"""Row classes, which every process of gviz defines and hardly one uses all of.

A frozen dataclass is compiled as it is defined: a third of a writer's own imports. A row class is a
dataclass all the same, to its fields, replace() and asdict(), whose ``__init__`` is compiled with
the first row, and whose other methods all row classes share.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass
from functools import cache
from operator import attrgetter
from typing import Any, NoReturn, TypeVar

_T = TypeVar("_T")


def row_class(cls: type[_T]) -> type[_T]:
    """Return a class as a frozen dataclass with slots, whose fields are given by name."""
    for name, method in _METHODS.items():
        setattr(cls, name, method)
    return dataclass(slots=True, kw_only=True, init=False, repr=False, eq=False)(cls)


# -- inner -------------------------------------------------------------------------------


def _init(self: Any, **values: Any) -> None:
    cls = type(self)
    cls.__init__ = _compiled_init(cls)
    cls.__init__(self, **values)


def _repr(self: Any) -> str:
    shown = (f"{name}={getattr(self, name)!r}" for name in _names(type(self)))
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _eq(self: Any, other: object) -> Any:
    if type(other) is not type(self):
        return NotImplemented
    return _values(self) == _values(other)


def _hash(self: Any) -> int:
    return hash(_values(self))


def _setattr(self: Any, name: str, value: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delattr(self: Any, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _reduce(self: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    cls = type(self)
    return _row_of, (cls, [getattr(self, name) for name in _names(cls)])


_METHODS: dict[str, Callable[..., Any]] = {
    "__init__": _init,
    "__repr__": _repr,
    "__eq__": _eq,
    "__hash__": _hash,
    "__setattr__": _setattr,
    "__delattr__": _delattr,
    "__reduce__": _reduce,
}


def _row_of(cls: type, values: list[Any]) -> Any:
    return cls(**dict(zip(_names(cls), values, strict=True)))


def _names(cls: type) -> tuple[str, ...]:
    return tuple(cls.__dataclass_fields__)  # type: ignore[attr-defined]


def _values(row: object) -> Any:
    """Return a row's values as a tuple; of a class with one field its value."""
    cls: type = type(row)
    return _getter(cls)(row)


@cache
def _getter(cls: type) -> Callable[[Any], Any]:
    return attrgetter(*_names(cls))


def _compiled_init(cls: type) -> Any:
    """Return the ``__init__`` of a row class: its slots are set, past the ``__setattr__``."""
    names = _names(cls)
    lines = [f"    set_{name}(self, {name})" for name in names]
    space: dict[str, Any] = {f"set_{name}": getattr(cls, name).__set__ for name in names}
    exec("\n".join([f"def __init__(self, *, {', '.join(names)}):", *lines]), space)
    init = space["__init__"]
    defaults = {f.name: f.default for f in dataclasses.fields(cls)}
    init.__kwdefaults__ = {n: v for n, v in defaults.items() if v is not dataclasses.MISSING}
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init
