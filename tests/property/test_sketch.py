"""The sketch keeps its promises: exact sums, quantiles within the error, merging in any order."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st

from gviz.stats.sketch import BUCKETS, RELATIVE_ERROR, DurationSketch, bucket_of, value_of

_DURATION = st.integers(0, 200) | st.integers(0, 2**40) | st.integers(0, 2**62)
_PAIRS = st.lists(st.tuples(st.integers(0, 3) | st.integers(0, 2**62), _DURATION), max_size=80)
_FRACTION = st.floats(0, 1)
Pairs = list[tuple[int, int]]


def columns(pairs: Pairs) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    group, duration = np.array(pairs, np.int64).reshape(-1, 2).T
    return group, duration


def sketch_of(pairs: Pairs) -> DurationSketch:
    sketch = DurationSketch()
    sketch.add(*columns(pairs))
    return sketch


def state(sketch: DurationSketch) -> dict[int, tuple[object, ...]]:
    rows = zip(
        sketch.groups.tolist(), sketch.counts.tolist(), sketch.totals.tolist(),
        sketch.least.tolist(), sketch.most.tolist(), strict=True,
    )  # fmt: skip
    found = {}
    for group, *numbers in rows:
        histogram = sketch.histogram(group)
        found[group] = (*numbers, histogram.bucket.tolist(), histogram.count.tolist())
    return found


@given(st.lists(_DURATION, min_size=1))
def test_value_of_a_bucket_is_within_the_error_of_all_in_it(durations: list[int]) -> None:
    values = np.array(durations, np.int64)
    bucket = bucket_of(values)
    assert (bucket >= 0).all()
    assert (bucket < BUCKETS).all()
    off = np.abs(value_of(bucket) - values)
    assert (off <= RELATIVE_ERROR * values * (1 + 1e-9)).all()


@given(_PAIRS, _FRACTION)
def test_quantile_is_within_the_error_of_the_value_at_its_rank(
    pairs: Pairs, fraction: float
) -> None:
    sketch = sketch_of(pairs)
    found = dict(zip(sketch.groups.tolist(), sketch.quantile(fraction).tolist(), strict=True))
    assert set(found) == {group for group, _ in pairs}
    for group, value in found.items():
        own = sorted(duration for g, duration in pairs if g == group)
        true = own[int(np.floor((len(own) - 1) * fraction))]
        assert abs(value - true) <= RELATIVE_ERROR * true * (1 + 1e-9)


@given(_PAIRS)
def test_count_sum_least_and_most_are_exact(pairs: Pairs) -> None:
    pairs = [(group, duration % 2**50) for group, duration in pairs]
    for group, (count, total, least, most, _, counts) in state(sketch_of(pairs)).items():
        own = [duration for g, duration in pairs if g == group]
        assert (count, total, least, most) == (len(own), sum(own), min(own), max(own))
        assert sum(counts) == len(own)  # type: ignore[call-overload]


@given(_PAIRS, _PAIRS, _PAIRS)
def test_merging_is_associative_and_equals_adding(a: Pairs, b: Pairs, c: Pairs) -> None:
    left = sketch_of(a)
    left.merge(sketch_of(b))
    left.merge(sketch_of(c))
    inner = sketch_of(b)
    inner.merge(sketch_of(c))
    right = sketch_of(a)
    right.merge(inner)
    assert state(left) == state(right) == state(sketch_of([*a, *b, *c]))


@given(_PAIRS)
def test_merging_renames_and_leaves_out_groups(pairs: Pairs) -> None:
    chosen = {group: 7 for group, _ in pairs if group % 2 == 0}
    found = DurationSketch()
    found.merge(sketch_of(pairs), chosen)
    kept = [(7, duration) for group, duration in pairs if group % 2 == 0]
    assert state(found) == state(sketch_of(kept))
