"""Gains of findings in words."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from planned_recordings import Plan, Planned, PlannedTrial, chain_edges, in_a_row

from gviz.analysis import Finding, analyze
from gviz.recording.reader import Recording
from gviz.report.analysis.advice_section import findings_section
from gviz.report.analysis.finding_gain import gain_line, gain_over_run
from gviz.report.document import Quantity, Sentence, plain
from gviz.stats import CuptiState, Evidence

ABOUT = Finding(
    rule="rule", graph_id=1, reason="it", node_count=1, nodes=(), evidence=(), gain_ns=50_000.0,
    gain_low_ns=30_000.0, gain_high_ns=60_000.0, gain_how="estimated", gain_bound="about",
    gain_per="launch", run_gain_ns=50_000.0, fix="", source="", overlaps=(), layer_count=0,
    per_layer_count=0, trial_results=None, trial_count=None, not_tried=None,
)  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "estimated 30.0 to 60.0 µs per launch"),
        (
            {
                "gain_how": "measured",
                "trial_results": "equal",
                "gain_ns": 41_000.0,
                "gain_low_ns": 38_000.0,
                "gain_high_ns": 43_000.0,
            },
            "measured −41.0 µs (−43.0 to −38.0 µs) per launch, results equal",
        ),
        (
            {"gain_how": "measured", "trial_results": "not tested"},
            "measured −50.0 µs (−60.0 to −30.0 µs) per launch, results not compared, for the graph "
            "does not repeat its own",
        ),
        (
            {"not_tried": "it holds a collective"},
            "not tried: it holds a collective; estimated 30.0 to 60.0 µs per launch",
        ),
        ({"gain_high_ns": 2e6}, "estimated 30.0 µs to 2.00 ms per launch"),
        ({"gain_low_ns": -2_000.0}, "estimated −2.00 µs to +60.0 µs per launch"),
        ({"gain_bound": "at most"}, "at most 50.0 µs per launch"),
        ({"gain_low_ns": None, "gain_high_ns": None}, "50.0 µs per launch"),
    ],
)
def test_gain_is_said_with_its_range_or_bound(changes: dict[str, object], words: str) -> None:
    found = dataclasses.replace(ABOUT, **changes)  # type: ignore[arg-type]
    said = gain_line(found, Evidence("derived", 24, is_cold=True))
    assert plain(said) == words
    (gain,) = (part for part in said if isinstance(part, Quantity))
    if found.trial_results is None:
        assert gain.n == 24
        assert "first launches" in (gain.caveat or "")


def test_measured_gain_rests_on_the_pairs_of_its_trial() -> None:
    found = dataclasses.replace(
        ABOUT, gain_how="measured", trial_results="equal", trial_count=40, gain_bound="about"
    )
    (gain,) = (
        part
        for part in gain_line(found, Evidence("derived", 24, state=CuptiState.RECORDED))
        if isinstance(part, Quantity)
    )
    # Trials run without CUPTI: what made node times longer did not make these.
    assert (gain.how, gain.n, gain.caveat) == ("measured", 40, None)


@pytest.mark.parametrize("bound", ["at most", "at least", ""])
def test_gain_over_a_run_is_bounded_as_that_of_a_launch_is(bound: str) -> None:
    found = dataclasses.replace(ABOUT, gain_bound=bound or "about", run_gain_ns=1e6)
    gain = gain_over_run(found, Evidence("derived", 24))
    assert gain is not None
    assert gain.text == f"{bound} 1.00 ms".strip()
    assert gain_over_run(dataclasses.replace(found, gain_per="run"), Evidence("derived", 1)) is None


def test_repair_that_brings_nothing_is_a_note(tmp_path: Path) -> None:
    trial = PlannedTrial("implied", -300.0, [(0, 2, None)])
    nodes = in_a_row(*(Planned("gemm", 0, 5_000) for _ in range(3)))
    path = Plan(nodes, chain_edges(3), trials=[trial]).write(tmp_path / "a.gviz")
    with Recording(path) as recording:
        (run,) = analyze(recording).runs
    section = findings_section(run)
    notes = [plain(block.content) for block in section.blocks if isinstance(block, Sentence)]
    said = "Tried without a gain: implied-dependencies, measured +300 ns (+270 to +330 ns)"
    assert any(note.startswith(said) for note in notes)
