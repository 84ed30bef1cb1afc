"""Sentences on standard error that never fail."""

from __future__ import annotations

import sys

import pytest

from gviz.system.saying import say


class _Broken:
    def write(self, text: str) -> None:
        raise ValueError("the program's own stderr")


def test_sentence_is_a_line_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    say("gviz: there")
    assert capsys.readouterr() == ("", "gviz: there\n")


@pytest.mark.parametrize("stderr", [None, _Broken()], ids=["none", "broken"])
def test_sentence_that_cannot_be_said_is_not_said_elsewhere(
    stderr: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stderr", stderr)
    say("gviz: there")
    assert capsys.readouterr().out == ""
