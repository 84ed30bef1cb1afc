"""Distributions of nodes' durations: as numpy counts them, however long they are."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np
import pytest

from gviz.app.inspector.spread import DurationSpread


def spread(*durations: list[int]) -> dict[str, list[Any]]:
    """Return the distributions of nodes with these durations."""
    found = DurationSpread(len(durations))
    nodes = np.repeat(np.arange(len(durations)), [len(x) for x in durations])
    order = np.random.default_rng(1).permutation(len(nodes))
    found.add(nodes[order], np.array([ns for x in durations for ns in x], np.int64)[order])
    return found.part(0, len(durations))


@pytest.mark.parametrize(
    "durations",
    [
        [*range(1_000, 1_040)],
        [5_000] * 40,
        # Floating point numbers of this size are 512 apart.
        [2**61 - n for n in range(40)],
        [2**61] * 39 + [1],
        [3, 9, 27, 81, 243],
        np.random.default_rng(7).integers(900, 2_000, 131).tolist(),
    ],
)
def test_bins_are_those_of_numpy(durations: list[int]) -> None:
    # Beside others of the same count, and of another one.
    found = spread([*range(40)], durations, [7] * 6)
    above = np.array(durations) - min(durations)
    expected, _ = np.histogram(above, bins=min(40, max(8, len(durations) // 3)))
    assert found["counts"][1] == expected.tolist()
    assert found["shortest"][1] == min(durations)
    assert found["longest"][1] == max(durations)
    assert found["median"][1] == statistics.median(durations)


def test_few_spans_are_no_distribution() -> None:
    found = spread([1, 2, 3, 4], [], [1, 2, 3, 4, 5])
    assert found["counts"] == [None, None, [1, 0, 1, 0, 1, 0, 1, 1]]
    assert found["median"] == [None, None, 3.0]
    assert found["interval"] == [None, None, None]


def test_median_has_its_interval_by_ranks() -> None:
    # Of 8 values the second and the last, of 24 the eighth and the eighteenth.
    found = spread([*range(8)], [*range(24)], [*range(5)])
    assert found["interval"] == [[1, 7], [7, 17], None]
