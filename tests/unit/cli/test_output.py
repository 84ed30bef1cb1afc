"""Output of every command: JSON with a version, and text that has colours on terminals only."""

from __future__ import annotations

import argparse
import io
import json
import os
import pty
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping
from itertools import groupby
from pathlib import Path

import pytest
from live_spool import LiveProgram
from places import ROOT

from gviz.cli.command_line import COMMANDS, build_parser
from gviz.cli.output import print_text, wants_colours
from gviz.system import Progress, ProgressLine

Gviz = Callable[..., "subprocess.CompletedProcess[str]"]

LIVES = ROOT / "assets" / "recordings" / "graph_lives.gviz"
DECODE = ROOT / "assets" / "recordings" / "decode_step.gviz"
OLD = ROOT / "tests" / "golden" / "recordings" / "schema_5.gviz"
DOT = ROOT / "tests" / "golden" / "dot" / "cupy_fork_join_verbose.dot"
RANKS = ROOT / "assets" / "recordings" / "ranks_h200.gviz"

#: Arguments of each command that can run anywhere; paths beside these are of the test's folder.
ARGUMENTS: Mapping[str, list[str | Path]] = {
    "info": [LIVES],
    "analyze": [LIVES, "--graph", "solve"],
    "what-if": [DECODE, "--off", "norm"],
    "node": [DECODE, "1"],
    "query": [LIVES, "SELECT count(*) FROM node"],
    "diff": [LIVES, LIVES, "--graph", "solve"],
    "trend": [LIVES],
    "skew": [RANKS],
    "check": [LIVES, "--baseline", LIVES],
    "merge": [LIVES, "-o", "merged.gviz"],
    "import": [DOT, "-o", "imported.gviz"],
    "export": [LIVES, "--format", "svg", "--graph", "solve", "-o", "solve.svg"],
    "upgrade": [OLD, "-o", "upgraded.gviz"],
    "recover": [LIVES, "-o", "recovered.gviz"],
    "completion": ["bash"],
    "skill": [],
    "doctor": [],
    "view": [LIVES],
    "demo": [],
}
#: Run where there is a driver or an extra, or of a recording with values: below tests, where the
#: JSON is read.
ELSEWHERE = {
    "run": "contract/test_run.py",
    "start": "contract/test_periods.py",
    "stop": "contract/test_periods.py",
    "bench": "contract/test_bench.py",
    "top": "unit/cli/test_output.py",
    "fleet": "unit/fleet/test_build.py",
    "mcp": "unit/agents/test_protocol.py",
    "values": "unit/cli/commands/test_values.py",
}


#: These read nothing; the start of a server has a line of its own (tests/unit/app/server).
SHORT = {"completion", "skill", "demo"}
#: How much of a query is left nobody knows: its line has the time until now. All that view does by
#: itself is to open the file, which this process has done.
WITHOUT_SHARE = {"query", "view"}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_json_quiet_and_verbose(name: str) -> None:
    command = build_parser(name).command(name)
    inner = [a for a in command._actions if isinstance(a, argparse._SubParsersAction)]
    for parser in [p for a in inner for p in a.choices.values()] or [command]:
        options = {text for action in parser._actions for text in action.option_strings}
        assert {"--json", "-q", "--quiet", "-v", "--verbose"} <= options


def test_json_of_every_command_is_tested() -> None:
    assert set(ARGUMENTS) | set(ELSEWHERE) == set(COMMANDS)
    for name, place in ELSEWHERE.items():
        text = (ROOT / "tests" / place).read_text()
        assert f"{name}_version" in text or "{command}_version" in text, place


