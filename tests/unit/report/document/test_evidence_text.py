"""Words for the basis of figures."""

from __future__ import annotations

from gviz.report.document import spread_ends


def test_ends_that_look_alike_are_told_apart() -> None:
    assert spread_ends(1_040_000, 1_050_000) == "1.04 ms to 1.05 ms"
    assert spread_ends(15_200_000, 15_233_400) == "15.20 ms to 15.23 ms"
    assert spread_ends(17_000, 17_000) == "all alike"
