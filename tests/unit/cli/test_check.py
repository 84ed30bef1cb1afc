"""``gviz check`` as a user and as a CI server start it."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from places import ROOT
from recordings import transformer_shape, write_recording

from gviz.checks.check import check_recording
from gviz.checks.limits import MOST_KEYS, REGRESSION_KEYS, RUN_KEYS, parse_limits
from gviz.cli.command_line import build_parser
from gviz.recording.reader import Recording
from gviz.report.checks_document import check_document
from gviz.report.renderers.text_form import render_text

Gviz = Callable[..., "subprocess.CompletedProcess[str]"]
DOCS = ROOT / "docs"


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """A recording of four layers, and one of three."""
    found = [
        write_recording(
            tmp_path / f"{n}.gviz", transformer_shape(n), launches=9, eager=False, seed=n
        )
        for n in (4, 3)
    ]
    return found[0], found[1]


def test_exit_codes(gviz_here: Gviz, pair: tuple[Path, Path]) -> None:
    large, small = pair
    worse, better = (
        gviz_here("check", large, "--baseline", small),
        gviz_here("check", small, "--baseline", large),
    )
    assert (worse.returncode, better.returncode) == (1, 0)
    assert "gviz check: ✘ failed\n\n" in worse.stdout
    assert re.search(r"✘ failed .* regression.launch ", worse.stdout)
    assert "2 of 2 checks failed." in " ".join(worse.stdout.split())
    assert "0 of 2 checks failed." in " ".join(better.stdout.split())
    assert (worse.stderr, better.stderr) == ("", "")


@pytest.mark.parametrize("width", [80, 100])
def test_text_fits_the_terminal(pair: tuple[Path, Path], width: int) -> None:
    table = {"launch": "1 us", "idle": "0%", "findings": {"any": 0}, "exec_memory": "1 B",
             "regression": {"launch": "1%", "node": "1%", "nodes": 0}}  # fmt: skip
    with Recording(pair[0]) as recording, Recording(pair[1]) as baseline:
        report = check_recording(recording, baseline, parse_limits(table))
    lines = render_text(check_document(report), width).splitlines()
    assert max(map(len, lines)) <= width
    assert sum(line.startswith(("  ✔", "  ✘", "  ?", "  –")) for line in lines) == len(
        report.checks
    )


def test_all_forms_say_the_same(gviz_here: Gviz, tmp_path: Path, pair: tuple[Path, Path]) -> None:
    (tmp_path / "gviz.toml").write_text('[check]\nnodes = 1\n[[ignore]]\nrule = "device-copy"\n')
    markdown = tmp_path / "summary.md"
    markdown.write_text("# before\n")
    done = gviz_here("check", "--json", pair[0], "--baseline", pair[1], "--junit", "x.xml",
                "--markdown", markdown, cwd=tmp_path)  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "")
    value = json.loads(done.stdout)
    assert value["passed"] is False
    failed = [c["what"] for c in value["checks"] if c["status"] == "failed"]
    assert failed == ["nodes", "regression.launch", "regression.critical_path"]
    root = ElementTree.parse(tmp_path / "x.xml").getroot()
    assert [
        x.attrib["name"] for x in root.iter("testcase") if x.find("failure") is not None
    ] == failed
    text = markdown.read_text()
    assert text.startswith("# before\n### gviz check: ✘ failed")
    assert text.count("| ✘ failed |") == 3


@pytest.mark.parametrize(
    ("arguments", "config", "stated"),
    [
        (("{one}",), None, "nothing to check: there is no gviz.toml"),
        (("{one}",), "[[ignore]]\nrule = 'device-copy'\n", "sets no limits"),
        (("{one}",), "[check.regression]\nlaunch = '5%'\n", "no --baseline"),
        (("{one}", "--baseline", "absent.gviz"), None, "absent.gviz"),
        (("absent.gviz", "--baseline", "{one}"), None, "absent.gviz"),
        (("{one}",), "[check]\nlaunch = 5\n", "gviz.toml: [check]: launch = 5"),
        (("{one}",), "check = 5\n", "must be a table"),
        (("{one}",), "no toml", "no TOML"),
        (("{one}",), "[check]\nnodes = 1\n[[ignore]]\nrule = 'x'\n", "there is no rule 'x'"),
        (("{one}", "--config", "absent.toml"), None, "check the name"),
        (("{one}", "--junit", "no/such/x.xml"), "[check]\nnodes = 999\n", "cannot write"),
        ((), None, "recording"),
    ],
)
def test_misuse_is_2_and_names_the_next_step(
    gviz_here: Gviz,
    small_recording: Path,
    tmp_path: Path,
    arguments: tuple[str, ...],
    config: str | None,
    stated: str,
) -> None:
    if config is not None:
        (tmp_path / "gviz.toml").write_text(config)
    done = gviz_here("check", *(a.format(one=small_recording) for a in arguments), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert stated in done.stderr
    assert "Traceback" not in done.stderr


def test_documented_configuration_is_right() -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", (DOCS / "check.md").read_text(), re.DOTALL)
    limits = parse_limits(tomllib.loads(text)["check"])
    assert limits.of_graph("decode step").most["launch"] == 900e3
    assert "idle" not in limits.of_graph("decode step").most
    assert limits.of_graph("other").most["launch"] == 1.2e6
    # Every key is there.
    assert set(limits.every.most) == set(MOST_KEYS)
    assert {*limits.every.regression, *limits.run_regression} == {"graph_memory", *REGRESSION_KEYS}
    assert set(limits.run) == set(RUN_KEYS)


def test_commands_of_the_example_workflow_exist() -> None:
    text = (DOCS / "github-workflow.yml").read_text()
    commands = re.findall(r"run: (gviz .*)", text)
    assert len(commands) == 3
    for command in commands:
        words = shlex.split(command)[1:]
        parsed = build_parser(words[0]).parse_args(words)
        assert parsed.command == words[0]
