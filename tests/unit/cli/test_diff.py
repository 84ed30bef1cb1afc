"""``gviz diff`` and ``gviz trend`` as a user starts them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from nested_recordings import NESTED_CHANGED, NESTED_SHORTENED, write_nested_recording
from recaptures import write_recaptures
from recordings import fork_join_shape, transformer_shape, write_loop_recording, write_recording

from gviz.assets import recordings as bundled
from gviz.comparison.diff import compare_recordings
from gviz.recording.reader import Recording
from gviz.report import diff_documents, render_texts

Gviz = Callable[..., "subprocess.CompletedProcess[str]"]
BUNDLED = Path(next(iter(bundled.__path__)))


@pytest.fixture(scope="module")
def recaptures(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_recaptures(tmp_path_factory.mktemp("recaptures"))


def test_diff_of_a_real_program_before_and_after(
    gviz_here: Gviz, recaptures: tuple[Path, Path]
) -> None:
    done = gviz_here("diff", *recaptures)
    assert (done.returncode, done.stderr) == (0, "")
    for stated in (
        "Nodes: 320 before, 272 after: 48 removed, 0 added, 16 changed, 256 the same",
        "Where the time changed: kernels replaced −77.7 µs, gaps after a dependency ended −22.5 µs",
        "softmax forward f16",
        "The launch became faster by more than noise: −109 µs (−10.4%)",
        "Edges: 349 kept, 64 removed, 16 added; between nodes that stay 0 removed and 16 added",
    ):
        assert stated in done.stdout
    value = json.loads(gviz_here("diff", "--json", *recaptures).stdout)
    (graph,) = value["runs"][0]["graphs"]
    assert len(graph["levels"][0]["removed"]) == 48
    assert graph["launch"]["change_ns"] == -109_088


@pytest.mark.parametrize("width", [80, 100, 120])
def test_text_fits_the_terminal(recaptures: tuple[Path, Path], tmp_path: Path, width: int) -> None:
    loops = [write_loop_recording(tmp_path / f"{n}.gviz", iterations=n) for n in (3, 5)]
    untimed = write_recording(tmp_path / "untimed.gviz", fork_join_shape(), launches=0)
    pairs = [
        recaptures,
        (BUNDLED / "decode_step.gviz", recaptures[0]),
        (BUNDLED / "training_step.gviz", BUNDLED / "training_step.gviz"),
        (loops[0], loops[1]),
        (untimed, untimed),
    ]
    for first, second in pairs:
        with Recording(first) as before, Recording(second) as after:
            text = render_texts(diff_documents(compare_recordings(before, after), None), width)
        lines = text.splitlines()
        assert max(map(len, lines[1:])) <= width  # the first has paths
        assert len(lines) < 84


def test_bodies_of_one_side_are_listed(gviz_here: Gviz, tmp_path: Path) -> None:
    before = write_nested_recording(tmp_path / "before.gviz", NESTED_CHANGED)
    after = write_nested_recording(tmp_path / "after.gviz", NESTED_SHORTENED)
    stated = gviz_here("diff", before, after).stdout
    reported = " ".join(stated[stated.index("Bodies of one side only") :].split())
    for body in (
        "removed graph 9 body 3 of node 3 of graph 1 (CONDITIONAL SWITCH) 1 1 × case3_a",
        "removed graph 10 body 0 of node 5 of graph 1 (CONDITIONAL IF) 1 1 × GRAPH",
        "removed graph 11 in node 0 of graph 10 (GRAPH) 2 1 × pack, 1 × send",
    ):
        assert body in reported


def test_graphs_beyond_the_largest_changes_have_a_line_each(recaptures: tuple[Path, Path]) -> None:
    with Recording(recaptures[0]) as before, Recording(recaptures[1]) as after:
        changed = compare_recordings(before, after)
        same = compare_recordings(before, before)
    graphs = [
        replace(graph, before_graph_id=at)
        for at, found in enumerate((same, changed, same, changed, same), start=1)
        for graph in found.runs[0].graphs
    ]
    many = replace(changed, runs=(replace(changed.runs[0], graphs=tuple(graphs)),))
    lines = render_texts(diff_documents(many, 2), 100).splitlines()
    assert [x.split(" ")[1] for x in lines if x.startswith("graph ")] == ["2", "4"]
    rest = lines[lines.index("Other graphs") :]
    assert [row.split()[0] for row in rest if "→" in row] == ["1", "3", "5"]
    assert sum(row.endswith("within noise") for row in rest) == 3
    assert "  In full: --all, or --graph 1." in rest
    assert max(map(len, rest)) <= 100


def test_diff_of_unrelated_recordings_says_so(gviz_here: Gviz) -> None:
    done = gviz_here("diff", BUNDLED / "cupy_pipeline.gviz", BUNDLED / "training_step.gviz")
    assert done.returncode == 0
    assert "No graph of one is a graph of the other." in done.stdout
    assert "before  1 cupy_pipeline.py" in done.stdout


def test_diff_of_a_folder_takes_those_that_correspond(gviz_here: Gviz, tmp_path: Path) -> None:
    for name, layers in (("monday", 3), ("tuesday", 3)):
        write_recording(tmp_path / f"{name}.gviz", transformer_shape(layers))
    done = gviz_here("diff", tmp_path, "--json")
    assert done.stderr == "gviz: comparing monday.gviz (before) with tuesday.gviz (after)\n"
    (run,) = json.loads(done.stdout)["runs"]
    assert [Path(run[side]["path"]).name for side in ("before", "after")] == [
        "monday.gviz",
        "tuesday.gviz",
    ]
    (tmp_path / "tuesday.gviz").unlink()
    refused = gviz_here("diff", tmp_path)
    assert refused.returncode == 2
    assert f"no two recordings of {tmp_path} have a graph in common" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "stated"),
    [
        (("{one}",), 2, "name the one to compare {one} with, or a folder"),
        (("{one}", "{one}", "{one}"), 2, "gviz trend"),
        (("{one}", "{one}", "--graph", "x"), 1, "no graph is called 'x'; 'gviz info' lists them"),
        (("{one}", "{one}", "--graph", "1:y:z"), 1, "no graph is called 'y:z'; 'gviz info'"),
        (("{one}", "{one}", "--graph", "7"), 1, "gviz info"),
        (("{one}", "absent.gviz"), 1, "absent.gviz"),
        (("{one}", "{text}"), 1, "{text}"),
    ],
)
def test_misuse_names_the_next_step(
    gviz_here: Gviz,
    small_recording: Path,
    tmp_path: Path,
    arguments: tuple[str, ...],
    code: int,
    stated: str,
) -> None:
    text = tmp_path / "text.gviz"
    text.write_text("no recording")
    names = {"one": str(small_recording), "text": str(text)}
    done = gviz_here("diff", *(a.format(**names) for a in arguments))
    assert (done.returncode, done.stdout) == (code, "")
    assert stated.format(**names) in done.stderr
    assert "Traceback" not in done.stderr


def test_trend_has_a_line_a_run(gviz_here: Gviz, tmp_path: Path) -> None:
    for n, layers in enumerate((3, 3, 4)):
        write_recording(tmp_path / f"run{n}.gviz", transformer_shape(layers), launches=9, seed=n)
    paths = sorted(tmp_path.glob("*.gviz"))
    done = gviz_here("trend", *paths)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "3 runs"
    assert max(map(len, lines)) <= 100
    runs = lines.index("Runs")
    assert "  In the order in which they were recorded." in lines[runs:]
    rows = [line for line in lines[:runs] if line[:5].strip().isdigit()]
    assert [row.split()[:2] for row in rows] == [[f"{n + 1}", f"run{n}"] for n in range(3)]
    assert ["noise" in row for row in rows] == [False, True, False]
    assert ["other shape" in row for row in rows] == [False, False, True]
    value = json.loads(gviz_here("trend", "--json", *paths).stdout)
    assert [len(series["points"]) for series in value["series"]] == [3]
    assert [len(verdict["sentences"]) for verdict in value["report"]["verdicts"]] == [3]


def test_trend_of_nothing_to_show_says_so(gviz_here: Gviz, tmp_path: Path) -> None:
    done = gviz_here("trend", tmp_path / "absent.gviz")
    assert (done.returncode, done.stdout) == (1, "")
    assert "absent.gviz" in done.stderr