def test_demo_recordings_are_copied_for_the_terminal(gviz_here: Gviz, tmp_path: Path) -> None:
    done = gviz_here("demo", "--to", "copies", "--json", cwd=tmp_path)
    found = json.loads(done.stdout)
    assert found["view_version"] == 1
    for one in found["files"]:
        original = LIVES.parent / Path(one["path"]).name
        assert (tmp_path / one["path"]).read_bytes() == original.read_bytes()
    assert len(found["files"]) == len(list(LIVES.parent.glob("*.gviz")))
    assert stat.S_IMODE((tmp_path / "copies").stat().st_mode) == 0o700
    assert "'gviz info FILE' reads one" in done.stderr
    refused = gviz_here("demo", "--to", "copies", cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "copies exists; name a folder that does not" in refused.stderr
    refused = gviz_here("demo", "--to", "none/copies", cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "there is no folder none; create it" in refused.stderr


@pytest.mark.parametrize("name", ARGUMENTS)
def test_json_begins_with_the_version_of_its_keys(
    gviz_here: Gviz, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    from gviz import app

    def serve(paths: object, options: app.Options) -> int:
        assert options.announce is not None
        options.announce("http://127.0.0.1:1/x")
        return 0

    told: list[tuple[ProgressLine, float]] = []
    monkeypatch.setattr(app, "serve", serve)
    monkeypatch.setattr(
        ProgressLine,
        "progress",
        property(lambda line: Progress(lambda share, _: told.append((line, share))), _leave),
        raising=False,
    )
    done = gviz_here(name, *ARGUMENTS[name], "--json", cwd=tmp_path)
    assert done.returncode in (0, 1), done.stderr
    found = json.loads(done.stdout)
    key = {"analyze": "analysis", "demo": "view", "what-if": "whatif"}.get(name, name) + "_version"
    assert next(iter(found)) == key
    assert isinstance(found[key], int)
    if "path" in found and "size_bytes" in found and name != "info":
        assert found["size_bytes"] == (tmp_path / found["path"]).stat().st_size
    # A file that this process has not looked at yet is opened first, with a line of its own.
    of_lines = [[share for _, share in line] for _, line in groupby(told, lambda one: id(one[0]))]
    assert all(shares == sorted(shares) for shares in of_lines)
    assert bool(told) == (name not in SHORT)
    # What remains is estimated from a share between none and all, which the longest work must tell.
    if name not in SHORT | WITHOUT_SHARE:
        assert any(0 < share < 1 for share in of_lines[-1])


def _leave(line: ProgressLine, progress: Progress) -> None:
    """Take no notice of a progress that is set."""


def test_json_of_top_is_a_line_a_look(gviz: Gviz, tmp_path: Path) -> None:
    program = LiveProgram(tmp_path / "live.gviz")
    program.instantiate()
    program.launch(5)
    done = gviz("top", tmp_path / "live.gviz", "--once", "--every", "0.1", "--json")
    (line,) = done.stdout.splitlines()
    found = json.loads(line)
    assert found["top_version"] == 1
    assert [(x["launch_count"], x["launches_per_second"]) for x in found["graphs"]] == [(5, 0)]


def test_dot_on_stdout_cannot_be_json_too(gviz_here: Gviz) -> None:
    done = gviz_here("export", LIVES, "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "name the file for dot with -o" in done.stderr


def test_several_files_of_which_one_cannot_be_upgraded_are_all_in_the_json(
    gviz_here: Gviz, tmp_path: Path
) -> None:
    shutil.copy(LIVES, tmp_path / "a.gviz")
    (tmp_path / "b.gviz").write_text("no recording")
    done = gviz_here("upgrade", "a.gviz", "b.gviz", "--json", cwd=tmp_path)
    assert done.returncode == 1
    one, other = json.loads(done.stdout)["files"]
    assert one["error"] is None
    assert one["from_schema"] == one["to_schema"]
    assert "b.gviz" in other["error"]


def _on_terminal(*words: str | Path, environment: Mapping[str, str]) -> str:
    """Return what a command writes to a terminal."""
    own, its = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "gviz", *map(str, words)],
        stdout=its, stderr=its, stdin=subprocess.DEVNULL,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", **environment},
    ):  # fmt: skip
        os.close(its)
        written = b""
        try:
            while part := os.read(own, 65536):
                written += part
        except OSError:  # the other side is closed
            pass
    os.close(own)
    return written.decode().replace("\r\n", "\n")


def test_terminal_has_colours_and_the_same_words(gviz: Gviz) -> None:
    coloured = _on_terminal("info", "-q", LIVES, environment={"NO_COLOR": ""})
    plain = _on_terminal("info", "-q", LIVES, environment={"NO_COLOR": "1"})
    assert "\x1b[" in coloured
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain
    assert "\x1b" not in gviz("info", LIVES).stdout


def test_error_on_a_terminal_is_coloured_and_says_the_same() -> None:
    coloured = _on_terminal("info", "nothing.gviz", environment={"NO_COLOR": ""})
    assert coloured.startswith("\x1b[31mgviz: ")
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured).startswith("gviz: there is no file nothing.gviz")


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("variables", "wanted"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_colours_are_for_terminals_without_no_color(
    monkeypatch: pytest.MonkeyPatch, variables: Mapping[str, str], wanted: bool
) -> None:
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert wants_colours(_Terminal()) is wanted
    assert wants_colours(io.StringIO()) is False


def test_text_that_looks_like_markup_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    stream = _Terminal()
    text = "kernel<[bold]> :smile: " + "x" * 300 + " 4.13 µs"
    print_text(text, stream)
    assert re.sub(r"\x1b\[[\d;]*m", "", stream.getvalue()) == text + "\n"
    assert "\x1b[36m4.13 µs" in stream.getvalue()


def test_verbose_says_what_an_error_came_from(gviz_here: Gviz, tmp_path: Path) -> None:
    (tmp_path / "gviz.toml").write_text("[options\n")
    plain = gviz_here("info", LIVES, cwd=tmp_path)
    assert "it came from" not in plain.stderr
    more = gviz_here("-v", "info", LIVES, cwd=tmp_path)
    assert more.stderr.startswith(plain.stderr)
    assert "gviz: it came from TOMLDecodeError: " in more.stderr
