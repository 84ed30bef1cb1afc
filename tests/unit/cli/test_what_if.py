"""``gviz what-if``: text and JSON of answers and of the ranking, and wrong edits."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from places import ROOT
from planned_recordings import Plan, Planned, chain_edges, in_a_row

Gviz = Callable[..., "subprocess.CompletedProcess[str]"]

DECODE = ROOT / "assets" / "recordings" / "decode_step.gviz"
H200 = DECODE.with_name("decode_step_h200.gviz")


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    nodes = in_a_row(*(Planned(name, 0, ns) for name, ns in (("a", 60_000), ("b", 39_600))))
    return Plan(nodes, chain_edges(2)).write(tmp_path / "chain.gviz")


def test_answer_is_said_with_its_range(gviz_here: Gviz, chain: Path) -> None:
    lines = gviz_here("what-if", chain, "--scale", "b=0.5").stdout.splitlines()
    assert lines[0] == "What if b at 50.0% of its time: graph 1, planned"
    assert lines[2].startswith("The launch would take 80.2 µs [estimated] instead of 100 µs")
    assert "Gain: estimated 14.8 to 19.8 µs." in lines


@pytest.mark.parametrize("width", [60, 80])
def test_range_of_a_part_is_never_cut(
    gviz_here: Gviz, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert "36.7 to 49.9 µs" in gviz_here("what-if", H200).stdout


def test_ranking_says_share_of_time_beside_gain(gviz_here: Gviz, chain: Path) -> None:
    out = gviz_here("what-if", chain).stdout
    assert "10% off a brings 6.0% of the launch (share of time 60.0%)." in out
    assert "Nothing has been tried on this graph" in out


def test_json_has_the_answer_or_the_ranking(gviz_here: Gviz, chain: Path) -> None:
    found = json.loads(gviz_here("what-if", chain, "--off", "b", "--json").stdout)
    assert (found["whatif_version"], found["graph_id"], found["ranking"]) == (1, 1, None)
    assert found["answer"]["gain_ns"] == 40_000
    assert found["answer"]["how"] == "estimated"
    assert found["answer"]["error_fraction"] is None
    assert found["how"]["WhatIf"]["gain_ns"] == "estimated"
    ranked = json.loads(gviz_here("what-if", chain, "--json").stdout)
    assert ranked["answer"] is None
    assert [part["name"] for part in ranked["ranking"]["parts"]] == ["a", "b"]


def test_every_recording_with_several_graphs_asks_which(gviz_here: Gviz) -> None:
    lives = ROOT / "assets" / "recordings" / "graph_lives.gviz"
    done = gviz_here("what-if", lives)
    assert done.returncode == 2
    assert "give --graph" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--scale", "norm"), 2, "--scale attention=0.5"),
        (("--off", "norms"), 2, "no node of the graph matches 'norms'"),
    ],
)
def test_wrong_edit_ends_with_its_reason(
    gviz_here: Gviz, arguments: tuple[str, ...], code: int, message: str
) -> None:
    done = gviz_here("what-if", DECODE, *arguments)
    assert done.returncode == code
    assert message in done.stderr
