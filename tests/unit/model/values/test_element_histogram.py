"""Histogram of the elements of kept contents."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gviz.cuda import ElementType
from gviz.model import HISTOGRAM_PARTS, read_histogram


@pytest.mark.parametrize(
    ("elements", "expected"),
    [
        (np.arange(32.0), [2] * 16),
        (np.array([0.0, 16.0, 15.9, 8.0]), [1, *[0] * 7, 1, *[0] * 6, 2]),
        (np.array([np.nan, 3.0, np.inf, 3.0]), [2, *[0] * 15]),
        (np.array([-1.7e308, 1.7e308, 0.0]), [1, *[0] * 7, 1, *[0] * 6, 1]),
        (np.array([np.nan, -np.inf]), None),
    ],
    ids=["even", "ends", "equal", "greatest", "none finite"],
)
def test_elements_are_counted_by_size(
    tmp_path: Path, elements: np.ndarray, expected: list[int] | None
) -> None:
    kept = tmp_path / f"{0:016x}-{elements.nbytes}-0-{int(ElementType.DOUBLE)}.npy"
    np.save(kept, elements)
    found = read_histogram(kept)
    assert (None if found is None else list(found)) == expected
    assert found is None or len(found) == HISTOGRAM_PARTS


def test_file_that_cannot_be_read_has_none(tmp_path: Path) -> None:
    kept = tmp_path / f"{0:016x}-8-0-{int(ElementType.DOUBLE)}.npy"
    kept.write_bytes(b"")
    assert read_histogram(kept) is None
