"""Maps of ranks by layer: what they show of many ranks in few rows."""

from __future__ import annotations

import numpy as np

from gviz.fleet.answers.heat_map import draw_map


def ranks(count: int) -> list[str]:
    return [str(at) for at in range(count)]


def test_a_small_fleet_has_a_row_a_rank() -> None:
    values = np.array([[0.0, 0.5], [np.nan, -0.25], [0.1, np.nan]])
    found = draw_map(ranks(3), ["layer 0", "layer 1"], values)
    assert (found.rows, found.columns) == (("0", "1", "2"), ("layer 0", "layer 1"))
    np.testing.assert_array_equal(found.values, values)
    assert found.rank[2, 0] == 2


def test_a_part_has_its_largest_value_and_the_rank_that_has_it() -> None:
    values = np.zeros((10_000, 200))
    values[7_123, 55] = 0.4
    values[:40] = np.nan
    found = draw_map(ranks(10_000), [f"layer {at}" for at in range(200)], values, (100, 50))
    assert found.values.shape == (100, 50)
    assert np.argwhere(found.values > 0).tolist() == [[71, 13]]
    assert found.rank[71, 13] == 7_123
    assert (found.rows[71], found.columns[13]) == ("7100–7199", "layer 52–layer 55")
    assert not np.isnan(found.values).any()  # ranks beside those without times have some


def test_a_part_of_which_nothing_is_known_is_empty() -> None:
    found = draw_map(ranks(4), ["layer 0"], np.full((4, 1), np.nan), (2, 1))
    assert np.isnan(found.values).all()
