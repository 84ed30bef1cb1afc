"""Quantiles of what is known in each column."""

from __future__ import annotations

import numpy as np
import pytest

from gviz.stats import known_quantiles


@pytest.mark.parametrize("share", [0.0, 0.5, 0.95, 1.0])
def test_they_are_numpys(share: float) -> None:
    random = np.random.default_rng(1)
    values = random.normal(size=(40, 60))
    values[random.random(values.shape) < 0.4] = np.nan
    wanted = np.nanquantile(values, share, axis=0)
    assert known_quantiles(values, share) == pytest.approx(wanted, rel=1e-12)


def test_columns_of_which_nothing_is_known_have_none() -> None:
    assert np.isnan(known_quantiles(np.full((3, 2), np.nan))).all()
    assert np.isnan(known_quantiles(np.zeros((0, 2)))).all()
