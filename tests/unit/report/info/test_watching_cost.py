"""Sentences on what watching cost."""

from __future__ import annotations

import pytest

from gviz.report.document import Document, Section
from gviz.report.info.watching_cost import watching_cost
from gviz.report.renderers.text_form import render_text


def stated(**measured: float) -> str:
    """Return the sentences of these measurements."""
    section = Section("cost", "Cost", tuple(watching_cost(measured)))
    text = render_text(Document("x", (), (section,)), 1000)
    return text.partition("Cost")[2].strip()


def test_run_that_measured_nothing_says_nothing() -> None:
    assert stated(driver_version=13000.0) == ""


def test_copies_and_events_have_a_price() -> None:
    text = stated(
        launch_event_share=0.0004, copies_made=1.0, launches_by_copy=20.0, copies_ns=1.5e6,
        copies_call_ns=2.5e5,
        launches_counted=817.0, updates_counted=8170.0,
    )  # fmt: skip
    assert "Events around launches took 0.04% of the wall time on the host." in text
    assert "1 instrumented copy made 20 launches in the program's place" in text
    assert "1.50 ms on a thread of gviz's own, and 250 µs inside its calls" in text
    assert "817 launches passed: counted, and nothing more." in text
    assert "8,170 updates of nodes passed: counted, each as long as the mean of those" in text


@pytest.mark.parametrize(("holes", "named"), [(0.0, False), (2.0, True)])
def test_gate_says_how_often_it_closed_and_held(holes: float, named: bool) -> None:
    text = stated(
        gate_closings=3.0, gate_closings_given_up=1.0, gate_calls_held=2.0,
        gate_longest_hold_ns=4.2e6, gate_holes=holes,
    )  # fmt: skip
    assert (
        "The gate was tried 4 times, closed 3 times, and held 2 calls, the longest for 4.20 ms"
        in text
    )
    what = "does not see behind 2 functions and export tables of the driver; the notes name them."
    assert (what in text) == named


def test_gate_that_was_never_tried_has_no_notes_of_what_it_does_not_see() -> None:
    text = stated(gate_closings=0.0, gate_closings_given_up=0.0, gate_holes=1.0)
    assert text == "The gate does not see behind 1 function or export table of the driver."
