"""Texts of a watched program: on one line, and nothing in them acts."""

from __future__ import annotations

import pytest

from gviz.text import inert


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("gemm", "gemm"),
        ("one\n\ttwo\r\nthree", "one two three"),
        ("\x1b[31mred\x07", "?[31mred?"),
        ("\u202eturned\u200b", "?turned?"),
        ("שלום", "שלום"),
    ],
)
def test_nothing_acts(text: str, line: str) -> None:
    assert inert(text) == line


def test_long_text_is_cut() -> None:
    assert inert("x" * 20, 10) == "x" * 9 + "…"
