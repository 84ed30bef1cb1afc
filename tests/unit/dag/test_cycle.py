"""Cycles: found whatever hangs on them, and told in a sentence."""

from __future__ import annotations

import pytest

from gviz.dag.cycle import describe_cycle, find_cycle


@pytest.mark.parametrize(
    ("count", "edges", "cycle"),
    [
        (0, [], []),
        (3, [(0, 1), (1, 2), (0, 2)], []),
        (1, [(0, 0)], [0]),
        (2, [(1, 0), (0, 1)], [0, 1]),
        # Behind the cycle nodes wait too, but are not on it.
        (6, [(4, 5), (0, 3), (3, 1), (1, 2), (2, 3), (2, 4)], [1, 2, 3]),
        # The same edge twice.
        (3, [(0, 1), (0, 1), (1, 2), (2, 1)], [1, 2]),
    ],
)
def test_cycle_is_found(count: int, edges: list[tuple[int, int]], cycle: list[int]) -> None:
    assert find_cycle(count, edges) == cycle


def test_large_cycle_takes_no_recursion() -> None:
    count = 100_000
    edges = [(n, (n + 1) % count) for n in range(count)]
    assert find_cycle(count, edges) == list(range(count))


def test_long_cycle_and_long_names_stay_a_sentence() -> None:
    assert describe_cycle(["a"]) == "a → a"
    reported = describe_cycle([f"{n} {'x' * 4_000}" for n in range(1_000)])
    assert reported.endswith("(1000 nodes)")
    assert reported.startswith("0 xxx")
    assert len(reported) < 400


def test_name_of_48_characters_is_whole_and_a_longer_one_lacks_its_middle() -> None:
    whole = "a" * 24 + "b" * 24
    assert describe_cycle([whole]) == f"{whole} → {whole}"
    shortened = "a" * 23 + "…" + "b" * 24
    assert describe_cycle([f"{'a' * 25}{'b' * 24}"]) == f"{shortened} → {shortened}"
