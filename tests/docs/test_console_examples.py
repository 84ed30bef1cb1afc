"""Commands that documents show with their output: they print that, on the bundled recordings."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from places import ROOT

from gviz.cli.command_line import COMMANDS

Gviz = Callable[..., "subprocess.CompletedProcess[str]"]

#: A line of it stands for any number of lines of output.
_LEFT_OUT = "..."


def _examples() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield document, command and the lines shown below it."""
    for path in sorted((ROOT / "docs").glob("*.md")):
        for block in re.findall(r"```console\n(.*?)```", path.read_text(), re.DOTALL):
            for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, *shown = example.rstrip("\n").split("\n")
                yield path.name, command, tuple(shown)


EXAMPLES = list(_examples())


def _missing(shown: Sequence[str], printed: Sequence[str]) -> str | None:
    """Return the first shown line that the output does not have in its place; None: all are."""
    at, may_skip = 0, False
    for line in shown:
        if line == _LEFT_OUT:
            may_skip = True
            continue
        here = printed[at:] if may_skip else printed[at : at + 1]
        if line not in here:
            return line
        at, may_skip = at + here.index(line) + 1, False
    return None if may_skip or at == len(printed) else f"{_LEFT_OUT} for {printed[at]!r}"


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the bundled recordings."""
    folder = tmp_path_factory.mktemp("recordings")
    for path in (ROOT / "assets" / "recordings").glob("*.gviz"):
        (folder / path.name).symlink_to(path)
    return folder


@pytest.mark.parametrize(("document", "command", "shown"), EXAMPLES)
def test_shown_output_is_what_the_command_prints(
    gviz_here: Gviz, recordings: Path, document: str, command: str, shown: tuple[str, ...]
) -> None:
    program, *arguments = shlex.split(command)
    assert program == "gviz"
    done = gviz_here(*arguments, cwd=recordings)
    assert done.returncode == 0, done.stderr
    assert _missing(shown, done.stdout.rstrip("\n").split("\n")) is None


def test_examples_are_found() -> None:
    assert {"getting-started.md", "questions.md"} <= {document for document, _, _ in EXAMPLES}
    assert len(EXAMPLES) >= 8
    # None is left out: each block begins with its command.
    for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for block in re.findall(r"```console\n(.*?)```", path.read_text(), re.DOTALL):
            assert block.startswith("$ gviz "), (path.name, block)
            assert path.parent.name == "docs", "README's examples are not run: show them in docs"


def test_a_line_that_is_not_printed_is_found() -> None:
    printed = ["one", "two", "three"]
    assert _missing(["one", "...", "three"], printed) is None
    assert _missing(["...", "two", "..."], printed) is None
    assert _missing(["one", "three"], printed) == "three"
    assert _missing(["...", "two"], printed) == "... for 'three'"
    assert _missing(["...", "three", "two"], printed) == "two"


@pytest.mark.parametrize("name", ["getting-started.md", "questions.md"])
def test_commands_in_prose_exist(name: str) -> None:
    text = (ROOT / "docs" / name).read_text()
    words = set(re.findall(r"(?:`|^)gviz ([a-z]+)(?=[ `\n])", text, re.MULTILINE))
    assert len(words) >= 3
    assert words <= set(COMMANDS)
