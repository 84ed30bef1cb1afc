"""Columns of records: values that repeat stand once, and no number loses a digit."""

from __future__ import annotations

from gviz.app.components.coded import coded_column, coded_rows


def test_one_value_stands_once() -> None:
    assert coded_column(["a", "a"]) == {"same": "a"}
    assert coded_column([None]) == {"same": None}


def test_few_values_are_pointed_to() -> None:
    column = coded_column([1, None] * 8)
    assert column == {"values": [1, None], "codes": [0, 1] * 8}


def test_many_values_stand_as_they_are() -> None:
    assert coded_column([1, 2, None]) == {"values": [1, 2, None]}


def test_numbers_that_are_not_exact_in_javascript_are_digits() -> None:
    assert coded_column([2**53 + 1, None]) == {"large": True, "values": [str(2**53 + 1), None]}
    assert coded_column([-(2**60)]) == {"large": True, "same": str(-(2**60))}


def test_columns_of_which_nothing_is_known_are_left_out() -> None:
    assert coded_rows(["a", "b"], [(1, None), (2, None)]) == {"a": {"values": [1, 2]}}
    assert coded_rows(["a"], []) == {}
