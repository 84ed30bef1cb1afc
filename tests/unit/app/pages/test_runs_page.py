"""The Runs page: order of its cards, what marks them, and where they lead."""

from __future__ import annotations

from pathlib import Path

import pytest
from app_recordings import write_detailed_recording
from app_tree import links, texts, walk
from dash import html
from places import ROOT
from recordings import transformer_shape, write_recording
from shown_pages import render_page

from gviz.app.components.addresses import Addresses
from gviz.app.files.library import Library
from gviz.app.pages.run_marks import program_line, short_command, troubles
from gviz.app.views.run_view import find_only_graph, run_files

BUNDLED = ROOT / "assets" / "recordings"


def cards(*files: Path, search: str = "") -> list[html.Article]:
    shown = render_page(Library(files), Addresses("/"), "/", search)[0]
    return [x for x in walk(shown) if isinstance(x, html.Article)]


def test_run_with_most_node_time_in_a_launch_comes_first(
    tmp_path: Path, small_recording: Path
) -> None:
    """The token steps differ by what a launch of each takes; files are given in another order."""
    steps = [BUNDLED / f"token_step_{i}.gviz" for i in (3, 1, 4)]
    none = write_detailed_recording(tmp_path / "untimed.gviz")
    shown = cards(none, *steps)
    names = [texts(card).split(".gviz")[0].rsplit("\n", 1)[-1] for card in shown]
    assert names == ["token_step_4", "token_step_1", "token_step_3", "untimed"]


def test_graph_with_most_node_time_in_a_launch_is_listed_first() -> None:
    (card,) = cards(BUNDLED / "graph_lives.gviz")
    listed = [texts(x).split("\n")[0] for x in walk(card) if isinstance(x, html.Li)]
    assert listed[:4] == ["solve", "filter", "tune, cleared", "tune, cleared (2)"]


def test_failures_and_refused_updates_are_badges_that_lead_to_the_run() -> None:
    (file,) = run_files(Library([BUNDLED / "graph_lives.gviz"]))
    found = troubles(file.runs[0])
    assert [(x.words, x.failed) for x in found] == [
        ("1 capture failed", True),
        ("1 update refused", False),
    ]
    assert all(x.reasons for x in found)
    (card,) = cards(BUNDLED / "graph_lives.gviz")
    badges = [x for x in walk(card) if "gv-badge-" in str(getattr(x, "className", ""))]
    assert [texts(x) for x in badges] == ["completed", "1 capture failed", "1 update refused"]
    assert {x.href for x in badges[1:]} == {"/run?file=graph_lives&run=1"}


def test_run_without_trouble_has_no_badge_for_it(small_recording: Path) -> None:
    (file,) = run_files(Library([small_recording]))
    assert troubles(file.runs[0]) == []


def test_table_says_what_went_wrong() -> None:
    library = Library([BUNDLED / "graph_lives.gviz"])
    shown = render_page(library, Addresses("/"), "/", "?view=table")[0]
    (rows,) = [x.rowData for x in walk(shown) if hasattr(x, "rowData")]
    assert {row["state"] for row in rows} == {"1 capture failed, 1 update refused, completed"}


def test_table_tells_recordings_apart_and_says_early_what_failed() -> None:
    names = ("decode_step_h200", "decode_step_h200_fused", "graph_lives")
    library = Library([BUNDLED / f"{name}.gviz" for name in names])
    shown = render_page(library, Addresses("/"), "/", "?view=table")[0]
    (grid,) = [x for x in walk(shown) if hasattr(x, "rowData")]
    assert {row["file"] for row in grid.rowData} == set(names)
    columns = {column["field"]: at for at, column in enumerate(grid.columnDefs)}
    assert grid.columnDefs[columns["file"]]["minWidth"] >= 120
    assert columns["file"] < columns["state"] < columns["nodes"] < columns["started_ns"]


@pytest.mark.parametrize(
    ("command", "short"),
    [
        ("python train.py", "python train.py"),
        (
            "/opt/venv/bin/python3 -u '/home/me/my model/train.py' --data /data/x",
            "python3 -u train.py --data /data/x",
        ),
        ("/usr/bin/llama-bench -m 'a b.gguf'", "llama-bench -m 'a b.gguf'"),
        ("/opt/it's here --all", "'it'\"'\"'s' here --all"),
        ("/", "/"),
        ("", ""),
    ],
)
def test_command_is_shown_without_folders(command: str, short: str) -> None:
    assert short_command(command) == short


def test_card_says_what_the_program_is() -> None:
    (file,) = run_files(Library([BUNDLED / "training_step.gviz"]))
    line = "python training_step.py training_step.gviz · H100 80GB HBM3"
    assert program_line(file.runs[0]) == line
    (card,) = cards(BUNDLED / "training_step.gviz")
    assert line in texts(card)


def test_card_of_one_graph_leads_to_it_and_to_its_run(small_recording: Path) -> None:
    (card,) = cards(small_recording)
    assert links(card)[:2] == ["/graph?file=small&graph=1", "/run?file=small&run=1"]
    (several,) = cards(BUNDLED / "graph_lives.gviz")
    assert links(several)[0] == "/run?file=graph_lives&run=1"


def test_only_graph_is_that_of_one_file_with_one_graph(
    tmp_path: Path, small_recording: Path
) -> None:
    other = write_recording(tmp_path / "other.gviz", transformer_shape(2), launches=2)
    assert find_only_graph(Library([small_recording])) == ("small", 1)
    assert find_only_graph(Library([small_recording, other])) is None
    assert find_only_graph(Library([BUNDLED / "graph_lives.gviz"])) is None
    assert find_only_graph(Library([BUNDLED / "ranks_h200.gviz"])) is None


@pytest.mark.parametrize(("name", "says"), [("decode_server", False), ("graph_lives", True)])
def test_nodes_are_said_where_they_tell_graphs_of_a_card_apart(name: str, says: bool) -> None:
    (card,) = cards(BUNDLED / f"{name}.gviz")
    listed = [texts(x) for x in walk(card) if isinstance(x, html.Li)]
    assert any("nodes" in line for line in listed[:4]) == says
