"""The document of ``gviz info``: what is said of a run first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gviz.recording import Recording, rows
from gviz.report import info_document, render_text, summarize


def test_failed_instantiations_stand_beside_the_state_of_the_run(small_recording: Path) -> None:
    with Recording(small_recording) as recording:
        found = summarize(recording)
    (run,) = found.runs
    assert "(completed)" in render_text(info_document(found), 100)
    failures = tuple(
        rows.InstantiateFailure(
            instantiate_failure_id=number, run_id=1, graph_id=None, call="cuGraphInstantiate",
            start_ns=1, end_ns=2, thread_id=1, flags=0, result=801, explanation="refused",
        )
        for number in (1, 2)
    )  # fmt: skip
    found = replace(found, runs=(replace(run, instantiate_failures=failures),))
    assert "(completed, 2 instantiations failed)" in render_text(info_document(found), 100)
