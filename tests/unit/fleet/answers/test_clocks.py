"""Clocks of machines fitted to the ends of collectives, against planted ones."""

from __future__ import annotations

import numpy as np
import pytest

from gviz.fleet.answers.clocks import LEAST_EXECUTIONS, fit_clocks

OFFSETS = np.array([0.0, 2_000_000.0, -35_000.0, 7.0])
DRIFTS = np.array([0.0, 20e-6, -31e-6, 0.0])


def ends(count: int = 200, period_ns: float = 1e9, noise_ns: float = 100.0) -> np.ndarray:
    random = np.random.default_rng(3)
    when = 1e9 + period_ns * np.arange(count)
    clocks = when[:, None] + OFFSETS + DRIFTS * (when[:, None] - when[0])
    found: np.ndarray = clocks + random.normal(0, noise_ns, clocks.shape)
    return found


def test_offset_and_drift_are_found_within_the_stated_error() -> None:
    found = fit_clocks(ends())
    assert np.abs(found.offset_ns - OFFSETS).max() < found.residual_ns.max()
    assert found.drift == pytest.approx(DRIFTS, abs=1e-9)
    # Two deviations of the scatter that was put in.
    assert (found.residual_ns < 300).all()
    assert (found.residual_ns > 50).all()
    assert found.offset_ns[0] == found.drift[0] == 0


def test_outliers_do_not_move_a_clock() -> None:
    wrong = ends()
    wrong[::10, 1] += 5e6  # launches that do not belong together
    found = fit_clocks(wrong)
    assert np.abs(found.offset_ns - OFFSETS).max() < 300
    # They are in the error that is stated.
    assert found.residual_ns[1] > 1e6


def test_a_short_time_gives_an_offset_and_no_drift() -> None:
    found = fit_clocks(ends(period_ns=1e6))
    assert (found.drift == 0).all()
    assert np.abs(found.offset_ns - OFFSETS).max() < 5_000


def test_a_host_with_too_few_executions_is_not_known() -> None:
    few = ends()
    few[LEAST_EXECUTIONS - 1 :, 2] = np.nan
    found = fit_clocks(few)
    assert np.isnan([found.offset_ns[2], found.drift[2], found.residual_ns[2]]).all()
    assert found.count.tolist() == [200, 200, LEAST_EXECUTIONS - 1, 200]
    assert not np.isnan(found.offset_ns[[0, 1, 3]]).any()


def test_hosts_that_leave_at_any_time_are_not_known() -> None:
    found = fit_clocks(ends(noise_ns=100_000.0))
    assert np.isnan(found.offset_ns).all()
    assert np.isnan(found.residual_ns).all()


def test_a_host_is_reached_through_another() -> None:
    some = ends()
    some[:, 3] = np.nan
    some[100:, 0] = np.nan  # the first host knows the second, which knows the third
    some[:100, 2] = np.nan
    found = fit_clocks(some)
    assert found.offset_ns[:3] == pytest.approx(OFFSETS[:3], abs=2_000)
    assert np.isnan(found.offset_ns[3])
