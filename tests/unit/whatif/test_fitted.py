"""The model fitted on trials of a machine that is not the model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from planned_recordings import subject_of
from planted_machine import PLACES, Kernel, Machine, branching, plan_of

from gviz.analysis.launch import UNTRIED, LaunchChange
from gviz.whatif import EditKind, GraphWhatIf, parse_edit

CHAIN = Machine(
    tuple(Kernel(256, 5_000, 0.3) for _ in range(6)), tuple((n, n + 1) for n in range(5)), 400
)


def test_trials_of_a_chain_leave_no_error(tmp_path: Path) -> None:
    subject = subject_of(plan_of(CHAIN, range(5)).write(tmp_path / "a.gviz"))
    found = GraphWhatIf(subject).ask([parse_edit(EditKind.DELAY, "2=3us")])
    assert found.trial_count == 5
    assert found.error_fraction == pytest.approx(0.0, abs=0.02)
    assert found.gain_ns == pytest.approx(-3_000.0, abs=100)
    assert found.low_ns <= found.gain_ns <= found.high_ns


def test_answer_about_nodes_that_were_tried_has_the_measured_part(tmp_path: Path) -> None:
    found = GraphWhatIf(subject_of(plan_of(CHAIN, range(5)).write(tmp_path / "a.gviz")))
    halved = found.ask([parse_edit(EditKind.SCALE, "2=0.5")])
    assert halved.tried_fraction == pytest.approx(1.0, abs=0.02)
    assert found.ask([parse_edit(EditKind.OFF, "1,2")]).tried_fraction is None
    assert found.ask([parse_edit(EditKind.CUT, "1:2")]).tried_fraction is None


def test_gains_are_scaled_to_what_was_measured(tmp_path: Path) -> None:
    plan = plan_of(CHAIN, range(5))
    # Recording has made everything twice as long as it is.
    plan.trials = [replace(one, gain_ns=(one.gain_ns or 0) / 2) for one in plan.trials]
    subject = subject_of(plan.write(tmp_path / "a.gviz"))
    assert subject.gains.assumed.scale == pytest.approx(0.5, abs=0.01)


def test_few_trials_leave_the_assumptions_as_they_are(tmp_path: Path) -> None:
    subject = subject_of(plan_of(CHAIN, range(3)).write(tmp_path / "a.gviz"))
    assert subject.gains.assumed == UNTRIED


@pytest.mark.parametrize("seed", range(3))
def test_machine_of_branches_is_played_as_it_was_and_its_error_is_known(
    tmp_path: Path, seed: int
) -> None:
    machine = branching(Random(seed))
    count = len(machine.kernels)
    subject = subject_of(plan_of(machine, range(0, count - 1, 2)).write(tmp_path / "a.gviz"))
    assumed = subject.gains.assumed
    assert assumed.trial_count == len(range(0, count - 1, 2))
    assert assumed.trial_error is not None
    assert subject.model.whole_ns == machine.length_ns() - min(s for s, _ in machine.run())
    # What the first kernel saves no other can hide: all wait for it.
    halved = replace(machine.kernels[0], block_ns=machine.kernels[0].block_ns // 2)
    measured = machine.length_ns() - machine.changed(0, halved).length_ns()
    found = GraphWhatIf(subject).ask([parse_edit(EditKind.SCALE, "0=0.5")])
    assert found.gain_ns == pytest.approx(measured, abs=300)
    assert found.low_ns <= measured + 300


def three_branches(places: int) -> Machine:
    """Return three branches of kernels that fill the GPU by their launch shape, joined twice."""
    edges = [(n, n + 3) for at in (1, 11) for n in range(at, at + 6)]
    edges += [(a, n) for a in (0, 10) for n in range(a + 1, a + 4)]
    edges += [(n, a) for a in (10, 20) for n in range(a - 3, a)]
    lengths = [3_000, *(4_000, 6_000, 8_000) * 3, 3_000, *(9_000, 5_000, 6_000) * 3, 3_000]
    kernels = tuple(Kernel(PLACES, length, 0.1) for length in lengths)
    return Machine(kernels, tuple(edges), gap_ns=400, places=places)


@pytest.mark.parametrize(("places", "fill"), [(3 * PLACES, 0.0), (PLACES, 1.0)])
def test_how_much_branches_slow_each_other_down_is_fitted(
    tmp_path: Path, places: int, fill: float
) -> None:
    machine = three_branches(places)
    count = len(machine.kernels)
    subject = subject_of(plan_of(machine, range(0, count - 1, 2)).write(tmp_path / "a.gviz"))
    assert subject.gains.assumed.likely.fill_share == pytest.approx(fill, abs=0.25)


def test_branches_that_leave_each_other_room_have_the_gains_that_were_not_tried(
    tmp_path: Path,
) -> None:
    machine = three_branches(3 * PLACES)
    count = len(machine.kernels)
    subject = subject_of(plan_of(machine, range(0, count - 1, 2)).write(tmp_path / "a.gviz"))
    whole = machine.length_ns()
    delays = [replace(kernel, delay_ns=4_000) for kernel in machine.kernels]
    measured = [whole - machine.changed(n, delays[n]).length_ns() for n in range(1, count - 1, 2)]
    computed = [
        subject.gains.gain(LaunchChange(delay_ns=4_000.0 * (np.arange(count) == n))).gain_ns
        for n in range(1, count - 1, 2)
    ]
    assert computed == pytest.approx(measured, abs=1_500)


def test_what_delays_say_nothing_of_stays_as_it_is_assumed(tmp_path: Path) -> None:
    subject = subject_of(plan_of(CHAIN, range(5)).write(tmp_path / "a.gviz"))
    assert subject.gains.assumed.likely == UNTRIED.likely


def test_ranges_hold_nine_of_ten_savings(tmp_path: Path) -> None:
    held = []
    for seed in range(5):
        machine = branching(Random(seed))
        tried = range(0, len(machine.kernels), 2)
        subject = subject_of(plan_of(machine, tried).write(tmp_path / f"{seed}.gviz"))
        for at, kernel in enumerate(machine.kernels):
            halved = replace(kernel, block_ns=kernel.block_ns // 2)
            measured = machine.length_ns() - machine.changed(at, halved).length_ns()
            part = np.where(np.arange(len(subject.model.row)) == at, 0.5, 1.0)
            change = LaunchChange(duration_ns=subject.model.duration_ns * part)
            found = subject.gains.gain(change)
            held.append(found.low_ns <= measured <= found.high_ns)
    assert len(held) > 100
    assert sum(held) >= 0.9 * len(held)
