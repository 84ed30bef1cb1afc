"""Answers of every verb over all bundled recordings: limits, steps, and what figures rest on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from agent_questions import Heard, ask, desk_of
from places import ROOT

from gviz.agents import Desk

#: Those whose kind no other one has, in make test; the others after it.
QUICK = ("decode_server", "decode_step_h200", "graph_lives", "nested_torch", "ranks_h200")
RECORDINGS = sorted((ROOT / "assets" / "recordings").glob("*.gviz"))
#: Verbs asked without arguments; the others are asked as steps name them.
ASKED = ("overview", "findings", "path", "layer", "what_if", "ranks", "values", "render")
#: Their lines are rows, source and names as they were recorded.
RAW = frozenset({"query", "locate", "neighbours", "render"})
#: A duration, a share or a ratio, which no name is a part of.
FIGURE = re.compile(r"(?<![\w.])\d[\d.,]*(?: (?:ns|µs|ms|s)\b|%|×)")
BASIS = re.compile(r"\[[^\]]*\b(?:measured|derived|estimated)\b[^\]]*\bn=\d[^\]]*\]")
NAME = re.compile(r"«[^»]*»")
#: What is no figure of the recording's: titles, what a fix assumes, the model's error on trials,
#: why something was not looked at.
TEXT = ("#", "(", "Caveat: ", "Fix: ", "On ", "What if ", "What 10% off", "Not checked: ")
#: How many of the changes that are named may be none.
ERROR = "about 5% at most"


def _without_basis(recorded: str) -> Iterator[str]:
    """Yield the lines with a figure of which it is not said what it rests on."""
    head, before = "", ""
    for line in recorded.splitlines():
        if " | " in line and " | " not in before:
            head = before = line
            continue
        before = line
        about = f"{head} {line}" if " | " in line else line
        if line.lstrip().startswith(TEXT) and " | " not in line:
            continue
        if FIGURE.search(NAME.sub("", line).replace(ERROR, "")) and not BASIS.search(about):
            yield line


def _signature(verb: str, arguments: dict[str, object]) -> tuple[str, ...]:
    return (verb, *sorted(arguments))


def _walk(desk: Desk) -> Iterator[tuple[str, dict[str, object], Heard]]:
    """Ask every verb, and follow a step of each kind once."""
    waiting: list[tuple[str, dict[str, object]]] = [(verb, {}) for verb in ASKED]
    asked: set[tuple[str, ...]] = set()
    while waiting:
        verb, arguments = waiting.pop(0)
        if _signature(verb, arguments) in asked:
            continue
        asked.add(_signature(verb, arguments))
        heard = ask(desk, verb, **arguments)
        yield verb, arguments, heard
        waiting += heard.steps


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=() if path.stem in QUICK else pytest.mark.thorough)
        for path in RECORDINGS
    ],
)
def test_every_answer_is_short_leads_on_and_says_what_figures_rest_on(path: Path) -> None:
    desk = desk_of(path)
    figures = 0
    for verb, arguments, heard in _walk(desk):
        about = f"{verb} {json.dumps(arguments)}"
        # A step is answered; a verb that nothing led to may have no answer here.
        assert not (arguments and heard.is_refusal), (about, heard.text)
        if verb != "render":
            assert len(heard.text) <= (4_000 if verb == "overview" else 8_000), about
        for step, values in heard.steps:
            desk.verbs[step].check(values)
        if verb in RAW or heard.is_refusal:
            continue
        figures += len(FIGURE.findall(NAME.sub("", heard.recorded)))
        assert [*_without_basis(heard.recorded)] == [], about
        assert "[cut here" not in heard.recorded, about
    assert figures > 20


@pytest.mark.parametrize(
    ("before", "after"),
    [("decode_step_h200", "decode_step_h200_fused"), ("token_step_1", "token_step_4")],
)
def test_changes_say_what_their_figures_rest_on(before: str, after: str) -> None:
    desk = desk_of(ROOT / "assets" / "recordings")
    sides = {"baseline": f"{before}.gviz", "candidate": f"{after}.gviz"}
    for verb in ("compare", "verify_fix"):
        heard = ask(desk, verb, **sides)
        assert FIGURE.search(heard.recorded)
        assert [*_without_basis(heard.recorded)] == [], verb


def test_figure_without_basis_is_found() -> None:
    assert [*_without_basis("It takes 3.2 µs [derived].")]
    assert [*_without_basis("Node | Time [derived]\n1 | 3.2 µs")]
    assert [*_without_basis("It brings 4.8% of the launch [n=24, c1].")]
    assert not [*_without_basis("Node | Time [derived, n=4, c1]\n1 | 3.2 µs\n2 | 1.2 µs")]
    assert not [*_without_basis("«kernel 12%» runs.")]
