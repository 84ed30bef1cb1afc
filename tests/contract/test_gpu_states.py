"""Clocks and temperature of the GPUs that a program uses, sampled beside it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from contract.backend import Backend

from gviz.model import read_gpu_conditions
from gviz.recording import Recording

RUN = 1
PROGRAMS = Path(__file__).with_name("programs.py")


def test_a_recording_has_the_states_of_its_gpu(backend: Backend) -> None:
    with backend.run("sampled", writer=True).recording() as recording:
        (device,) = recording.fetch_devices(RUN)
        (condition,) = read_gpu_conditions(recording, RUN)
        measured = {m.name: m for m in recording.fetch_measurements(RUN)}
        texts = [note.text for note in recording.fetch_notes(RUN)]
    assert condition.device_id == device.device_id
    assert (device.sm_clock_max_mhz or 0) > 0
    assert (condition.temperature_celsius or 0) > 0
    assert measured["gpu_state_samples"].value == condition.sample_count >= 5
    if not backend.is_real:
        assert not [text for text in texts if "MHz" in text]


@pytest.mark.parametrize(
    ("way", "why"), [("forbidden", "Insufficient Permissions"), ("refused", "Driver Not Loaded")]
)
def test_a_gpu_that_may_not_be_sampled_changes_nothing_else(
    fake: Backend, way: str, why: str
) -> None:
    outcome = fake.run("sampled", writer=True, environment={"FAKE_NVML": way})
    assert outcome.returncode == 0
    with outcome.recording() as recording:
        assert recording.fetch_gpu_intervals(RUN) == []
        assert recording.count_launches(recording.fetch_graphs(RUN)[0].graph_id)[0]
        (found,) = [m for m in recording.fetch_measurements(RUN) if m.name == "gpu_state_samples"]
    assert found.value is None
    assert found.method == f"not measured: GPU 0: {why}"


def test_a_library_that_never_answers_holds_nobody_up(fake: Backend) -> None:
    outcome = fake.run("sampled", writer=True, environment={"FAKE_NVML": "hang"})
    assert outcome.returncode == 0
    with outcome.recording() as recording:
        (condition,) = read_gpu_conditions(recording, RUN)
        (found,) = [m for m in recording.fetch_measurements(RUN) if m.name == "gpu_state_samples"]
    assert condition.sample_count == 2
    assert found.method.endswith("then: GPU 0: the management library did not answer within 5 s")


def test_gviz_run_says_that_the_clock_was_lowered(fake: Backend, tmp_path: Path) -> None:
    output = tmp_path / "throttled.gviz"
    path = os.pathsep.join(filter(None, [str(PROGRAMS.parent.parent), os.getenv("PYTHONPATH")]))
    program = [sys.executable, "-P", str(PROGRAMS), "sampled", "none", str(output)]
    subprocess.run(
        [sys.executable, "-P", "-m", "gviz", "run", "-o", str(output), *program],
        env={**fake.environment, "PYTHONPATH": path, "FAKE_NVML": "throttled"},
        check=True,
        timeout=120,
    )
    with Recording(output) as recording:
        (condition,) = read_gpu_conditions(recording, RUN)
        notes = {note.kind: note.text for note in recording.fetch_notes(RUN)}
    assert condition.slowed_by == ("thermal slowdown",)
    assert notes["warning"].startswith("GPU 0 ran at 1,200 MHz to 1,980 MHz, its clock lowered in")
    assert [entry.name for entry in tmp_path.iterdir()] == [output.name]
