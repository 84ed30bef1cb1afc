"""Sections side by side: where they begin, and columns that none shares with another."""

from __future__ import annotations

import numpy as np
import pytest

from gviz.dag.lanes import Cover, cover_graph
from gviz.layout.choice import place_graph
from gviz.layout.sections import section_breaks


def test_section_begins_where_the_one_before_has_ended() -> None:
    row = np.arange(6)
    assert section_breaks(row, np.array([4, 4, 4, 1, 1, 7])) == (3, 5)
    # What is in none stands with those around it.
    assert section_breaks(row, np.array([-1, 4, -1, -1, 1, -1])) == (4,)


def test_sections_that_share_rows_stand_together() -> None:
    row = np.array([0, 1, 1, 2, 3])
    assert section_breaks(row, np.array([0, 0, 1, 1, 2])) == (3,)
    assert section_breaks(row, np.array([0, 1, 1, 0, 2])) == (3,)
    assert section_breaks(row, np.array([0, 0, 0, 0, 0])) == ()
    assert section_breaks(row, np.full(5, -1)) == ()


@pytest.mark.parametrize("layers", [True, False])
@pytest.mark.parametrize("breaks", [(5,), (40,), (20, 41), (1, 2, 3)])
def test_no_column_has_nodes_of_two_sections(layers: bool, breaks: tuple[int, ...]) -> None:
    count = 60
    tail, head = np.arange(count - 1), np.arange(1, count)
    plain = cover_graph(count, tail, head)
    cover = Cover(plain.row, plain.chain, breaks)
    place = place_graph(count, tail, head, layers=layers, cover=cover)
    section = np.searchsorted(breaks, plain.row, side="right")
    sections = [set(section[place.column == column]) for column in np.unique(place.column)]
    assert all(len(one) == 1 for one in sections)
    # From left to right, and each from the top on.
    assert (np.diff([section[place.column == c].min() for c in np.unique(place.column)]) >= 0).all()
    assert {float(place.y[section == s].min()) for s in np.unique(section)} == {place.y.min()}
