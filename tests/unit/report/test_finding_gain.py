"""Gains of findings in words."""

from __future__ import annotations

import dataclasses

import pytest

from gviz.analysis import Finding
from gviz.report.analysis.finding_gain import gain_line
from gviz.report.document import plain

ABOUT = Finding(
    rule="rule", graph_id=1, reason="it", node_count=1, nodes=(), evidence=(), gain_ns=50_000.0,
    gain_low_ns=30_000.0, gain_high_ns=60_000.0, gain_how="estimated", gain_bound="about",
    gain_per="launch", run_gain_ns=50_000.0, fix="", source="", overlaps=(), layer_count=0,
    per_layer_count=0,
)  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "estimated 30.0 to 60.0 µs per launch"),
        ({"gain_how": "measured"}, "measured 30.0 to 60.0 µs per launch"),
        ({"gain_high_ns": 2e6}, "estimated 30.0 µs to 2.00 ms per launch"),
        ({"gain_low_ns": -2_000.0}, "estimated −2.00 µs to +60.0 µs per launch"),
        ({"gain_bound": "at most"}, "at most 50.0 µs per launch"),
        ({"gain_low_ns": None, "gain_high_ns": None}, "50.0 µs per launch"),
    ],
)
def test_gain_is_said_with_its_range_or_bound(changes: dict[str, object], words: str) -> None:
    found = dataclasses.replace(ABOUT, **changes)  # type: ignore[arg-type]
    assert plain(gain_line(found)) == words
