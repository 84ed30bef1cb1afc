"""The line that tells of progress: on a terminal only, and gone at the end."""

from __future__ import annotations

import io
import sys

import pytest

from gviz.cli import progress
from gviz.cli.progress import ProgressLine


class Terminal(io.StringIO):
    """A stderr that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, to be set; the terminal is stderr."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def shown(text: str) -> str:
    """Return the text that a terminal shows of one line after all that was written to it."""
    line = ""
    for part in text.split("\r"):
        line = part + line[len(part) :]
    return line.rstrip()


def test_short_work_is_not_shown(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with ProgressLine() as line:
        clock[0] += 0.4
        line.show("reading")
    assert terminal.getvalue() == ""


def test_share_and_rest_are_shown_and_taken_away(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with ProgressLine() as line:
        clock[0] += 10
        line.show_share(0.25, "reading a file of " + "x" * 90)
        drawn = shown(terminal.getvalue())
        assert drawn.startswith(
            "[######..................] 25.0%  30.0 s left, reading a file of x"
        )
        assert len(drawn) == 79
        line.show_share(0.5, "said too soon after")
        assert shown(terminal.getvalue()) == drawn
        clock[0] += 1
        line.show("writing")
        assert shown(terminal.getvalue()) == "writing"
    assert shown(terminal.getvalue()) == ""


def test_pipe_is_reported_nothing(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", pipe := io.StringIO())
    with ProgressLine() as line:
        clock[0] += 10
        line.show_share(0.25, "reading")
    assert pipe.getvalue() == ""
    assert not line.is_live
