"""Node times against kernels that spin for a known time; see bench/gpu_truth.py."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.gpu, pytest.mark.quick]

BENCH = Path(__file__).parent.parent.parent / "bench" / "gpu_truth.py"
WIDTHS = {"chain": 1, "4 wide": 4, "16 wide": 16}
#: Kernels of a branch, and the first and the last.
BRANCH, ENDS = 6, 2


@pytest.fixture(scope="module")
def truth() -> dict[str, Any]:
    """The benchmark's results."""
    pytest.importorskip("cupy")
    done = subprocess.run(
        [sys.executable, "-P", str(BENCH)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    print(done.stdout)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_clock_stood_still_while_it_was_compared_with(truth: dict[str, Any]) -> None:
    assert truth["clock_after_mhz"] == pytest.approx(truth["clock_mhz"], rel=0.01)


@pytest.mark.parametrize("shape", WIDTHS)
def test_every_kernel_of_every_launch_was_recorded(truth: dict[str, Any], shape: str) -> None:
    expected = (WIDTHS[shape] * BRANCH + ENDS) * truth["launches"]
    assert truth[shape]["spans"] == expected


@pytest.mark.parametrize("shape", WIDTHS)
def test_slopes_of_durations_are_true_within_a_microsecond(
    truth: dict[str, Any], shape: str
) -> None:
    assert truth[shape]["slope_50_10_us"] == pytest.approx(40, abs=1)
    assert truth[shape]["slope_10_2_us"] == pytest.approx(8, abs=1)


@pytest.mark.parametrize("shape", WIDTHS)
def test_constant_offset_is_that_of_starting_a_kernel(truth: dict[str, Any], shape: str) -> None:
    # Starting and ending a kernel takes 1 to 2 us on an H100; it never makes one shorter.
    assert -0.2 < truth[shape]["offset_us"] < 4


def test_overlap_is_seen_where_it_exists(truth: dict[str, Any]) -> None:
    ratios = {shape: truth[shape]["sum_us"] / truth[shape]["union_us"] for shape in WIDTHS}
    assert ratios["chain"] == pytest.approx(1, abs=0.02)
    assert 2.5 < ratios["4 wide"] <= 4
    assert 5 < ratios["16 wide"] <= 16
