"""The desk: the loop by its own steps, refusals in words, names that are data."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from agent_questions import ask, desk_of
from evil_recordings import write_evil_recording
from planned_recordings import Plan
from planted_faults import Program, plant_fp32

from gviz.agents import Desk


def faulty_recording(path: Path) -> Path:
    """Write a graph with one product without tensor cores."""
    program = Program(random.Random(1))
    program.stretch(5)
    plant_fp32(program)
    program.fork()
    return Plan(program.nodes, program.edges).write(path)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return desk_of(faulty_recording(tmp_path_factory.mktemp("agents") / "faulty.gviz"))


def test_steps_lead_from_the_overview_to_the_finding(desk: Desk) -> None:
    overview = ask(desk, "overview")
    assert "fp32-without-tensor-cores" in overview.recorded
    assert len(overview.text) <= 4_000
    verb, arguments = overview.steps[0]
    explained = ask(desk, verb, **arguments)
    assert f"[{arguments['finding']}]" in explained.recorded
    assert "Fix: " in explained.recorded
    assert "node 6 «GEMM" in ask(desk, "explain", finding="fp32-without-tensor-cores").recorded
    # Every step that an answer names is answered.
    for verb, arguments in explained.steps + overview.steps:
        assert not ask(desk, verb, **arguments).is_refusal, (verb, arguments)


def test_findings_and_explain_count_alike(desk: Desk) -> None:
    listed = ask(desk, "findings")
    assert listed.recorded.count("Fix: ") >= 1
    (rule,) = (x.split("[")[1].split("]")[0] for x in listed.recorded.splitlines() if x[:2] == "1.")
    assert f"[{rule}]" in ask(desk, "explain", finding="1").recorded
    assert ask(desk, "explain", finding=rule).recorded == ask(desk, "explain", finding="1").recorded


def test_node_and_gap_are_explained(desk: Desk) -> None:
    node = ask(desk, "explain", node=2).recorded
    assert "Node 2 of graph 1" in node
    assert "fewer than 6 values are too few" in node
    gap = ask(desk, "explain", gap="1-2")
    assert "pass " in gap.recorded
    assert "[derived, n=" in gap.recorded


@pytest.mark.parametrize(
    ("verb", "arguments", "why"),
    [
        ("overvew", {}, "did you mean overview"),
        ("explain", {}, "give one of finding, node and gap"),
        ("explain", {"node": 1, "gap": "1-2"}, "give one of finding, node and gap"),
        ("explain", {"finding": "fp32"}, "there is no finding"),
        ("explain", {"gap": "2-1"}, "does not follow"),
        ("explain", {"node": 999}, "no node 999"),
        ("explain", {"node": True}, "must be a value of type integer"),
        ("explain", {"node": 2**80}, "too large"),
        ("findings", {"graph": 7}, "no graph 7"),
        ("findings", {"graf": 7}, "did you mean graph"),
        ("overview", {"recording": "x.gviz"}, "no recording here has that name"),
        ("overview", {"recording": "x" * 10_000_000}, "10,000,000 characters"),
    ],
)
def test_what_cannot_be_answered_is_refused(
    desk: Desk, verb: str, arguments: dict[str, object], why: str
) -> None:
    refused = ask(desk, verb, **arguments)
    assert refused.is_refusal
    assert refused.text.startswith("refused: ")
    assert why in refused.text
    assert len(refused.text) < 1_200


def test_refusal_names_files_as_the_list_does_and_leads_to_what_there_is(desk: Desk) -> None:
    assert ask(desk, "ranks").text.startswith("refused: faulty.gviz has 1 run")
    leads = [
        ("query", {"sql": "SELECT nothing FROM node"}),
        ("layer", {"layer": "none"}),
        ("explain", {"gap": "2-1"}),
    ]
    for (verb, arguments), first in zip(leads, ("query", "layer", "path"), strict=True):
        found = ask(desk, verb, **arguments)
        assert found.is_refusal
        assert found.steps == [(first, {}), ("overview", {})]


def test_names_of_the_program_end_no_line_and_no_fence(tmp_path: Path) -> None:
    desk = desk_of(write_evil_recording(tmp_path / "evil.gviz"))
    for verb, arguments in (("overview", {}), ("findings", {}), ("explain", {"node": 1001})):
        heard = ask(desk, verb, **arguments)
        assert not heard.is_refusal
        assert all(line.isprintable() for line in heard.text.split("\n"))
        outside = heard.text.replace(heard.recorded, "")
        assert "gvizEvil" not in outside
        assert "right to left" not in outside


def test_several_recordings_are_listed_first(tmp_path: Path) -> None:
    for name in ("a", "b"):
        faulty_recording(tmp_path / f"{name}.gviz")
    desk = desk_of(tmp_path)
    listed = ask(desk, "overview")
    assert listed.steps == [("overview", {"recording": f"{name}.gviz"}) for name in ("a", "b")]
    assert ask(desk, "findings").text.startswith("refused: name a recording; there are a.gviz")
    overview = ask(desk, "overview", recording="b.gviz")
    assert all(arguments["recording"] == "b.gviz" for _, arguments in overview.steps)
