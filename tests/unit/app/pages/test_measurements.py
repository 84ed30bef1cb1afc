"""Measurements of a run in everyday words."""

from __future__ import annotations

import pytest
from app_tree import texts, walk
from places import ROOT

from gviz.app.files import Library
from gviz.app.pages.head import how_measured
from gviz.app.pages.measurements import measurement_list, measurement_name
from gviz.app.views import graph_view
from gviz.recording import Recording, rows

#: Settings and numbers of gviz's own machinery, which the details have.
UNSAID = {
    "activity_buffers", "gate_waits_polled", "launch_event_share_limit", "memory_questions",
    "recording_number", "window_closings",
}  # fmt: skip


def measurement(name: str, value: float | None, unit: str = "number") -> rows.Measurement:
    return rows.Measurement(run_id=1, name=name, value=value, unit=unit, method="measured")


@pytest.mark.parametrize("name", ["decode_server", "cupy_pipeline", "nested_torch", "token_step_3"])
def test_what_recordings_measure_has_everyday_words(name: str) -> None:
    with Recording(ROOT / "assets" / "recordings" / f"{name}.gviz") as recording:
        found = [m for run in recording.fetch_runs()
                 for m in recording.fetch_measurements(run.run_id)]  # fmt: skip
    raw = {m.name for m in found if measurement_name(m)[0].islower() and m.name not in UNSAID}
    assert raw == set()


def test_bias_of_an_event_names_what_it_is_taken_off() -> None:
    early = measurement("event_early_bias_memcpy_device_1_ns", 2.0, "ns")
    assert measurement_name(early) == "Taken off a copy's time that starts during the call, GPU 1"


def test_what_did_not_happen_and_raw_names_are_under_details_only() -> None:
    given = [measurement("copies_made", 6.0), measurement("gate_closings", 0.0),
             measurement("activity_buffers", 2.0)]  # fmt: skip
    shown, details = measurement_list([("Node time", "5 ns", "measured")], given)
    said = texts(shown)
    assert "Event copies built" in said
    assert "Node time" in said
    assert "Pauses" not in said
    assert "buffers" not in said
    assert all(m.name in texts(details) for m in given)
    assert any(type(x).__name__ == "Details" for x in walk(details))


def test_without_measurements_there_is_nothing_to_list() -> None:
    assert measurement_list([], []) == []


def test_node_times_of_event_copies_are_node_times() -> None:
    library = Library([ROOT / "assets" / "recordings" / "decode_server.gviz"])
    try:
        with library.files()[0].at():
            said = texts(how_measured(graph_view(library, "decode_server", 1), []))
    finally:
        library.close()
    assert "Node times: 20 launches of 39 recorded by events" in said
