"""Progress in parts and steps: shares of shares."""

from __future__ import annotations

import pytest

from gviz.system import NO_PROGRESS, Progress


def test_parts_items_and_steps_tell_shares_of_the_whole() -> None:
    told: list[tuple[float, str]] = []
    progress = Progress(lambda share, text: told.append((share, text)))
    for item, part in progress.part(0.5, 1.0).each(["a", "b"], str.upper):
        steps = part.steps((1, 3), item)
        assert steps.run(max, 1, 2) == 2
        assert steps.run(sorted, [2, 1], reverse=True) == [2, 1]
    assert told == [
        (0.5, "A"),
        (0.5625, "a"),
        (0.75, "a"),
        (0.75, "B"),
        (0.8125, "b"),
        (1.0, "b"),
    ]


def test_items_take_what_they_weigh_and_small_ones_are_told_of_now_and_then() -> None:
    told: list[tuple[float, str]] = []
    progress = Progress(lambda share, text: told.append((share, text)))
    for item, part in progress.each(["small", "large"], str.upper, weights=[1, 3]):
        count = 8192 if item == "large" else 1
        assert sum(part.through(range(count), count, item)) == count * (count - 1) // 2
    assert told == [
        (0.0, "SMALL"),
        (0.0, "small"),
        (0.25, "LARGE"),
        (0.25, "large"),
        (0.625, "large"),
    ]


def test_nobody_need_listen() -> None:
    assert [item for item, _ in NO_PROGRESS.each([1, 2], str)] == [1, 2]


def test_more_steps_than_were_expected_end_at_the_whole() -> None:
    told: list[float] = []
    steps = Progress(lambda share, _: told.append(share)).steps((2,), "x")
    steps.run(int)
    steps.run(int)
    assert told == [pytest.approx(1.0)] * 2
