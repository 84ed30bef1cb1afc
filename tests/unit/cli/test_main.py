"""The command line's frame: dispatch, errors as sentences, exit codes."""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from types import SimpleNamespace

import pytest

from gviz import __version__
from gviz.__main__ import main as run_gviz
from gviz.cli import command_line as cli
from gviz.errors import CollectorError, GvizError, UsageError

Gviz = Callable[..., "subprocess.CompletedProcess[str]"]


def _use_command(monkeypatch: pytest.MonkeyPatch, run: Callable[[object], int]) -> None:
    """Make ``gviz info`` run the given function."""

    def add_parser(subparsers: cli.Subparsers) -> None:
        subparsers.add_parser("info", help="h").add_argument("--n", type=int, default=0)

    module = SimpleNamespace(add_parser=add_parser, run=run)
    monkeypatch.setattr(cli, "load_command", lambda name: module)


def test_installed_script_is_the_command_line() -> None:
    (script,) = entry_points(group="console_scripts", name="gviz")
    assert script.load() is run_gviz


def test_no_arguments_prints_help_and_exits_0(gviz: Gviz) -> None:
    done = gviz()
    assert done.returncode == 0
    assert done.stderr == ""
    for name, command in cli.COMMANDS.items():
        assert f"{name} " in done.stdout
        assert command.summary in done.stdout


def test_version_is_the_package_version(gviz: Gviz) -> None:
    assert gviz("--version").stdout == f"gviz {__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [["nonsense"], ["--nonsense"], ["info"], ["info", "--nonsense", "x"], ["info", "a", "b"]],
)
def test_usage_error_exits_2_and_prints_nothing_on_stdout(gviz: Gviz, arguments: list[str]) -> None:
    done = gviz(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("usage: gviz")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_a_module_and_help(gviz: Gviz, name: str) -> None:
    assert importlib.util.find_spec(cli.COMMANDS[name].module) is not None
    done = gviz(name, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith(f"usage: gviz {name}")


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_command_says_of_itself_what_the_list_says(name: str) -> None:
    parser = cli.build_parser(name)
    (subparsers,) = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    helps = {choice.dest: choice.help for choice in subparsers._choices_actions}
    assert helps[name] == cli.COMMANDS[name].summary


@pytest.mark.parametrize(
    ("error", "code"),
    [(GvizError("told"), 1), (CollectorError("told"), 1), (UsageError("told"), 2)],
)
def test_gviz_error_becomes_a_sentence_and_its_exit_code(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: GvizError,
    code: int,
) -> None:
    def run(arguments: object) -> int:
        raise error

    _use_command(monkeypatch, run)
    assert cli.main(["info"]) == code
    assert capsys.readouterr() == ("", "gviz: told\n")


def test_other_errors_are_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(arguments: object) -> int:
        raise LookupError("a bug")

    _use_command(monkeypatch, run)
    with pytest.raises(LookupError, match="a bug"):
        cli.main(["info"])


def test_interrupt_exits_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(arguments: object) -> int:
        raise KeyboardInterrupt

    _use_command(monkeypatch, run)
    assert cli.main(["info"]) == 130


def test_command_gets_its_arguments_and_returns_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def run(arguments: object) -> int:
        seen.append(arguments.n)  # type: ignore[attr-defined]
        return 7

    _use_command(monkeypatch, run)
    assert cli.main(["info", "--n", "3"]) == 7
    assert seen == [3]


def test_reader_that_goes_away_is_no_error(small_recording: Path) -> None:
    command = [sys.executable, "-P", "-m", "gviz", "info", "--slowest", "1000", "--json"]
    with subprocess.Popen(
        [*command, str(small_recording)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        child.stdout.close()
        assert child.stderr is not None
        assert child.stderr.read() == b""
        assert child.wait(timeout=60) == 141
