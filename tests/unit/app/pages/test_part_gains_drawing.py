"""Bars of share of time beside bars of what 10% off brings."""

from __future__ import annotations

import json

from gviz.app.pages.report.drawings import _part_gains
from gviz.report import Bar, Drawing
from gviz.report.document import share


def test_bar_of_gain_is_as_long_as_that_of_share_where_all_of_the_time_counts() -> None:
    bars = tuple(
        Bar(name, share(value), kind)
        for name, time, gain in (("GEMM", 0.5, 0.05), ("norm", 0.2, 0.0))
        for kind, value in (("share", time), ("gain", gain))
    )
    found = json.dumps(_part_gains(Drawing("part_gains", bars)).to_plotly_json(), default=str)
    assert "share of time" in found
    assert "[50.0, 20.0]" in found
    assert "[50.0, 0.0]" in found
