"""Rows as columns: what is not known, and what may be negative."""

from __future__ import annotations

import numpy as np
import pytest

from gviz.errors import RecordingError
from gviz.recording import rows, table_of
from gviz.runs import blank_rows, integers, row_dtype
from gviz.runs.row_columns import row_values
from gviz.stats import UNKNOWN


def test_columns_are_those_of_the_table() -> None:
    assert row_dtype(rows.Node).names == tuple(c.name for c in table_of(rows.Node).columns)


def test_rows_that_are_not_given_have_their_defaults() -> None:
    (launch,) = blank_rows(rows.Launch, 1, graph_id=3)
    assert (launch["graph_id"], launch["span_count"], launch["node_method"]) == (3, 0, None)
    assert (launch["thread_id"], launch["graph_exec_id"]) == (UNKNOWN, UNKNOWN)


def test_column_that_no_row_has_is_an_error() -> None:
    with pytest.raises(TypeError, match="no such column: colour"):
        blank_rows(rows.Launch, 1, colour=1)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"priority": -1, "device_id": 0, "occupancy_fraction": 0.5, "stack_reason": "none"},
        {"priority": 0, "exec_node_id": 7, "memset_value": 2**32 - 1, "bytes": 2**60},
    ],
    ids=["unknown", "negative priority", "large"],
)
def test_values_of_columns_are_those_of_the_rows(given: dict[str, object]) -> None:
    given = {"graph_id": 1, "node_id": 2, "exec_node_id": None, "type": 0, "name": "a"} | given
    row = rows.Node(**given)  # type: ignore[arg-type]
    columns = {name: [value] for name, value in given.items() if value is not None}
    (values,) = row_values(rows.Node, blank_rows(rows.Node, 1, **columns))
    assert values == tuple(getattr(row, c.name) for c in table_of(rows.Node).columns)


def test_number_of_a_damaged_file_is_refused_in_words() -> None:
    with pytest.raises(RecordingError, match="cannot be stored"):
        integers([5, 2**63])


def test_rows_of_several_pieces_come_in_order() -> None:
    count = 40_000
    launches = blank_rows(rows.Launch, count, ordinal=np.arange(count), thread_id=7)
    launches["thread_id"][count - 1] = UNKNOWN
    values = list(row_values(rows.Launch, launches))
    names = [c.name for c in table_of(rows.Launch).columns]
    ordinal, thread = names.index("ordinal"), names.index("thread_id")
    assert [v[ordinal] for v in values] == list(range(count))
    assert (values[-2][thread], values[-1][thread]) == (7, None)
