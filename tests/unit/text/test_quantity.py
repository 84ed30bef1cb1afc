"""One table of cases for Python's formatter and for the browser's (tests/web/core)."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from gviz import text
from gviz.text import MISSING, at_quantities, counted, duration, percent

_TESTS = Path(__file__).parents[2]
_TABLE = json.loads(_TESTS.joinpath("quantities.json").read_text("utf-8"))
_IN_TEXT = json.loads(_TESTS.joinpath("quantities_in_text.json").read_text("utf-8"))


@pytest.mark.parametrize("form", _TABLE)
def test_quantities_are_as_in_the_table(form: str) -> None:
    write = getattr(text, form)
    assert [[value, write(value)] for value, _ in _TABLE[form]] == _TABLE[form]


@pytest.mark.parametrize("form", [name for name in _TABLE if name != "integer"])
def test_what_is_not_finite_is_missing(form: str) -> None:
    write = getattr(text, form)
    assert [write(math.nan), write(math.inf)] == [MISSING, MISSING]


@pytest.mark.parametrize(("whole", "parts"), _IN_TEXT)
def test_numbers_with_units_are_found_in_a_text(whole: str, parts: list[str]) -> None:
    assert at_quantities(whole) == parts


def test_one_is_not_several() -> None:
    assert counted(1, "body", "bodies") == "1 body"
    assert counted(2_503, "node") == "2,503 nodes"
    assert counted(0, "body", "bodies") == "0 bodies"


def test_limits_that_nearly_meet_have_more_digits() -> None:
    assert [duration(ns, 4) for ns in (999.6, 1_000, 12_345, 1e6 - 1)] == [
        "999.6 ns", "1.000 µs", "12.35 µs", "1.000 ms",
    ]  # fmt: skip
    assert [percent(x, places=2) for x in (0.05, 0.0504, 0.00001)] == ["5.00%", "5.04%", "<0.01%"]
