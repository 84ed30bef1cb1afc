"""Alignments: best by an exhaustive search, in any band, with gaps in one piece."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from gviz.comparison.pairing import alignment
from gviz.comparison.pairing.alignment import Floats, GapCosts, align


class Table:
    """Scores given as a table."""

    def __init__(self, scores: Floats) -> None:
        self.scores = scores
        self.most = scores.max(axis=1, initial=-100)

    def between(self, place: int, start: int, stop: int) -> Floats:
        return self.scores[place, start:stop]


def costs(count: int, open_: float = 4.0, extend: float = 1.0) -> GapCosts:
    return GapCosts(np.full(count + 1, open_), np.zeros(count + 1), extend)


def equal(first: str, second: str) -> Table:
    same = np.array([[a == b for b in second] for a in first], bool)
    return Table(np.where(same, 8.0, 0.0).reshape(len(first), len(second)))


def best_total(scores: Floats, first: GapCosts, second: GapCosts) -> float:
    """Return the score of the best alignment, by trying all."""
    n, m = scores.shape

    @cache
    def rest(i: int, j: int, gap: str) -> float:
        if gap:
            costs_of, at, size = (first, i, n) if gap == "first" else (second, j, m)
            further = (i + 1, j) if gap == "first" else (i, j + 1)
            closed = -float(costs_of.close[at]) + rest(i, j, "")
            return max(closed, -costs_of.extend + rest(*further, gap)) if at < size else closed
        if (i, j) == (n, m):
            return 0.0
        ways = []
        if i < n and j < m:
            ways.append(float(scores[i, j]) + rest(i + 1, j + 1, ""))
        if i < n:
            ways.append(-float(first.open[i]) - first.extend + rest(i + 1, j, "first"))
        if j < m:
            ways.append(-float(second.open[j]) - second.extend + rest(i, j + 1, "second"))
        return max(ways)

    return rest(0, 0, "")


def total(
    scores: Floats, first: GapCosts, second: GapCosts, one: np.ndarray, two: np.ndarray
) -> float:
    found, last = float(scores[one, two].sum()), (-1, -1)
    for pair in [*zip(one.tolist(), two.tolist(), strict=True), scores.shape]:
        for costs_of, before, at in zip((first, second), last, pair, strict=True):
            if at - before > 1:
                found -= float(costs_of.open[before + 1] + costs_of.close[at])
                found -= costs_of.extend * (at - before - 1)
        last = pair
    return found


@pytest.fixture(params=[(256, 10**6), (1, 10**6), (2, 20), (256, 7)])
def sizes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bands that must grow, and tables that are computed in pieces."""
    band, cells = request.param
    monkeypatch.setattr(alignment, "_BAND", band)
    monkeypatch.setattr(alignment, "_KEPT_CELLS", cells)


@pytest.mark.usefixtures("sizes")
def test_alignment_is_a_best_one() -> None:
    source = np.random.default_rng(4)
    for _ in range(60):
        n, m = (int(x) for x in source.integers(1, 12, 2))
        scores = 2.0 * source.integers(-2, 4, (n, m))
        first, second = (
            GapCosts(
                source.integers(1, 4, k + 1).astype(float),
                source.integers(0, 3, k + 1).astype(float),
                float(source.integers(1, 3)),
            )
            for k in (n, m)
        )
        one, two = align(Table(scores), first, second)
        assert (np.diff(one) > 0).all()
        assert (np.diff(two) > 0).all()
        assert total(scores, first, second, one, two) == best_total(scores, first, second)


def test_what_was_inserted_in_one_piece_is_one_gap() -> None:
    layer = "abcdef"
    first, second = layer * 6, layer * 7
    one, two = align(equal(first, second), costs(len(first)), costs(len(second)))
    assert one.tolist() == list(range(len(first)))
    # One step of a whole layer, as late as can be.
    assert two.tolist() == list(range(len(first)))


def test_gap_opens_where_it_is_cheap() -> None:
    first, second = "abcabc", "abcabcabc"
    dear = costs(len(second))
    cheap = dear.open.copy()
    # Between the first and the second block.
    cheap[3] = 1.0
    one, two = align(equal(first, second), costs(len(first)), GapCosts(cheap, dear.close, 1.0))
    assert two.tolist() == [0, 1, 2, 6, 7, 8]
    assert one.tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(("n", "m"), [(0, 0), (0, 3), (3, 0)])
def test_nothing_aligns_with_nothing(n: int, m: int) -> None:
    one, two = align(Table(np.zeros((n, m))), costs(n), costs(m))
    assert (len(one), len(two)) == (0, 0)


def test_sequences_that_share_nothing_are_left_out() -> None:
    scores = np.full((3, 300), -5.0)
    one, _ = align(Table(scores), costs(3), costs(300))
    assert len(one) == 0


def test_long_sequences_take_a_band() -> None:
    source = np.random.default_rng(1)
    text = "".join(chr(97 + int(k)) for k in source.integers(0, 20, 3_000))
    other = text[:1_000] + "zzzz" + text[1_000:2_000] + text[2_010:]
    found = align(equal(text, other), costs(len(text)), costs(len(other)))
    assert len(found[0]) == 2_990
    assert all(text[a] == other[b] for a, b in zip(*(x.tolist() for x in found), strict=True))
