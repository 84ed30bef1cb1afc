"""``gviz analyze`` as a user starts it."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from cost_recordings import write as write_costs
from recordings import fork_join_shape, write_loop_recording, write_recording

from gviz.analysis.analysis import Analysis, analyze
from gviz.assets import recordings as bundled
from gviz.recording.reader import Recording
from gviz.report.analysis.analysis_document import analysis_documents
from gviz.report.document import Document, Suggestions, marked, plain
from gviz.report.renderers.text_form import render_texts

Gviz = Callable[..., "subprocess.CompletedProcess[str]"]
BUNDLED = sorted(Path(next(iter(bundled.__path__))).glob("*.gviz"))


@cache
def analyzed(path: Path) -> tuple[Analysis, tuple[Document, ...]]:
    """Return the analysis of a bundled recording and what is written of it."""
    with Recording(path) as recording:
        found = analyze(recording)
    return found, analysis_documents(found)


def test_analyze_prints_text_on_stdout_only(gviz_here: Gviz, small_recording: Path) -> None:
    done = gviz_here("analyze", small_recording)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Where a launch's time goes" in done.stdout
    assert re.search(r"^ +graph 1 .* 4 nodes \(", done.stdout, re.MULTILINE)


def test_analyze_json_has_the_documented_keys(gviz_here: Gviz, small_recording: Path) -> None:
    value = json.loads(gviz_here("analyze", "--json", small_recording).stdout)
    assert list(value) == ["analysis_version", "path", "runs", "how", "report"]
    assert value["runs"][0]["graphs"][0]["ledger"]["median"]["total_ns"] > 0


def test_analyze_of_an_absent_graph_names_the_next_step(
    gviz_here: Gviz, small_recording: Path
) -> None:
    done = gviz_here("analyze", "--graph", "7", small_recording)
    assert (done.returncode, done.stdout) == (1, "")
    assert "gviz info" in done.stderr


@pytest.mark.parametrize("path", BUNDLED, ids=lambda path: path.stem)
def test_text_fits_the_terminal_and_says_how_numbers_came_about(path: Path) -> None:
    analysis, documents = analyzed(path)
    with Recording(path) as recording:
        imported = recording.fetch_runs()[0].source == "import"
    graph_count = sum(len(run.graphs) for run in analysis.runs)
    for width in (80, 100, 120):
        text = render_texts(documents, width)
        lines = [line for line in text.splitlines() if not line.startswith(str(path))]
        assert max(map(len, lines)) <= width
        assert len(lines) < (170 if width > 80 else 206) * graph_count
        # A trace has no events around launches and no cost of node level: sentences that gviz
        # measured.
        for word in ("[derived", "[estimated" if imported else "[measured", "derived"):
            assert word in text, width


def test_text_of_a_loop_names_its_bodies(tmp_path: Path) -> None:
    with Recording(write_loop_recording(tmp_path / "x.gviz")) as recording:
        text = render_texts(analysis_documents(analyze(recording)), 100)
    assert re.search(r"^ +graph 2 +\d+ +1 ", text, re.MULTILINE)


def test_graphs_that_are_left_out_are_counted(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "x.gviz", fork_join_shape(), launches=2)
    with Recording(path) as recording:
        text = render_texts(analysis_documents(analyze(recording, most_graphs=0)), 100)
    assert "1 more graph" in text


def test_configuration_leaves_findings_out(
    gviz_here: Gviz, tmp_path: Path, small_recording: Path
) -> None:
    found = json.loads(gviz_here("analyze", "--json", small_recording).stdout)
    advice = found["runs"][0]["graphs"][0]["findings"]
    rule = advice["findings"][0]["rule"]
    # Read where the command is started, and by name.
    (tmp_path / "gviz.toml").write_text(f'[[ignore]]\nrule = "{rule}"\n')
    for done in (
        gviz_here("analyze", "--json", small_recording, cwd=tmp_path),
        gviz_here("analyze", "--json", "--config", tmp_path / "gviz.toml", small_recording),
    ):
        left = json.loads(done.stdout)["runs"][0]["graphs"][0]["findings"]
        assert rule not in [f["rule"] for f in left["findings"]]
        assert left["ignored_count"] >= 1


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ('[[ignore]]\nrule = "no-such-rule"\n', "memset-between-kernels"),
        ('[[ignore]]\nrules = "device-copy"\n', "rule, graph and kernels, not 'rules'"),
        ('[[ignore]]\nrule = "device-copi"\n', "did you mean 'device-copy'?"),
        ('[[ignore]]\nrule = ["device-copy"]\n', "there is no rule ['device-copy']"),
        ('[[ignore]]\ngraph = "x"\n', "no rule None"),
        ('[[ignore]]\nrule = "*"\n[[ignore]]\nrule = "*"\nkernels = ""\n', "table 2"),
        ('ignore = ["device-copy"]\n', "must be a table"),
        ('[[ignored]]\nrule = "device-copy"\n', "'ignored' is not known"),
        ('[[ignore]]\nrule = "device-copy"\ngraph = 3\n', "pattern"),
        ("ignore = 3\n", "[[ignore]]"),
        ("not toml", "no TOML"),
        (None, "check the name"),
    ],
)
def test_bad_configuration_is_an_error_that_says_what_is_right(
    gviz_here: Gviz, tmp_path: Path, small_recording: Path, text: str | None, stated: str
) -> None:
    path = tmp_path / "c.toml"
    if text is not None:
        path.write_text(text)
    done = gviz_here("analyze", "--config", path, small_recording)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("gviz: ")
    assert stated in done.stderr
    assert "Traceback" not in done.stderr


def test_launch_costs_that_are_used_are_named(gviz_here: Gviz, tmp_path: Path) -> None:
    text = " ".join(gviz_here("analyze", BUNDLED[0]).stdout.split())
    assert "launch costs of the GPU NVIDIA H100 80GB HBM3, driver 13.0" in text
    assert "What its calls cost" in text
    done = gviz_here("analyze", "--costs", write_costs(tmp_path / "c.gviz"), BUNDLED[0])
    stated = " ".join(done.stdout.split())
    assert "launch costs of the GPU GPU A, driver 13.0 (c.gviz; another GPU)" in stated


@pytest.mark.parametrize(
    ("name", "stated"), [("cupy_pipeline.gviz", "gviz bench"), ("none.gviz", "none.gviz")]
)
def test_bad_launch_costs_are_an_error_with_the_next_step(
    gviz_here: Gviz, small_recording: Path, name: str, stated: str
) -> None:
    done = gviz_here("analyze", "--costs", BUNDLED[0].with_name(name), small_recording)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("gviz: ")
    assert stated in done.stderr
    assert "Traceback" not in done.stderr


def test_findings_are_ranked_and_name_their_fix(gviz_here: Gviz) -> None:
    (step,) = (path for path in BUNDLED if path.stem == "decode_step")
    text = gviz_here("analyze", step).stdout
    assert "What to change" in text
    assert "[late-fork]" in text
    assert "Fix: Fork before the first branch is launched" in text


@pytest.mark.parametrize("path", BUNDLED, ids=lambda path: path.stem)
def test_verdict_comes_first_then_findings_by_size_then_details(path: Path) -> None:
    for document in analyzed(path)[1]:
        text = render_texts([document], 120)
        heads = [text.index(verdict.subject) for verdict in document.verdicts]
        assert heads == sorted(heads)
        for verdict in document.verdicts:
            said = [plain(marked(sentence.content)) for sentence in verdict.sentences]
            assert len(said) == 3 + any(one.startswith("Its data: ") for one in said)
        assert heads[-1] < text.index("What to change") < text.index("Where a launch's time goes")
        listed = [x for x in document.sections[0].blocks if isinstance(x, Suggestions)]
        gains = [
            ((one.over_run or one.gain).value or 0)
            * (0.5 if plain(one.gain_line).startswith("at most") else 1)
            for found in listed
            for one in found.items
        ]
        assert gains == sorted(gains, reverse=True)
