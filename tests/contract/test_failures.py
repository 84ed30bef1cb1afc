"""Failures that only the fake can be told to make: gviz says so, and the program goes on."""

from __future__ import annotations

from pathlib import Path

import pytest
from contract.backend import Backend, Outcome
from fake.build import Fakes

RUN = 1
_RESULT = [0.0, 6.0, 12.0, 18.0]


def measurement(outcome: Outcome, name: str) -> float | None:
    """Return a measurement of the run."""
    with outcome.recording() as recording:
        (found,) = [m.value for m in recording.fetch_measurements(RUN) if m.name == name]
        return found


_WITHOUT_CUPTI = pytest.mark.parametrize(
    ("setting", "value", "reason"),
    [
        ("FAKE_CUPTI_TAKEN", "1", "another profiler holds CUPTI"),
        ("FAKE_CUPTI_SUBSCRIBE_ERROR", "35", "(35)"),
        ("GVIZ_CUPTI", "/no/such/libcupti.so.13", "libcupti"),
    ],
)


def without_cupti(fakes: Fakes, folder: Path, setting: str, value: str) -> dict[str, str]:
    """Return an environment in which CUPTI cannot be had."""
    environment = {setting: value}
    if setting == "GVIZ_CUPTI":  # nor may the dynamic linker find the fake, or the system's
        (folder / "libcuda.so.1").symlink_to(fakes.folder / "libcuda.so.1")
        (folder / "libcupti.so.13").write_text("no library")
        environment["LD_LIBRARY_PATH"] = str(folder)
    return environment


@_WITHOUT_CUPTI
def test_no_cupti_is_reported_once_and_events_take_over(
    fake: Backend, fakes: Fakes, tmp_path: Path, setting: str, value: str, reason: str
) -> None:
    environment = without_cupti(fakes, tmp_path, setting, value)
    outcome = fake.run("captured", environment=environment)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.facts["result"] == _RESULT
    assert outcome.stderr.count("gviz: ") == 1
    assert outcome.stderr.startswith("gviz: CUPTI cannot be used")
    assert reason in outcome.stderr
    with outcome.recording() as recording:
        (run,) = recording.fetch_runs()
        assert run.collector == "events"
        assert reason in (run.collector_reason or "")
        assert recording.fetch_graphs() == []


@_WITHOUT_CUPTI
def test_cupti_requested_and_not_there_is_reported_once_and_nothing_is_recorded(
    fake: Backend, fakes: Fakes, tmp_path: Path, setting: str, value: str, reason: str
) -> None:
    environment = without_cupti(fakes, tmp_path, setting, value)
    outcome = fake.run("captured", environment=environment, measured_by="cupti")
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.facts["result"] == _RESULT
    assert outcome.stderr.count("gviz: nothing is recorded") == 1
    assert reason in outcome.stderr
    with outcome.recording() as recording:
        (run,) = recording.fetch_runs()
        assert run.collector is None
        assert recording.fetch_graphs() == []
        assert any(reason in note.text for note in recording.fetch_notes(RUN))


def test_program_without_a_gpu_gets_the_drivers_error(fake: Backend) -> None:
    outcome = fake.run("captured", environment={"FAKE_NO_GPU": "1"})
    assert outcome.returncode == 1
    assert "cuInit returned 100" in outcome.stderr


def test_dropped_records_are_counted(fake: Backend) -> None:
    outcome = fake.run("repeated", environment={"FAKE_DROP_RECORDS": "3"})
    assert measurement(outcome, "activity_records_dropped") == 3
    with outcome.recording() as recording:
        (graph,) = recording.fetch_graphs()
        assert len(recording.fetch_graph_spans(graph.graph_id)) == 4 * 10 - 3


def test_records_without_times_are_left_out_and_counted(fake: Backend) -> None:
    outcome = fake.run("repeated", environment={"FAKE_INVALID_RECORDS": "5"})
    assert measurement(outcome, "activity_records_invalid") == 5
    with outcome.recording() as recording:
        (graph,) = recording.fetch_graphs()
        spans = recording.fetch_graph_spans(graph.graph_id)
        assert len(spans) == 4 * 10 - 5
        assert (spans.duration_ns > 0).all()


def test_records_that_end_before_they_start_are_left_out_and_counted(fake: Backend) -> None:
    outcome = fake.run("repeated", environment={"FAKE_BACKWARD_RECORDS": "6"})
    assert measurement(outcome, "activity_records_invalid") == 6
    with outcome.recording() as recording:
        (graph,) = recording.fetch_graphs()
        spans = recording.fetch_graph_spans(graph.graph_id)
        assert len(spans) == 4 * 10 - 6
        assert (spans.duration_ns > 0).all()
        assert min(s.min_ns for s in recording.fetch_statistics(graph.graph_id)) > 0
