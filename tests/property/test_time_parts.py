"""Graph against stream: the parts of an iteration, their differences, and intervals of means."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gviz.analysis.launch.time_parts import PartSpans, TimeParts, as_columns, measure_parts
from gviz.stats.bootstrap import MOST_RESAMPLED, interval_of, mean_interval, spread
from gviz.stats.idle import union


@st.composite
def spans(draw: st.DrawFn) -> PartSpans:
    count = draw(st.integers(1, 10))
    start = draw(st.lists(st.integers(100, 2_000), min_size=count, max_size=count))
    length = draw(st.lists(st.integers(0, 300), min_size=count, max_size=count))
    returned = draw(st.lists(st.integers(0, 2_200), min_size=count, max_size=count))
    common = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    return PartSpans(
        start_ns=np.array(start),
        end_ns=np.array(start) + np.array(length),
        returned_ns=np.array(returned),
        is_common=np.array(common, bool),
    )


def measured(found: PartSpans) -> TimeParts:
    return measure_parts(found, 40, 70.0)


@settings(deadline=None)
@given(spans())
def test_parts_of_a_launch_add_up_to_its_time(found: PartSpans) -> None:
    result = measured(found)
    assert result.total_ns == found.end_ns.max() - 40
    assert result.gpu_ns == found.end_ns.max() - found.start_ns.min()
    busy = union(found.start_ns, found.end_ns).total_ns
    assert result.busy_ns == busy
    assert result.host_idle_ns + result.other_idle_ns == result.gpu_ns - busy
    assert min(result.host_idle_ns, result.other_idle_ns, result.overlap_ns) >= 0
    assert 0 <= result.idle_fraction <= 1


@settings(deadline=None)
@given(spans())
def test_idle_time_is_the_hosts_until_the_call_of_what_runs_next_returns(found: PartSpans) -> None:
    late = PartSpans(found.start_ns, found.end_ns, found.start_ns, found.is_common)
    early = PartSpans(found.start_ns, found.end_ns, found.start_ns * 0, found.is_common)
    assert measured(late).other_idle_ns == 0
    assert measured(early).host_idle_ns == 0
    assert measured(found).host_idle_ns <= measured(late).host_idle_ns


@settings(deadline=None)
@given(st.lists(spans(), min_size=1, max_size=4), st.lists(spans(), min_size=1, max_size=4))
def test_parts_of_the_gain_add_up_to_the_gain(
    stream: Sequence[PartSpans], graph: Sequence[PartSpans]
) -> None:
    a, b = (as_columns([measured(x) for x in side]) for side in (stream, graph))

    def gain(name: str) -> float:
        return float(a[name].mean() - b[name].mean())

    parts = ("lead_ns", "host_idle_ns", "other_idle_ns", "node_ns", "own_ns")
    total = sum(map(gain, parts)) - gain("overlap_ns")
    assert total == pytest.approx(gain("total_ns"), abs=1e-6)


@settings(deadline=None)
@given(st.lists(st.floats(0, 1e9), min_size=2, max_size=30))
def test_interval_lies_within_the_values_and_is_the_same_every_time(values: list[float]) -> None:
    found = mean_interval(values)
    assert found.low is not None
    assert found.high is not None
    slack = 1e-9 * max(values)
    assert min(values) - slack <= found.low <= found.high <= max(values) + slack
    assert mean_interval(values) == found


def test_one_value_has_no_interval_and_no_deviation() -> None:
    found = spread([5.0])
    assert (found.mean, found.sd, found.p99) == (5.0, None, 5.0)
    assert (found.interval.low, found.interval.high) == (None, None)
    assert interval_of([1.0], [2.0, 3.0], np.subtract).low is None


def test_intervals_hold_the_true_mean_as_often_as_they_say() -> None:
    rng = np.random.default_rng(7)
    hits = 0
    for _ in range(400):
        found = mean_interval(rng.exponential(10.0, 60))
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= 10.0 <= found.high
    assert 0.89 <= hits / 400 <= 0.98


def test_intervals_of_many_values_are_those_of_a_normal_distribution() -> None:
    values = np.random.default_rng(3).normal(100.0, 5.0, MOST_RESAMPLED + 1)
    found = mean_interval(values)
    assert found.low is not None
    assert found.high is not None
    assert found.high - found.low == pytest.approx(2 * 1.96 * 5.0 / 100.0, rel=0.05)
    fewer = mean_interval(values[:-1])
    assert fewer.low == pytest.approx(found.low, abs=0.02)


def test_difference_of_equal_sides_is_around_zero() -> None:
    rng = np.random.default_rng(5)
    found = interval_of(rng.normal(50, 1, 200), rng.normal(50, 1, 200), np.subtract)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0 < found.high
