"""The verdict on a change, of what its interval and its test say."""

from __future__ import annotations

import pytest

from gviz.checks.fix import _judge
from gviz.comparison import TimeChange


def _change(
    change: float | None, ends: tuple[float, float] | None, *, significant: bool = False
) -> TimeChange:
    low, high = ends or (None, None)
    untested = "one launch is no sample" if ends is None else None
    after = None if change is None else 1_000 + change
    return TimeChange(1_000.0, after, change, low, high, None, significant, 20, 20, untested, ())


@pytest.mark.parametrize(
    ("change", "result", "reason"),
    [
        (_change(-100, (-110, -90), significant=True), "faster", ""),
        (_change(100, (90, 110), significant=True), "slower", ""),
        (_change(1, (-4, 6)), "same", ""),
        (_change(1, (-40, 42)), "cannot tell", "noise reaches 4.2% of a launch"),
        (_change(-100, None), "cannot tell", "one launch is no sample"),
        (_change(None, None), "cannot tell", "not timed in both"),
    ],
)
def test_result_follows_from_interval_and_test(
    change: TimeChange, result: str, reason: str
) -> None:
    found, why = _judge(change)
    assert found == result
    assert reason in why
