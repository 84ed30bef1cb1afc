"""The advice on random graphs with planted faults; bench/findings.py judges more of them."""

from __future__ import annotations

from pathlib import Path

from planted_faults import build, find, judge

from gviz.analysis.rules.rule import RULES


def test_planted_faults_are_found_and_little_else(tmp_path: Path) -> None:
    score = judge(range(120), tmp_path)
    assert len(score.planted) >= 12
    assert score.recall >= 0.95, score.wrong
    assert score.precision >= 0.95, score.wrong


def test_every_rule_has_a_fault_that_is_planted() -> None:
    planted = {rule for seed in range(400) for rule in build(seed)[1]}
    assert planted == set(RULES)


def test_graphs_of_one_seed_are_equal(tmp_path: Path) -> None:
    assert build(7)[1] == build(7)[1]
    first, second = (find(build(7)[0].write(tmp_path / name)) for name in ("a.gviz", "b.gviz"))
    assert first == second


def test_graphs_without_a_fault_have_no_findings(tmp_path: Path) -> None:
    clean = [seed for seed in range(80) if not build(seed)[1]]
    assert len(clean) > 10
    assert all(not find(build(s)[0].write(tmp_path / f"{s}.gviz")) for s in clean)
