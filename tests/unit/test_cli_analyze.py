"""``gviz analyze`` as a user starts it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from recordings import fork_join_shape, write_loop_recording, write_recording

from gviz.analysis.analysis import analyze
from gviz.assets import recordings as bundled
from gviz.cli.analyze_text import render_analysis
from gviz.recording.reader import Recording

Gviz = Callable[..., "subprocess.CompletedProcess[str]"]
BUNDLED = sorted(Path(next(iter(bundled.__path__))).glob("*.gviz"))


def test_analyze_prints_text_on_stdout_only(gviz: Gviz, small_recording: Path) -> None:
    done = gviz("analyze", small_recording)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Where a launch's time goes" in done.stdout
    assert "width 4" in done.stdout


def test_analyze_json_has_the_documented_keys(gviz: Gviz, small_recording: Path) -> None:
    value = json.loads(gviz("analyze", "--json", small_recording).stdout)
    assert list(value) == ["analysis_version", "path", "runs", "how"]
    assert value["runs"][0]["graphs"][0]["ledger"]["median"]["total_ns"] > 0


def test_analyze_of_an_absent_graph_names_the_next_step(gviz: Gviz, small_recording: Path) -> None:
    done = gviz("analyze", "--graph", "7", small_recording)
    assert (done.returncode, done.stdout) == (1, "")
    assert "gviz info" in done.stderr


@pytest.mark.parametrize("width", [80, 100, 120])
@pytest.mark.parametrize("path", BUNDLED, ids=lambda path: path.stem)
def test_text_fits_the_terminal_and_says_how_numbers_came_about(path: Path, width: int) -> None:
    with Recording(path) as recording:
        text = render_analysis(analyze(recording), width)
    lines = text.splitlines()
    assert max(map(len, lines[1:])) <= width  # the first one is the path
    assert len(lines) < 80
    for word in ("[derived", "[measured", "derived"):
        assert word in text


def test_text_of_a_loop_names_its_bodies(tmp_path: Path) -> None:
    with Recording(write_loop_recording(tmp_path / "x.gviz")) as recording:
        text = render_analysis(analyze(recording), 100)
    assert "graph 2: width 1" in text


def test_graphs_that_are_left_out_are_counted(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "x.gviz", fork_join_shape(), launches=2)
    with Recording(path) as recording:
        text = render_analysis(analyze(recording, most_graphs=0), 100)
    assert "1 more graph" in text
