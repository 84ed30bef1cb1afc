"""Each verb on real recordings: the figures that it must name, and the steps that it offers."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_questions import Heard, ask, desk_of
from places import ROOT

from gviz.agents import Desk

RECORDINGS = ROOT / "assets" / "recordings"
BEFORE, AFTER = "decode_step_h200.gviz", "decode_step_h200_fused.gviz"


@pytest.fixture(scope="module")
def desk() -> Desk:
    return desk_of(RECORDINGS / BEFORE, RECORDINGS / AFTER)


def _ask(desk: Desk, verb: str, **arguments: object) -> Heard:
    heard = ask(desk, verb, recording=BEFORE, **arguments)
    assert not heard.is_refusal, heard.text
    return heard


def test_path_names_the_longest_node_and_gap(desk: Desk) -> None:
    path = _ask(desk, "path")
    assert "As it ran (observed)" in path.recorded
    assert "# Longest gaps on the path" in path.recorded
    (gap,) = (arguments for verb, arguments in path.steps if "gap" in arguments)
    explained = ask(desk, "explain", **gap)
    assert "pass " in explained.recorded
    for heard in (path, explained, _ask(desk, "layer")):
        assert "takes 1.028 ms (95% 1.026 to 1.029 ms) [derived, n=24, c1]." in heard.recorded
        assert "(c1) timed while node times were recorded" in heard.recorded


def test_layer_is_one_of_those_listed(desk: Desk) -> None:
    layers = _ask(desk, "layer")
    assert "layer 0 | 20 | " in layers.recorded
    verb, arguments = layers.steps[1]
    layer = ask(desk, verb, **arguments)
    assert layer.recorded.splitlines()[0].endswith(f": {arguments['layer']}")
    assert "20 nodes take " in layer.recorded
    refused = ask(desk, "layer", recording=BEFORE, layer="layer 99")
    assert "there is no such layer; there are 16" in refused.text


def test_neighbours_lead_on_both_ways(desk: Desk) -> None:
    neighbours = _ask(desk, "neighbours", node=3)
    assert [arguments["node"] for _, arguments in neighbours.steps] == [1, 4, 23]


def test_node_is_located_at_its_line(desk: Desk) -> None:
    assert "decode_step.py:58 Layer.attention" in _ask(desk, "locate", node=3).recorded


def test_comparison_names_files_as_the_list_does(desk: Desk) -> None:
    sides = {"baseline": BEFORE, "candidate": AFTER}
    first, *_ = ask(desk, "compare", **sides).recorded.splitlines()
    assert first.startswith(f"{BEFORE}, run 1: ")
    assert f" → {AFTER}, run 1: " in first


def test_edit_is_answered_and_without_one_parts_are_ranked(desk: Desk) -> None:
    assert "The launch would take " in _ask(desk, "what_if", off=["layer 3"]).recorded
    assert "10% off brings" in _ask(desk, "what_if").recorded
    refused = ask(desk, "what_if", recording=BEFORE, off=["nothing like it"])
    assert refused.text.startswith("refused: ")


def test_change_is_verified_both_ways(desk: Desk) -> None:
    faster = ask(desk, "verify_fix", baseline=BEFORE, candidate=AFTER)
    assert "Faster: a launch is shorter by more than noise." in faster.recorded
    assert "(95% " in faster.recorded
    slower = ask(desk, "verify_fix", baseline=AFTER, candidate=BEFORE)
    assert "Slower: " in slower.recorded
    same = ask(desk, "verify_fix", baseline=BEFORE, candidate=BEFORE)
    assert "The same: the launch changed by less than 1.0%" in same.recorded
    verb, arguments = faster.steps[0]
    assert "became 1, " in ask(desk, verb, **arguments).recorded


def test_slow_rank_is_led_to_from_the_overview() -> None:
    desk = desk_of(RECORDINGS / "ranks_h200.gviz")
    assert ask(desk, "overview").steps[0] == ("ranks", {})
    ranks = ask(desk, "ranks")
    assert "(decode › layer 5) takes 15.6 µs on rank 1" in ranks.recorded
    assert "rank 0 waits 17.2 µs for rank 1 [estimated, n=24, c1]" in ranks.recorded
    verb, arguments = ranks.steps[0]
    assert "ranks.py:35 step" in ask(desk, verb, **arguments).recorded
    alone = ask(desk_of(RECORDINGS / BEFORE), "ranks")
    assert alone.is_refusal
    assert "'gviz merge' puts the files of a job into one" in alone.text


@pytest.mark.parametrize("view", ["graph", "timeline"])
def test_picture_is_svg(desk: Desk, view: str) -> None:
    reply = desk.ask("render", {"recording": BEFORE, "view": view, "form": "svg"})
    assert reply.picture is not None
    assert reply.picture.media_type == "image/svg+xml"
    assert reply.picture.content.startswith(b"<svg") or b"<svg" in reply.picture.content[:200]


def test_picture_is_png_where_a_browser_draws_it(desk: Desk, browser: Path) -> None:
    reply = desk.ask("render", {"recording": BEFORE})
    assert reply.picture is not None
    assert reply.picture.media_type == "image/png"
    # 4,855 pixels of the picture on the longest side that models see.
    assert b"--window-size=1568,714 " in reply.picture.content
    browser.write_text("#!/bin/sh\nexit 0\n")
    assert "drew no picture; ask for form svg" in ask(desk, "render", recording=BEFORE).text


def test_picture_is_svg_where_there_is_no_browser(
    desk: Desk, browser: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser.unlink()
    monkeypatch.setenv("PATH", "/nowhere")
    reply = desk.ask("render", {"recording": BEFORE})
    assert reply.picture is not None
    assert reply.picture.media_type == "image/svg+xml"
    refused = ask(desk, "render", recording=BEFORE, form="png")
    assert "there is no Chromium here that draws PNG" in refused.text


def test_other_gpu_cannot_be_told() -> None:
    desk = desk_of(RECORDINGS / "decode_step.gviz", RECORDINGS / AFTER)
    told = ask(desk, "verify_fix", baseline="decode_step.gviz", candidate=AFTER)
    assert "Cannot tell: the recordings are of other GPUs" in told.recorded


def test_every_step_is_answered(desk: Desk) -> None:
    asked: set[str] = set()
    waiting = [("overview", {"recording": BEFORE})]
    while waiting and len(asked) < 25:
        verb, arguments = waiting.pop(0)
        if (key := f"{verb}{arguments}") in asked:
            continue
        asked.add(key)
        heard = ask(desk, verb, **arguments)
        assert not heard.is_refusal, (verb, arguments, heard.text)
        waiting += heard.steps
    assert {key.partition("{")[0] for key in asked} >= {"findings", "explain", "path", "locate"}
