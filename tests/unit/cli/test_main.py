"""The command line's frame: dispatch, errors as sentences, exit codes."""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from types import SimpleNamespace

import pytest
from places import ROOT

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
    assert gviz("--version").stdout == gviz("-V").stdout == f"gviz {__version__}\n"


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
    assert (
        importlib.util.find_spec(f"{cli.COMMANDS_PACKAGE}.{cli.COMMANDS[name].module}") is not None
    )
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


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (MemoryError(), "gviz: there is not enough memory\n"),
        (RuntimeError("can't allocate read lock"), "gviz: there is not enough memory\n"),
        (OSError(24, "Too many open files"), "[Errno 24] Too many open files\n"),
    ],
)
def test_refusals_of_the_system_are_sentences(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
    sentence: str,
) -> None:
    def fail(arguments: list[str]) -> int:
        raise error

    monkeypatch.setattr(cli, "_dispatch", fail)
    assert cli.main([]) == 1
    said = capsys.readouterr().err
    assert said.startswith("gviz: ")
    assert said.endswith(sentence)


def test_library_that_failed_without_a_reason_is_shown_where(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(arguments: object) -> int:
        raise SystemError("error return without exception set")

    _use_command(monkeypatch, run)
    assert cli.main(["info"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("gviz: a library failed and named no error, as NumPy does without")
    assert "there is not enough memory" not in said
    assert 'raise SystemError("error return without exception set")' in said


def test_system_error_with_a_reason_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(arguments: object) -> int:
        raise SystemError("bad argument to internal function")

    _use_command(monkeypatch, run)
    with pytest.raises(SystemError, match="bad argument"):
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
        assert child.wait(timeout=120) == 141


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["analyse", "x.gviz"], "there is no command 'analyse'; did you mean analyze?"),
        (["qqqq"], "there is no command 'qqqq'"),
        (["info", "x.gviz", "--slowst"], "--slowst; did you mean --slowest?"),
        (["run", "--overwite", "prog"], "--overwite; did you mean --overwrite?"),
        (["run"], "the following arguments are required: PROGRAM | MODULE"),
        (["merge", "x.gviz"], "the following arguments are required: -o/--output"),
        (["diff"], "the following arguments are required: before"),
        (["fleet", "view"], "the following arguments are required: FLEET"),
    ],
)
def test_wrong_words_are_answered_with_what_was_meant(
    gviz_here: Gviz, arguments: list[str], hint: str
) -> None:
    done = gviz_here(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(f"{hint}\n")


def test_script_in_the_place_of_a_command_is_answered_with_run(
    gviz_here: Gviz, tmp_path: Path
) -> None:
    (tmp_path / "train.py").touch()
    done = gviz_here("train.py", cwd=tmp_path)
    assert done.returncode == 2
    assert "to record a program: gviz run train.py" in done.stderr


def test_wrong_file_is_answered_with_the_nearest_name(
    gviz_here: Gviz, tmp_path: Path, small_recording: Path
) -> None:
    (tmp_path / "decode.gviz").symlink_to(small_recording)
    done = gviz_here("info", "decod.gviz", cwd=tmp_path)
    assert done.stderr == ("gviz: there is no file decod.gviz; did you mean decode.gviz?\n")
    (tmp_path / "decode.json").touch()
    done = gviz_here("info", "decod.gviz", cwd=tmp_path)
    assert "did you mean decode.gviz?" in done.stderr
    for other in ("quite_another", "another.gviz"):  # a suffix makes no name near
        done = gviz_here("info", other, cwd=tmp_path)
        assert done.stderr == f"gviz: there is no file {other}; check the name\n"


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The paths that ``gviz view`` would serve."""
    from gviz.cli.commands.look import view

    found: list[Path] = []
    monkeypatch.setattr(view, "serve_files", lambda paths, args: found.extend(paths) or 0)
    return found


def test_recording_in_the_place_of_a_command_is_viewed(
    gviz_here: Gviz, served: list[Path], small_recording: Path
) -> None:
    assert gviz_here(small_recording, "--no-browser").returncode == 0
    assert served == [small_recording]
    assert gviz_here(small_recording.parent).returncode == 0
    assert served[1:] == [small_recording]


def test_view_alone_opens_the_newest_recording_here(
    gviz_here: Gviz, served: list[Path], tmp_path: Path, small_recording: Path
) -> None:
    for age, name in enumerate(("b.gviz", "a.gviz", "c.gviz")):
        shutil.copy(small_recording, tmp_path / name)
        os.utime(tmp_path / name, (1000 - age, 1000 - age))
    (tmp_path / "new.txt").touch()
    done = gviz_here("view", cwd=tmp_path)
    assert (done.returncode, served) == (0, [Path("b.gviz")])
    assert done.stderr == "gviz: opening b.gviz, the newest here\n"


def test_view_alone_where_there_is_nothing_says_what_to_do(
    gviz_here: Gviz, served: list[Path], tmp_path: Path
) -> None:
    done = gviz_here("view", cwd=tmp_path)
    assert (done.returncode, served) == (2, [])
    assert "make one with 'gviz run PROGRAM'" in done.stderr


@pytest.mark.parametrize("place", ["before", "behind"])
def test_quiet_says_only_what_went_wrong(gviz: Gviz, tmp_path: Path, place: str) -> None:
    recording = shutil.copy(ROOT / "assets" / "recordings" / "graph_lives.gviz", tmp_path)
    words = ["export", "-q"] if place == "behind" else ["-q", "export"]
    done = gviz(*words, recording, "--format", "svg", "--graph", "solve", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "graph_lives.svg").exists()
    done = gviz(*words, recording, "--format", "svg", "--graph", "solve", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "graph_lives.svg exists; choose another name or give --overwrite" in done.stderr
    done = gviz("export", recording, "--format", "svg", "--overwrite", "--graph", "solve")
    assert done.stderr.startswith("wrote ")


def test_raw_counters_are_in_info_when_it_is_verbose(
    gviz_here: Gviz, small_recording: Path
) -> None:
    plain, more = gviz_here("info", small_recording), gviz_here("info", "-v", small_recording)
    assert "records_dropped" not in plain.stdout
    assert "records_dropped" in more.stdout
    assert more.stdout.startswith(plain.stdout.rstrip("\n"))


def test_failed_capture_stands_beside_the_state(gviz_here: Gviz) -> None:
    text = gviz_here("info", ROOT / "assets" / "recordings" / "graph_lives.gviz").stdout
    assert re.search(r"^run 1: .* \(completed, \d+ captures? failed\)$", text, re.MULTILINE)


@pytest.mark.parametrize("command", [("--help",), ("completion", "bash")])
def test_reader_that_has_gone_is_no_fault(command: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-P", "-m", "gviz", *command],
        env={**os.environ, "PYTHONUNBUFFERED": ""},
        stdout=writing, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    os.close(writing)
    assert (done.returncode, done.stderr) == (cli.EXIT_BROKEN_PIPE, "")


@pytest.mark.parametrize("command", ["--help", "info", "export", "query", "diff"])
def test_closed_standard_output_is_no_fault(command: str, small_recording: Path) -> None:
    given = {"query": [small_recording, "SELECT 1", "--csv"], "diff": [small_recording] * 2}
    words = [] if command == "--help" else given.get(command, [small_recording])
    done = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", sys.executable, "-P", "-m", "gviz", command, *words],
        stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("words", [["info"], ["query", "SELECT 1"], ["export"]])
def test_closed_standard_error_is_no_fault(words: list[str], small_recording: Path) -> None:
    given = [words[0], small_recording, *words[1:]]
    done = subprocess.run(
        ["sh", "-c", '"$@" 2>&-', "sh", sys.executable, "-P", "-m", "gviz", *given],
        stdout=subprocess.PIPE, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stdout
    given[1] = Path("none.gviz")
    refused = subprocess.run(
        ["sh", "-c", '"$@" 2>&-', "sh", sys.executable, "-P", "-m", "gviz", *given],
        stdout=subprocess.PIPE, check=False,
    )  # fmt: skip
    assert (refused.returncode, refused.stdout) == (1, b"")


def test_help_lists_every_command_below_its_heading(gviz_here: Gviz) -> None:
    listed = gviz_here("--help").stdout.partition("commands:")[2]
    headings = list(dict.fromkeys(command.heading for command in cli.COMMANDS.values()))
    parts = re.split(r"\n  (\S.*):\n", listed)
    assert parts[1::2] == headings
    for heading, part in zip(headings, parts[2::2], strict=True):
        names = [name for name, command in cli.COMMANDS.items() if command.heading == heading]
        assert re.findall(r"(?m)^    (\S+)", part) == names
