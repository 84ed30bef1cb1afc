"""The verb ``record``: there only where allowed, nothing run unseen, and an end to everything."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_questions import ask, desk_of

from gviz.agents import Allowed, Desk, Recorder
from gviz.cli.command_line import main


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "old.gviz").touch()
    return desk_of(tmp_path, allowed=Allowed(Recorder(tmp_path)))


def test_verb_is_there_only_where_it_is_allowed(small_recording: Path) -> None:
    refused = ask(desk_of(small_recording), "record", program="true", name="x")
    assert refused.text.startswith("refused: there is no such verb")


def test_command_needs_a_folder(small_recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "--allow-record", str(small_recording)]) == 2
    assert "--allow-record needs a folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "give program and name, or confirm"),
        ({"program": "true"}, "give program and name, or confirm"),
        ({"program": "true", "name": "../x"}, "name must be letters"),
        ({"program": "true", "name": ".x"}, "name must be letters"),
        ({"program": "true", "name": "old"}, "there is a recording old.gviz already"),
        ({"program": "--overwrite", "name": "x"}, "program must not begin with -"),
        ({"program": "true", "name": "x", "seconds": 0}, "seconds must be above 0"),
        ({"program": "true", "name": "x", "seconds": 1e9}, "seconds must be above 0"),
        ({"program": "true", "name": "x", "arguments": ["y" * 3_000]}, "at most 2,000 characters"),
        ({"program": "true", "name": "x", "arguments": ["a\nb"]}, "one line"),
        ({"program": "true", "name": "x", "arguments": ["a\u202eb"]}, "can be shown"),
        ({"confirm": "12345678"}, "confirm is not a word of an answer"),
        ({"confirm": "12345678", "program": "true"}, "give confirm alone"),
    ],
)
def test_what_cannot_be_recorded_is_refused(
    desk: Desk, arguments: dict[str, object], why: str
) -> None:
    refused = ask(desk, "record", **arguments)
    assert refused.is_refusal
    assert why in refused.text


def test_command_is_shown_first_and_confirmed_once(
    tmp_path: Path, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Put in front of the program's lines, a command of the shell would be run.
    ran = tmp_path / "ran"
    arguments = {"program": "touch", "arguments": [str(ran), "a b; id"], "name": "new"}
    monkeypatch.chdir(tmp_path)
    shown = ask(desk, "record", **arguments)
    assert f"gviz run -o {tmp_path}/new.gviz touch {ran} 'a b; id'" in shown.recorded
    assert not ran.exists()
    verb, confirm = shown.steps[0]
    done = ask(desk, verb, **confirm)
    assert "with exit code 0" in done.recorded
    assert "No recording was written" in done.recorded
    assert ran.exists()
    assert (tmp_path / "a b; id").exists()
    assert ask(desk, verb, **confirm).is_refusal


def test_program_is_ended_and_the_last_of_its_output_kept(desk: Desk) -> None:
    command = "yes 0123456789 | head -c 5000000; echo; echo the end; exec sleep 600"
    wanted = {"program": "sh", "arguments": ["-c", command], "name": "new", "seconds": 5}
    verb, confirm = ask(desk, "record", **wanted).steps[0]
    done = ask(desk, verb, **confirm)
    assert "was ended, its time was over, after " in done.recorded
    assert "the end" in done.recorded.splitlines()
    assert len(done.text) < 6_000
