"""Options whose value may be left out."""

from __future__ import annotations

import pytest

from gviz.cli.parser import CommandParser


@pytest.mark.parametrize(
    ("arguments", "value", "rest"),
    [
        (["prog"], "off", []),
        (["--black-box", "prog"], "core", []),
        (["--black-box=node", "prog", "x"], "node", ["x"]),
        (["prog", "--black-box", "x"], "off", ["--black-box", "x"]),
    ],
)
def test_value_that_is_left_out_takes_no_argument(
    arguments: list[str], value: str, rest: list[str]
) -> None:
    parser = CommandParser()
    parser.add_argument("--black-box", default="off", choices=["core", "node"])
    parser.default_value("--black-box", "core")
    parser.add_argument("program")
    parser.add_argument("arguments", nargs="...")
    parsed = parser.parse_args(arguments)
    assert (parsed.black_box, parsed.program, parsed.arguments) == (value, "prog", rest)
