"""Agreement of two results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from gviz.collectors.comparing.agreement import find_differences, flatten


def nothing(value: Any) -> None:
    """No framework's arrays."""


@dataclass
class Output:
    loss: Any
    logits: Any


def differences(a: Any, b: Any, rtol: float = 1e-3, atol: float = 1e-5) -> list[str]:
    return find_differences(flatten(a, nothing), flatten(b, nothing), rtol=rtol, atol=atol)


def test_places_are_named_at_any_depth() -> None:
    value = (np.zeros(1), {"a": [2, Output(np.ones(1), None)]})
    assert [place for place, _ in flatten(value, nothing)] == [
        "result[0]",
        "result[1]['a'][0]",
        "result[1]['a'][1].loss",
    ]


def test_arrays_of_a_framework_are_requested_first() -> None:
    found = flatten({"x": "tensor"}, lambda v: np.arange(3) if v == "tensor" else None)
    assert found[0][0] == "result['x']"
    assert np.array_equal(found[0][1], np.arange(3))  # type: ignore[arg-type]


def test_arrays_are_copied() -> None:
    array = np.zeros(2)
    kept = flatten(array, nothing)
    array += 1
    assert find_differences(kept, flatten(array, nothing), rtol=0, atol=0)


#: (what, a, b, part of the sentence, None: they agree)
CASES: list[tuple[str, Any, Any, str | None]] = [
    ("equal", np.ones(3), np.ones(3), None),
    ("within tolerance", np.array([1.0]), np.array([1.0005]), None),
    ("NaN agrees with NaN", np.array([np.nan]), np.array([np.nan]), None),
    ("infinities", np.array([np.inf, -np.inf]), np.array([np.inf, -np.inf]), None),
    ("empty", np.zeros((0, 3)), np.zeros((0, 3)), None),
    ("nothing", None, None, None),
    ("text", "a", "b", "is 'a' by stream calls, 'b' as a graph"),
    ("unknown objects", object(), object(), None),
    ("one value", np.array([1.0, 2.0]), np.array([1.0, 5.0]), "1 of 2 values, by 3 at most"),
    ("NaN on one side", np.array([1.0]), np.array([np.nan]), "by not finite at most"),
    ("shape", np.zeros((2, 3)), np.zeros((3, 2)), "(2, 3) by stream calls, (3, 2) as a graph"),
    ("integers", np.array([1, 2]), np.array([1, 3]), "1 of 2 values"),
    ("unsigned", np.array([0], np.uint8), np.array([255], np.uint8), "by 255 at most"),
    ("truth", np.array([True]), np.array([False]), "1 of 1 values"),
    ("complex", np.array([1j]), np.array([2j]), "by 1 at most"),
    ("scalar", 3.0, 4.0, "1 of 1 values, by 1 at most"),
    ("kind", [1], {"a": 1}, "1 results on one side"),
    ("count", (1, 2), (1,), "2 results on one side, 1"),
]


@pytest.mark.parametrize(("a", "b", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_difference_is_reported_in_a_sentence(a: Any, b: Any, expected: str | None) -> None:
    found = differences(a, b)
    if expected is None:
        assert found == []
    else:
        (sentence,) = found
        assert expected in sentence


def test_many_differences_are_cut() -> None:
    found = differences(list(range(20)), list(range(1, 21)))
    assert len(found) == 9
    assert found[-1] == "and 12 more"
