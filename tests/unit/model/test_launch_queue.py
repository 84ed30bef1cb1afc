"""Launches that waited for the one before, as far as its end is known."""

from __future__ import annotations

from typing import Any

import pytest

from gviz.model import may_have_waited
from gviz.recording import rows


def launch(**columns: int | None) -> rows.Launch:
    given: dict[str, Any] = {"launch_id": 1, "run_id": 1, "graph_id": 1, "graph_exec_id": 1}
    return rows.Launch(**given, side="graph", ordinal=0, **columns)


CALLED = launch(host_start_ns=100)


@pytest.mark.parametrize(
    ("before", "waited"),
    [
        (None, False),
        (launch(gpu_end_ns=101), True),
        (launch(gpu_end_ns=100), False),
        # Of one without times on the GPU its own time after its call counts.
        (launch(host_end_ns=90, event_duration_ns=11), True),
        (launch(host_end_ns=90, event_duration_ns=10), False),
        (launch(host_end_ns=90), False),
        (launch(host_end_ns=200), False),
        (launch(event_duration_ns=11), False),
    ],
)
def test_launch_waits_for_one_that_may_be_running(before: rows.Launch | None, waited: bool) -> None:
    assert may_have_waited(CALLED, before) is waited


def test_launch_whose_call_is_not_known_waits_for_none() -> None:
    assert may_have_waited(launch(), launch(gpu_end_ns=101)) is False
