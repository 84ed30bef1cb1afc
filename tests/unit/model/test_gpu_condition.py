"""The condition of a GPU in a run, from intervals."""

from __future__ import annotations

from typing import Any

from gviz.model import GpuCondition, summarize_gpu
from gviz.recording import rows


def condition(*intervals: dict[str, Any]) -> GpuCondition:
    """Return the condition from intervals of ten busy samples, at 1,980 MHz unless given."""
    common = {"run_id": 1, "device_id": 0, "count": 10, "busy_count": 10, "sm_clock_mhz": 1980.0}
    return summarize_gpu(
        0,
        [
            rows.GpuInterval(**{**common, "start_ns": at, "end_ns": at + 1, **interval})
            for at, interval in enumerate(intervals)
        ],
    )


def test_a_steady_clock_needs_no_word() -> None:
    found = condition({"temperature_celsius": 60.0, "power_watts": 300.0}, {"power_watts": 400.0})
    assert found.caveat() == ""
    assert found.to_text() == "1,980 MHz, up to 60 °C, 350 W (while busy)"


def test_a_lowered_clock_is_a_caveat_that_says_why() -> None:
    found = condition(
        {}, {"slowed_count": 5, "slowed_by": "thermal slowdown", "temperature_celsius": 88.0}
    )
    assert (found.slowed_fraction, found.slowed_by) == (0.25, ("thermal slowdown",))
    assert found.caveat() == (
        "GPU 0 ran at 1,980 MHz, its clock lowered in 25.0% of samples by thermal slowdown, up to "
        "88 °C: times of nodes and launches vary with its clock; compare them with runs at the "
        "same one"
    )


def test_a_clock_that_fell_is_a_caveat_without_a_reason() -> None:
    assert condition({}, {"sm_clock_mhz": 1900.0}).caveat() == ""
    found = condition({}, {"sm_clock_mhz": 1500.0})
    assert found.has_fallen
    assert found.caveat().startswith("GPU 0 ran at 1,500 MHz to 1,980 MHz: times of")


def test_one_low_sample_is_a_clock_that_rises() -> None:
    assert not condition({"sm_clock_mhz": 345.0, "busy_count": 1, "count": 1}, {}).has_fallen


def test_an_idle_gpu_has_neither_clock_nor_caveat() -> None:
    found = condition({"busy_count": 0, "sm_clock_mhz": 345.0, "temperature_celsius": 31.0})
    assert (found.sm_clock_mhz, found.caveat()) == (None, "")
    assert found.to_text() == "up to 31 °C (never seen busy)"


def test_a_damaged_count_costs_no_time() -> None:
    assert condition({"busy_count": 2**48}, {"sm_clock_mhz": 1.0}).sm_clock_mhz == 1980


def test_clock_is_that_of_the_middle_sample_and_low_that_of_the_second_lowest() -> None:
    # Of twenty samples the tenth, which is the last of the lower ones.
    found = condition({"sm_clock_mhz": 1500.0}, {"sm_clock_mhz": 1980.0})
    assert found.sm_clock_mhz == 1500
    for count, low in ((2, 1500), (1, 1980)):
        slow = {"sm_clock_mhz": 1500.0, "busy_count": count}
        assert condition(slow, {}).sm_clock_low_mhz == low
