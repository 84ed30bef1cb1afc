"""Columns of integers come back as they were."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gviz.errors import RecordingError
from gviz.recording.int_column import decode, encode

_VALUE = st.integers(-(2**63), 2**63 - 1) | st.integers(-1, 300)


@given(st.lists(_VALUE, max_size=200), st.booleans())
def test_column_comes_back(values: list[int], differences: bool) -> None:
    column = np.array(values, np.int64)
    found = decode(encode(column, differences=differences))
    assert found.dtype == np.int64
    assert found.tolist() == values


@given(st.lists(_VALUE, max_size=20), st.integers(0, 40))
def test_blob_cut_short_is_refused(values: list[int], length: int) -> None:
    blob = encode(np.array(values, np.int64))
    if length < len(blob):
        with pytest.raises(RecordingError, match="damaged"):
            decode(blob[:length])


def test_host_starts_of_even_launches_take_about_two_bytes_each() -> None:
    rng = np.random.default_rng(1)
    starts = 1_790_000_000_000_000_000 + np.cumsum(rng.integers(9_000, 11_000, 31_250))
    assert len(encode(starts, differences=True)) < 2 * len(starts)
