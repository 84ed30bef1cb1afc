"""Options whose value may be left out, and errors that name what was probably meant."""

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


@pytest.mark.parametrize(
    ("arguments", "end"),
    [
        (["--colector"], "; did you mean --collector?"),
        (["--collector", "cupty"], "; did you mean cupti?"),
        (["--collector", "z"], "(choose from 'events', 'cupti')"),
        (["bild"], "; did you mean build?"),
        (["build", "--workers", "many"], "argument --workers: 'many' is no whole number"),
        (["build", "--seconds", "soon"], "argument --seconds: 'soon' is no number"),
    ],
)
def test_wrong_word_is_answered_in_plain_words(
    arguments: list[str], end: str, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = CommandParser()
    parser.add_argument("--collector", choices=["events", "cupti"])
    build = parser.add_subparsers(metavar="COMMAND").add_parser("build")
    build.add_argument("--workers", type=int)
    build.add_argument("--seconds", type=float)
    with pytest.raises(SystemExit):
        parser.parse_args(arguments)
    said = capsys.readouterr().err.rstrip()
    # Later versions of Python leave the quotes out of the list.
    assert said.replace("'", "").endswith(end.replace("'", ""))
