"""Tables that fit a terminal."""

from __future__ import annotations

import pytest

from gviz.text import render_table, shorten


@pytest.mark.parametrize("width", range(30))
def test_shorten_keeps_both_ends_within_the_width(width: int) -> None:
    text = "gemm_kernel<float, 128, 64>"
    short = shorten(text, width)
    assert len(short) <= max(width, 3)
    if width >= 12:
        assert short[:4] == text[:4]
        assert short[-2:] == text[-2:]


def test_render_table_aligns_numbers_right_and_names_left() -> None:
    text = render_table(
        ["id", "name", "time"], [["1", "a", "10"], ["22", "bb", "9"]], width=40, elastic=1
    )
    assert text.splitlines() == ["id  name  time", " 1  a       10", "22  bb       9"]


@pytest.mark.parametrize("width", range(10, 60))
def test_render_table_never_cuts_a_name_to_nothing(width: int) -> None:
    names = ["void gemm_kernel<float, 128, 64>(Params)", "add", "gemm_kernel<half>"]
    body = [[name, f"{time} µs"] for name, time in zip(names, (5, 1_000, 33), strict=True)]
    lines = render_table(["name", "time"], body, width=width, elastic=0, indent=2).splitlines()
    assert max(map(len, lines)) <= max(width, 26)
    if width < 2 + 20 + 2 + 7:  # indent, the least of a name, gap, times
        assert len(lines) > 4
        assert "".join("".join(lines).split()) == "timename" + "".join(
            f"{time}{name}".replace(" ", "") for name, time in body
        )
    else:
        assert len(lines) == 4
        assert all(name[:10] in line for name, line in zip(names, lines[1:], strict=True))
