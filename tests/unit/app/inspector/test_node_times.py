"""The inspector's histogram of a node's durations."""

from __future__ import annotations

import pytest
from dash import html

from gviz.app.inspector.node_times import histogram


def bars(durations: list[int]) -> list[html.Div]:
    """Return the bars of a histogram."""
    found = histogram(durations, "kernel")
    assert found is not None
    return [part for part in found._traverse() if getattr(part, "title", None)]


@pytest.mark.parametrize(
    "durations",
    [
        [*range(1_000, 1_040)],
        [5_000] * 40,
        # Floating point numbers of this size are 512 apart.
        [2**61 - n for n in range(40)],
        [2**61] * 39 + [1],
    ],
)
def test_every_span_is_in_a_bar(durations: list[int]) -> None:
    counted = [int(bar.title.split(": ")[1].split()[0].replace(",", "")) for bar in bars(durations)]
    assert sum(counted) == 40


def test_bars_reach_from_the_shortest_to_the_longest() -> None:
    found = bars([1_000 * n for n in range(1, 41)])
    assert found[0].title.startswith("1.00 ")
    assert "40.0 µs: " in found[-1].title
