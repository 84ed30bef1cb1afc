"""Fields of results, and what of them stands in the JSON."""

from __future__ import annotations

from dataclasses import dataclass

from gviz.stats import apart, figure, to_document


@dataclass(frozen=True, slots=True)
class Arrays:
    """For programs alone: no field says how it came about."""

    low: float


@dataclass(frozen=True, slots=True)
class Result:
    """A result with something apart."""

    length_ns: float = figure("measured", "its length")
    arrays: tuple[Arrays, ...] = apart("of all")


def test_what_stands_apart_is_in_no_json() -> None:
    found = to_document(Result(2.0, (Arrays(1.0),)))
    assert found == {"length_ns": 2, "how": {"Result": {"length_ns": "measured"}}}
