"""Options that gviz.toml sets, in every command."""

from __future__ import annotations

import argparse
import re
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from places import ROOT

from gviz.cli.command_line import COMMANDS, build_parser
from gviz.cli.configured import UNCONFIGURED, fill_options

Gviz = Callable[..., "subprocess.CompletedProcess[str]"]

LIVES = ROOT / "assets" / "recordings" / "graph_lives.gviz"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _parse(*words: str) -> argparse.Namespace:
    parser = build_parser(words[0])
    parser.command(words[0]).withhold_defaults()
    parsed = parser.parse_args(words)
    fill_options(parser.command(words[0]), parsed, words[0], COMMANDS)
    return parsed


@pytest.mark.parametrize("name", COMMANDS)
def test_without_a_file_every_command_has_its_defaults(folder: Path, name: str) -> None:
    words = {
        "run": ["p"], "node": ["x", "1"], "diff": ["x", "y"], "merge": ["x", "-o", "y"],
        "view": [], "demo": [], "bench": [], "doctor": [], "top": [], "completion": ["bash"],
        "skill": [],
        "start": ["1"], "stop": ["1"], "fleet": ["query", "x"],
    }.get(name, ["x"])  # fmt: skip
    assert vars(_parse(name, *words)) == vars(build_parser(name).parse_args([name, *words]))


def test_configured_option_stands_between_default_and_command_line(folder: Path) -> None:
    (folder / "gviz.toml").write_text("[options.info]\nslowest = 3\njson = true\n")
    assert _parse("info", "x").slowest == 3
    assert _parse("info", "x").json is True
    assert _parse("info", "x", "--slowest", "5").slowest == 5
    assert _parse("analyze", "x").json is False


def test_project_file_configures_too(folder: Path) -> None:
    (folder / "pyproject.toml").write_text("[tool.gviz.options.export]\nformat = 'svg'\n")
    assert _parse("export", "x").format == "svg"


def test_given_option_outweighs_another_that_may_not_stand_beside_it(folder: Path) -> None:
    (folder / "gviz.toml").write_text('[options.run]\nevery = "10s"\n')
    assert _parse("run", "p").every == "10s"
    given = _parse("run", "--node-launches", "5", "p")
    assert (given.every, given.node_launches) == (None, "5")


def test_option_that_may_be_repeated_is_a_list_and_given_ones_replace_it(folder: Path) -> None:
    (folder / "gviz.toml").write_text('[options.view]\noverlay = ["a.csv", "b.csv"]\n')
    assert _parse("view").overlay == [Path("a.csv"), Path("b.csv")]
    assert _parse("view", "--overlay", "c.csv").overlay == [Path("c.csv")]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[options.inof]\n", "[options.inof]: there is no command 'inof'; did you mean info?"),
        ("[options.info]\nslowst = 1\n", "there is no option 'slowst'; did you mean slowest?"),
        ("[options.info]\nslowest = 'x'\n", "[options.info] slowest: invalid count value: 'x'"),
        ("[options.info]\nslowest = -1\n", "[options.info] slowest: -1 is negative"),
        ("[options.info]\nslowest = true\n", "slowest: give a number or a text in quotes"),
        ("[options.info]\njson = 'yes'\n", "json: give true or false, not 'yes'"),
        ("\n[option.info]\n", "gviz.toml, line 2: 'option' is not known; did you mean options?"),
        ("[info]\nslowest = 1\n", "Options of a command stand in a table such as [options.info];"),
        ("[options]\nslowest = 1\n", "options stand below their command"),
    ],
)
def test_mistakes_are_named_with_the_nearest_name(
    gviz_here: Gviz, folder: Path, text: str, why: str
) -> None:
    (folder / "gviz.toml").write_text(text)
    done = gviz_here("info", LIVES)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(("gviz: gviz.toml: ", "gviz: gviz.toml, line "))
    assert why in done.stderr


@pytest.mark.parametrize(
    ("command", "key"), [("view", "host"), ("export", "output"), ("merge", "overwrite")]
)
def test_file_cannot_choose_what_is_written_or_who_connects(
    gviz_here: Gviz, folder: Path, command: str, key: str
) -> None:
    (folder / "gviz.toml").write_text(f'[options.{command}]\n{key} = "x"\n')
    done = gviz_here(command, LIVES, *(["-o", "y"] if command == "merge" else []))
    assert f"{key}: is for the command line alone: docs/configuration.md" in done.stderr


def test_a_command_of_a_command_has_a_table_of_its_own(folder: Path) -> None:
    text = "[options.fleet.query]\nseconds = 5\n[options.fleet.build]\nworkers = 2\n"
    (folder / "gviz.toml").write_text(text)
    assert _parse("fleet", "query", "x").seconds == 5
    assert _parse("fleet", "query", "x", "--seconds", "7").seconds == 7
    assert _parse("fleet", "build", "x", "-o", "y").workers == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[options.fleet.raport]\n", "[options.fleet]: there is no command 'raport'; did you mean"),
        ("[options.fleet]\nquery = 1\n", "options of query stand in a table of their own"),
        ("[options.fleet.query]\nsecond = 1\n", "[options.fleet.query]: there is no option"),
        ("[options.fleet.query]\nseconds = 'x'\n", "[options.fleet.query] seconds: invalid"),
        ("[options.fleet.build]\nscheduler = 'tcp://x:1'\n", None),
    ],
)
def test_mistakes_in_it_are_named(
    gviz_here: Gviz, folder: Path, text: str, why: str | None
) -> None:
    (folder / "gviz.toml").write_text(text)
    words = ["query", "x"] if why else ["build", "x", "-o", "y"]
    done = gviz_here("fleet", *words)
    assert done.returncode == 2
    assert (why or "scheduler: is for the command line alone") in done.stderr


def test_help_still_says_the_defaults(gviz_here: Gviz) -> None:
    assert "(default: 127.0.0.1)" in " ".join(gviz_here("view", "--help").stdout.split())


def test_what_cannot_be_configured_are_options_and_documented() -> None:
    parsers = [build_parser(c).command(c) for c in COMMANDS]
    parsers += [inner for parser in parsers for inner in parser.commands.values()]
    texts = {t for parser in parsers for a in parser._actions for t in a.option_strings}
    page = (ROOT / "docs" / "configuration.md").read_text()
    assert {name for name in UNCONFIGURED if f"--{name}" not in texts} == set()
    assert {name for name in UNCONFIGURED - {"help"} if f"`--{name}`" not in page} == set()


def test_example_of_the_documents_is_right(folder: Path) -> None:
    page = (ROOT / "docs" / "configuration.md").read_text()
    (example,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (folder / "gviz.toml").write_text(example)
    for command in tomllib.loads(example)["options"]:
        words = {"run": ["p"], "info": ["x"], "fleet": ["query", "x"]}.get(command, [])
        _parse(command, *words)
    assert _parse("view").no_browser is True
