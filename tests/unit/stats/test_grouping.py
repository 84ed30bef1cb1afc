"""Distinct values and groups of columns."""

from __future__ import annotations

import numpy as np
import pytest

from gviz.stats import distinct_values


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.int64, np.uint64, np.float64])
@pytest.mark.parametrize("count", [0, 1, 2, 300])
@pytest.mark.parametrize("reach", [1, 7, 200])
def test_distinct_values_are_those_of_numpy(dtype: type, count: int, reach: int) -> None:
    values = np.random.default_rng(count + reach).integers(0, reach, count).astype(dtype)
    given = values.copy()
    found = distinct_values(values)
    assert found.dtype == values.dtype
    assert found.tolist() == np.unique(values).tolist()
    assert values.tolist() == given.tolist()


def test_rows_of_a_table_are_no_values() -> None:
    with pytest.raises(ValueError, match="broadcast"):
        distinct_values(np.zeros((3, 2), np.int64))
