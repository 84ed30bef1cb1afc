"""Evidence: what is computed from several figures has the worst of them."""

import pytest

from gviz.stats.evidence import CuptiState, Evidence, worst_of

GOOD = Evidence("measured", 50, state=CuptiState.PLAIN)


@pytest.mark.parametrize(
    "worse",
    [
        Evidence("estimated", 50, state=CuptiState.PLAIN),
        Evidence("measured", 2, state=CuptiState.PLAIN),
        Evidence("measured", 50, coverage_fraction=0.5, state=CuptiState.PLAIN),
        Evidence("measured", 50, 1.0, 3, 6_000.0, state=CuptiState.PLAIN),
        Evidence("measured", 50, exchangeable_count=4, state=CuptiState.PLAIN),
        Evidence("measured", 50, state=CuptiState.ATTACHED),
        Evidence("measured", 50, state=CuptiState.RECORDED),
        Evidence("measured", 50, state=CuptiState.PLAIN, is_cold=True),
        Evidence("measured", 50, state=CuptiState.PLAIN, is_at_most=True),
    ],
)
def test_one_worse_field_is_inherited_from_either_side(worse: Evidence) -> None:
    assert worst_of([GOOD, worse]) == worst_of([worse, GOOD]) == worse


def test_fields_are_inherited_from_different_figures() -> None:
    found = worst_of(
        [
            Evidence("derived", 50, state=CuptiState.RECORDED),
            Evidence("measured", 2, state=CuptiState.ATTACHED, is_cold=True),
        ]
    )
    assert found == Evidence("derived", 2, state=CuptiState.RECORDED, is_cold=True)


def test_what_was_not_timed_takes_nothing_away() -> None:
    assert worst_of([GOOD, Evidence("stated", 50)]) == GOOD
