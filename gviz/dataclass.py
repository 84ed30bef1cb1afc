"""Dataclasses whose methods are compiled when they are used, not when the class is defined.

The standard library compiles seven methods of a frozen dataclass as it is defined, in 0.45 ms; a
process of gviz defines up to 600 such classes and makes objects of few. Here the ``__init__`` is
compiled with a class's first object, and the other methods are the same of all classes: 0.04 ms.
To fields(), replace(), asdict(), copies and pickles the classes are dataclasses as any other.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError
from functools import cache
from operator import attrgetter
from reprlib import recursive_repr
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

_T = TypeVar("_T")


def deferred(
    *, frozen: bool = False, slots: bool = False, kw_only: bool = False
) -> Callable[[type[_T]], type[_T]]:
    """Return what makes a class a dataclass, as ``dataclasses.dataclass`` does of these arguments.

    What a class defines itself stays. A class and those that it inherits from are all made by this
    function, or all by the standard library's.
    """
    shared = _ALL | (_FROZEN if frozen else _CHANGED) | (_PICKLED if frozen and slots else {})

    def make(cls: type[_T]) -> type[_T]:
        own = {name for name, value in vars(cls).items() if (name, value) != ("__hash__", None)}
        if cls.__doc__ is None:
            cls.__doc__ = cls.__name__  # else the signature is looked up, which takes longest
        made = dataclasses.dataclass(  # noqa: TID251
            init=False, repr=False, eq=False, slots=slots, kw_only=kw_only
        )(cls)
        methods = {"__init__": _first_init(made)} | shared
        for name in methods.keys() - own:
            setattr(made, name, methods[name])
        return made

    return make


if TYPE_CHECKING:  # what type checkers know of dataclasses they know by this name
    from dataclasses import dataclass as dataclass  # noqa: TID251
else:
    dataclass = deferred


# -- inner -------------------------------------------------------------------------------


def _first_init(cls: Any) -> Callable[..., None]:
    def __init__(self: Any, *values: Any, **named: Any) -> None:
        cls.__init__ = _compiled_init(cls)
        cls.__init__(self, *values, **named)

    return __init__


def _compiled_init(cls: type) -> Callable[..., None]:
    """Return the ``__init__`` of a class: slots are set past the ``__setattr__``."""
    space: dict[str, Any] = {"of_factory": object(), "set_any": object.__setattr__}
    lines: list[str] = []
    places: list[str] = []
    names: list[str] = []
    for field in dataclasses.fields(cls):
        name, value = field.name, field.name
        if field.default_factory is not MISSING:
            space[f"make_{name}"] = field.default_factory
            value = f"make_{name}() if {name} is of_factory else {name}"
        if field.init:
            (names if field.kw_only else places).append(_parameter(field, space))
        elif field.default_factory is not MISSING:
            value = f"make_{name}()"
        elif field.default is not MISSING:
            space[f"default_{name}"] = field.default
            value = f"default_{name}"
        else:  # the class sets it
            continue
        slot = getattr(cls, name, None)
        if isinstance(slot, MemberDescriptorType):
            space[f"set_{name}"] = slot.__set__
            lines.append(f"    set_{name}(self_, {value})")
        else:
            lines.append(f"    set_any(self_, '{name}', {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("    self_.__post_init__()")
    parameters = ", ".join(["self_", *places, *(["*"] if names else []), *names])
    exec("\n".join([f"def __init__({parameters}):", *lines, "    return"]), space)
    init: Callable[..., None] = space["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


def _parameter(field: dataclasses.Field[Any], space: dict[str, Any]) -> str:
    if field.default_factory is not MISSING:
        return f"{field.name}=of_factory"
    if field.default is MISSING:
        return field.name
    space[f"default_{field.name}"] = field.default
    return f"{field.name}=default_{field.name}"


@recursive_repr()
def _repr(self: Any) -> str:
    shown = (f"{f.name}={getattr(self, f.name)!r}" for f in dataclasses.fields(self) if f.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _eq(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    compared = _compared(self.__class__)
    return compared(self) == compared(other)


def _hash(self: Any) -> int:
    return hash(_hashed(self.__class__)(self))


def _setattr(self: Any, name: str, value: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delattr(self: Any, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _setstate(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


_ALL: dict[str, Any] = {"__repr__": _repr, "__eq__": _eq}
_FROZEN: dict[str, Any] = {"__hash__": _hash, "__setattr__": _setattr, "__delattr__": _delattr}
_CHANGED: dict[str, Any] = {"__hash__": None}
_PICKLED: dict[str, Any] = {"__getstate__": _getstate, "__setstate__": _setstate}


@cache
def _compared(cls: type) -> Callable[[Any], Any]:
    return _tuple_of([f.name for f in dataclasses.fields(cls) if f.compare])


@cache
def _hashed(cls: type) -> Callable[[Any], Any]:
    fields = dataclasses.fields(cls)
    return _tuple_of([f.name for f in fields if (f.compare if f.hash is None else f.hash)])


def _tuple_of(names: list[str]) -> Callable[[Any], Any]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda row: tuple(getattr(row, name) for name in names)
