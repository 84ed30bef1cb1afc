"""Stacks as columns, with source lines as they were when the program ran."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gviz.spool.folding.run.stacks import SourceLines, fold_stacks

RAN_UNTIL_NS = 1_790_000_000_000_000_000


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text("def f():\n    return 1  \n\nlast = 'é'", "utf-8")
    os.utime(path, ns=(RAN_UNTIL_NS - 1, RAN_UNTIL_NS - 1))
    return path


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1, "def f():"),
        (2, "return 1"),
        (3, None),
        (4, "last = 'é'"),
        (5, None),
        (0, None),
        (-1, None),
    ],
)
def test_line_is_given_without_indentation(program: Path, number: int, text: str | None) -> None:
    assert SourceLines(RAN_UNTIL_NS).line(str(program), number) == text


def test_file_changed_after_the_run_gives_no_line(program: Path) -> None:
    os.utime(program, ns=(RAN_UNTIL_NS + 1, RAN_UNTIL_NS + 1))
    assert SourceLines(RAN_UNTIL_NS).line(str(program), 1) is None


def test_file_is_read_once(program: Path) -> None:
    lines = SourceLines(RAN_UNTIL_NS)
    assert lines.line(str(program), 1) == "def f():"
    program.unlink()
    assert lines.line(str(program), 2) == "return 1"


@pytest.mark.parametrize("file", ["<string>", "/no/such/file.py", "", "/"])
def test_what_is_no_file_gives_no_line(file: str) -> None:
    assert SourceLines(RAN_UNTIL_NS).line(file, 1) is None


def test_pipe_that_a_program_was_read_from_gives_no_line(tmp_path: Path) -> None:
    pipe = tmp_path / "program.py"
    os.mkfifo(pipe)
    os.utime(pipe, ns=(RAN_UNTIL_NS - 1, RAN_UNTIL_NS - 1))
    assert SourceLines(RAN_UNTIL_NS).line(str(pipe), 1) is None


def test_bytes_that_are_no_utf8_do_not_fail(program: Path) -> None:
    program.write_bytes(b"x = '\xe9'\n")
    os.utime(program, ns=(0, 0))
    assert SourceLines(RAN_UNTIL_NS).line(str(program), 1) == "x = '�'"


def test_equal_frames_of_stacks_are_one_location(program: Path) -> None:
    outer, inner = [str(program), 1, "<module>", None], [str(program), 2, "f", None]
    frames, locations = fold_stacks({7: [inner, outer], 9: [outer], 8: []}, RAN_UNTIL_NS)
    assert frames.tolist() == [(7, 0, 1), (7, 1, 2), (9, 0, 2)]
    assert locations.tolist() == [
        (1, str(program), 2, "f", "return 1"),
        (2, str(program), 1, "<module>", "def f():"),
    ]


def test_text_of_a_line_that_was_recorded_stands(program: Path) -> None:
    _, locations = fold_stacks({1: [[str(program), 2, "f", "return 2"]]}, RAN_UNTIL_NS)
    assert locations["source"].tolist() == ["return 2"]


def test_no_stacks_are_no_frames() -> None:
    frames, locations = fold_stacks({}, RAN_UNTIL_NS)
    assert len(frames) == len(locations) == 0
