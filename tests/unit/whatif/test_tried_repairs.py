"""Findings whose repairs were tried: what was measured takes the place of what was computed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from planned_recordings import Plan, Planned, PlannedTrial, chain_edges, in_a_row, subject_of

from gviz.analysis.advice import Advice, advise_graph, rank_findings
from gviz.analysis.results.part_gains import rank_parts
from gviz.model.trials import GraphTrials
from gviz.recording.reader import Recording

CUTS = [(0, 2, None), (1, 3, None)]


def plan(*trials: PlannedTrial) -> Plan:
    nodes = in_a_row(*(Planned(name, 0, 5_000) for name in ("norm", "gemm", "gemm", "norm")))
    return Plan(nodes, chain_edges(4), trials=trials)


def advice(path: Path, *trials: PlannedTrial) -> Advice:
    return advise_graph(subject_of(plan(*trials).write(path)))


def test_measured_gain_has_its_interval_results_and_nodes(tmp_path: Path) -> None:
    found = advice(tmp_path / "a.gviz", PlannedTrial("implied", 4_100.0, CUTS))
    (one,) = (f for f in found.findings if f.rule == "implied-dependencies")
    assert (one.gain_how, one.gain_ns, one.gain_low_ns) == ("measured", 4_100.0, 3_690.0)
    assert (one.trial_results, one.not_tried, one.gain_bound) == ("equal", None, "about")
    assert one.run_gain_ns == 10 * 4_100.0
    assert [node.node_id for node in one.nodes] == [0, 1, 2, 3]
    assert one.reason == "a launch is shorter without 2 dependencies that others imply"


@pytest.mark.parametrize("gain_ns", [200.0, 300.0])
def test_gain_that_equal_copies_differ_by_is_no_finding_but_said(
    tmp_path: Path, gain_ns: float
) -> None:
    trials = (PlannedTrial("control", -300.0), PlannedTrial("implied", gain_ns, CUTS))
    found = advice(tmp_path / "a.gviz", *trials)
    assert all(f.rule != "implied-dependencies" for f in found.findings)
    (one,) = found.in_vain
    assert (one.rule, one.gain_ns, one.count) == ("implied-dependencies", gain_ns, 40)


def test_last_trial_of_an_executable_that_was_updated_counts(tmp_path: Path) -> None:
    trials = (PlannedTrial("implied", 9_000.0, CUTS), PlannedTrial("implied", 4_000.0, CUTS))
    (one,) = (
        f for f in advice(tmp_path / "a.gviz", *trials).findings if f.rule == "implied-dependencies"
    )
    assert one.gain_ns == 4_000.0


def test_measured_gains_stand_before_larger_estimated_ones(tmp_path: Path) -> None:
    found = advice(tmp_path / "a.gviz", PlannedTrial("implied", 4_100.0, CUTS))
    (one,) = (f for f in found.findings if f.gain_how == "measured")
    larger = replace(one, gain_how="estimated", gain_ns=1e9, run_gain_ns=1e9)
    assert rank_findings([larger, one]) == (one, larger)


def test_refusal_is_that_of_the_graph_until_one_is_made(tmp_path: Path) -> None:
    refused = PlannedTrial("any", refusal="it holds a collective")
    path = plan(refused).write(tmp_path / "a.gviz")
    made = plan(PlannedTrial("implied", 1.0, CUTS), refused).write(tmp_path / "b.gviz")
    with Recording(path) as first, Recording(made) as second:
        assert GraphTrials(first, 1).refusal("implied") == "it holds a collective"
        assert GraphTrials(second, 1).refusal("implied") is None
        assert GraphTrials(second, 1).refusal("delay") == "it holds a collective"


def test_family_whose_nodes_were_delayed_has_a_measured_gain(tmp_path: Path) -> None:
    # Of 2 us behind each of two kernels the launch got 3 us longer: three quarters.
    delays = [(1, None, 2_000), (2, None, 2_000)]
    path = plan(PlannedTrial("delay", -3_000.0, delays)).write(tmp_path / "a.gviz")
    parts = {part.name: part for part in rank_parts(subject_of(path)).parts}
    found = next(part for name, part in parts.items() if "gemm" in name.lower())
    assert found.how == "measured"
    assert found.gain_ns == pytest.approx(0.75 * 0.1 * 10_000)
    assert (found.low_ns, found.high_ns) == (pytest.approx(675.0), pytest.approx(825.0))
    assert {part.how for part in parts.values() if part is not found} == {"estimated"}
