"""Meanings of the columns of a data set's views."""

from __future__ import annotations

import pytest

from gviz.fleet import column_meanings, fleet_columns
from gviz.fleet.answers.view_columns import COMPUTED
from gviz.fleet.answers.views import VIEWS


@pytest.mark.parametrize("name", list(fleet_columns()))
def test_every_column_says_what_it_holds(name: str) -> None:
    columns = fleet_columns()[name]
    found = column_meanings(f"SELECT * FROM {name}", columns)
    assert list(found) == list(dict.fromkeys(columns))
    assert all(meaning.startswith(f"{name}: ") for meaning in found.values())


def test_what_a_view_computes_is_a_column_of_it() -> None:
    columns = {view.name: set(view.columns) for view in VIEWS}
    assert {view: set(found) - columns[view] for view, found in COMPUTED.items()} == {
        view: set() for view in columns
    }


def test_what_a_query_computes_or_does_not_name_has_no_meaning() -> None:
    assert column_meanings("SELECT rank AS r FROM ranks", ["r"]) == {}
    assert column_meanings("SELECT 1 AS rank", ["rank"]) == {}
