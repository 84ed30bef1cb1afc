"""The line that tells of progress: on a terminal only, and gone at the end."""

from __future__ import annotations

import io
import sys
import time

import pytest

from gviz.system import ProgressLine, progress_line


class Terminal(io.StringIO):
    """A stderr that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, to be set."""
    now = [100.0]
    monkeypatch.setattr(progress_line.time, "monotonic", lambda: now[0])
    return now


def take_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Return the terminal that stderr is from now on (pytest has its own before a test begins)."""
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setenv("TERM", "xterm")
    return terminal


def shown(text: str) -> str:
    """Return the text that a terminal shows of one line after all that was written to it."""
    line = ""
    for part in text.split("\r"):
        line = part + line[len(part) :]
    return line.rstrip()


def test_short_work_is_not_shown(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = take_terminal(monkeypatch)
    line = ProgressLine()
    line.progress.at(0.5, "reading")
    clock[0] += 0.4
    line.draw()
    assert terminal.getvalue() == ""


def test_share_and_rest_are_drawn_anew_as_time_passes(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = take_terminal(monkeypatch)
    line = ProgressLine()
    line.progress.at(0.0, "opening")
    clock[0] += 1
    line.draw()
    assert shown(terminal.getvalue()) == f"[{'.' * 24}]    0%  1.00 s so far, opening"
    clock[0] += 9
    line.progress.at(0.25, "reading a file of " + "x" * 90)
    line.draw()
    drawn = shown(terminal.getvalue())
    assert drawn.startswith("[######..................] 25.0%  30.0 s left, reading a file of x")
    assert len(drawn) == 79
    clock[0] += 10
    line.draw()
    assert shown(terminal.getvalue()).startswith("[######..................] 25.0%  20.0 s left")
    clock[0] += 30  # longer than the same pace would take
    line.draw()
    assert shown(terminal.getvalue()).startswith("[######..................] 25.0%  50.0 s so far")


def test_work_that_reports_nothing_has_its_name_and_time(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = take_terminal(monkeypatch)
    line = ProgressLine("querying")
    clock[0] += 3
    line.draw()
    assert shown(terminal.getvalue()) == f"[{'.' * 24}]    0%  3.00 s so far, querying"


def test_line_is_drawn_while_nothing_is_told_and_taken_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = take_terminal(monkeypatch)
    monkeypatch.setattr(progress_line, "_DELAY_S", 0.0)
    monkeypatch.setattr(progress_line, "_EVERY_S", 0.001)
    with ProgressLine() as line:
        line.progress.at(0.5, "reading")
        until = time.monotonic() + 60
        while "reading" not in terminal.getvalue():
            assert time.monotonic() < until
    assert shown(terminal.getvalue()) == ""


@pytest.mark.parametrize("why", ["pipe", "dumb", "quiet"])
def test_where_no_line_can_be_written_over_nothing_is_reported(
    clock: list[float], monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    terminal: io.StringIO = take_terminal(monkeypatch)
    if why == "pipe":
        monkeypatch.setattr(sys, "stderr", terminal := io.StringIO())
    monkeypatch.setenv("TERM", "dumb" if why == "dumb" else "xterm")
    monkeypatch.setenv("GVIZ_QUIET", "1" if why == "quiet" else "")
    with ProgressLine() as line:
        clock[0] += 10
        line.progress.at(0.25, "reading")
        assert not line.is_live
    assert terminal.getvalue() == ""


def test_verbose_pipe_has_a_line_for_each_thing_that_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stderr", pipe := io.StringIO())
    with ProgressLine(says_all=True) as line:
        for share, text in ((0.1, "reading"), (0.2, "reading"), (0.9, "writing")):
            line.progress.at(share, text)
    assert pipe.getvalue() == "gviz: reading\ngviz: writing\n"
