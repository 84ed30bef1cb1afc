"""Dataclasses of gviz against those of the standard library, of the same definitions."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import field
from typing import Any

import pytest

from gviz.dataclass import deferred

#: What may be said of a class.
ARGUMENTS = [
    {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "kw_only": True},
    {"frozen": True},
    {"slots": True},
    {},
]


def _defined(
    dataclass: Callable[..., Callable[[type], type]], **arguments: bool
) -> dict[str, type]:
    """Return classes of all that gviz uses of dataclasses, by name."""

    @dataclass(**arguments)
    class Point:
        """Two values."""

        x: int
        y: int

    @dataclass(**arguments)
    class Named(Point):
        name: str = "point"
        tags: list[str] = field(default_factory=list)

    @dataclass(**arguments)
    class Partly:
        shown: int
        hidden: int = field(default=0, repr=False)
        aside: int = field(default=0, compare=False)

    @dataclass(**arguments)
    class Checked:
        value: int
        other: int = field(default=1, kw_only=True)
        twice: int = field(init=False)
        made: dict[str, int] = field(init=False, default_factory=dict, compare=False)
        fixed: str = field(init=False, default="fixed")

        def __post_init__(self) -> None:
            if self.value < 0:
                raise ValueError(f"{self.value} is below 0")
            object.__setattr__(self, "twice", 2 * self.value)

    @dataclass(**arguments)
    class Own:
        value: object

        def __repr__(self) -> str:
            return f"<{self.value}>"

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own) and str(self.value) == str(other.value)

    @dataclass(**arguments)
    class Hashed:
        value: object

        def __init__(self, *, half: float) -> None:
            object.__setattr__(self, "value", half * 2)

        def __hash__(self) -> int:
            return 7

    @dataclass(**arguments)
    class Nothing:
        pass

    return {cls.__name__: cls for cls in (Point, Named, Partly, Checked, Own, Hashed, Nothing)}


#: Class and arguments: what each makes, or how it refuses them.
CALLS: list[tuple[str, tuple[object, ...], dict[str, object]]] = [
    ("Point", (1, 2), {}),
    ("Point", (1,), {"y": 2}),
    ("Point", (), {"x": 1, "y": 2}),
    ("Point", (), {"x": 1}),
    ("Point", (), {}),
    ("Point", (), {"x": 1, "y": 2, "z": 3}),
    ("Point", (1, 2, 3), {}),
    ("Named", (1, 2), {}),
    ("Named", (), {"x": 1, "y": 2}),
    ("Named", (), {"x": 1, "y": 2, "name": "a", "tags": ["b"]}),
    ("Partly", (), {"shown": 1, "hidden": 2, "aside": 3}),
    ("Checked", (), {"value": 3}),
    ("Checked", (), {"value": 3, "other": 2}),
    ("Checked", (), {"value": -1}),
    ("Checked", (), {"value": 1, "twice": 3}),
    ("Own", (), {"value": "a"}),
    ("Own", (), {"value": float("nan")}),
    ("Hashed", (), {"half": 2.0}),
    ("Hashed", (), {}),
    ("Nothing", (), {}),
]


def _outcome(make: Callable[[], object]) -> str:
    """Return what a call gives, in words."""
    try:
        return str(make())
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=str)
@pytest.mark.parametrize(("name", "values", "named"), CALLS, ids=str)
def test_objects_are_those_of_the_standard_library(
    name: str, values: tuple[object, ...], named: dict[str, object], arguments: dict[str, bool]
) -> None:
    ours, theirs = (_defined(maker, **arguments) for maker in (deferred, dataclasses.dataclass))
    for _ in range(2):  # the first object and a later one
        seen = []
        for cls in (ours[name], theirs[name]):
            facts = [_outcome(lambda cls=cls: cls(*values, **named))]
            if ": " not in facts[0]:
                facts += _facts(cls(*values, **named), cls(*values, **named))
            seen.append(facts)
        assert seen[0] == seen[1]
    assert ours[name].__match_args__ == theirs[name].__match_args__
    assert ours[name].__name__ == theirs[name].__name__


def _facts(made: Any, same: Any) -> list[str]:
    """Return what is seen of an object and of one that was made alike."""
    names = [f.name for f in dataclasses.fields(made)]
    given = [f.name for f in dataclasses.fields(made) if f.init]
    facts = [repr(made), str(made == same), str(made != same), str(made == tuple(names))]
    facts += [_outcome(lambda: hash(made) == hash(same)), _outcome(lambda: {made: 1}[same])]
    facts += [_outcome(lambda: dataclasses.asdict(made)), str(hasattr(made, "__dict__"))]
    facts += [_outcome(lambda: copy.copy(made)), _outcome(lambda: copy.deepcopy(made) == made)]
    for name in names:
        facts.append(_outcome(lambda name=name: dataclasses.replace(made, **{name: 8})))
        facts.append(_outcome(lambda name=name: dataclasses.replace(made, **{name: 8}) == made))
    for name in given[:1]:
        facts.append(_outcome(lambda name=name: setattr(same, name, 9)))
        facts.append(_outcome(lambda name=name: delattr(same, name)))
    return [*facts, _outcome(lambda: repr(same))]


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=str)
def test_what_is_no_argument_of_a_field_counts_as_the_standard_library_has_it(
    arguments: dict[str, bool],
) -> None:
    nan = float("nan")
    for maker in (deferred, dataclasses.dataclass):
        classes = _defined(maker, **arguments)
        partly, point = classes["Partly"], classes["Point"]
        assert partly(shown=1, aside=1) == partly(shown=1, aside=2)
        assert partly(shown=1, hidden=1) != partly(shown=1, hidden=2)
        assert point(x=nan, y=1) == point(x=nan, y=1)  # the same object, as in tuples
        assert point(x=1, y=2) != classes["Named"](x=1, y=2)
        named = classes["Named"]
        assert named(x=1, y=2).tags is not named(x=1, y=2).tags


@pytest.mark.parametrize("arguments", [a for a in ARGUMENTS if a.get("frozen")], ids=str)
def test_a_frozen_object_takes_no_other_attribute(arguments: dict[str, bool]) -> None:
    point = _defined(deferred, **arguments)["Point"](x=1, y=2)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'strange'"):
        point.strange = 1  # type: ignore[attr-defined]


def test_an_object_that_holds_itself_is_shown() -> None:
    named = _defined(deferred, slots=True)["Named"](1, 2)
    named.tags.append(named)
    assert repr(named).endswith("name='point', tags=[...])")


@deferred(frozen=True, slots=True)
class Kept:
    """Found again by its name."""

    value: int
    more: tuple[int, ...] = ()


@deferred(frozen=True)
class Loose(Kept):
    """Not of slots alone."""

    name: str = "a"


@pytest.mark.parametrize("made", [Kept(1, (2, 3)), Loose(1, name="b")])
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_what_was_pickled_is_equal(made: Kept, protocol: int) -> None:
    again = pickle.loads(pickle.dumps(made, protocol))
    assert again is not made
    assert (again, repr(again), hash(again)) == (made, repr(made), hash(made))


def test_a_class_may_be_called_by_one_that_inherits_from_it() -> None:
    class Doubled(Kept):  # no dataclass
        def __init__(self, value: int) -> None:
            super().__init__(2 * value)

    assert [Doubled(3).value, Doubled(4).value] == [6, 8]


def test_only_what_is_made_is_compiled() -> None:
    program = """
from gviz.dataclass import deferred
@deferred(frozen=True, slots=True)
class A:
    x: int
@deferred(frozen=True, slots=True)
class B:
    x: int
before = A.__init__, B.__init__
A(1)
assert A.__init__ is not before[0]
assert B.__init__ is before[1]
"""
    subprocess.run([sys.executable, "-P", "-c", program], check=True)
