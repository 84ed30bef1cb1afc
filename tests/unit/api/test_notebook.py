"""Recordings in notebooks: the summary, the embedded view, and what a profile yields."""

from __future__ import annotations

import sqlite3
import sys
import types
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from places import ROOT
from recordings import fork_join_shape, write_recording

import gviz
from gviz.api import showing
from gviz.api.opened import Opened
from gviz.errors import GvizError, RecordingError
from gviz.families import kernel_label
from gviz.text import duration, percent

BUNDLED = ROOT / "assets" / "recordings"


class Reader(HTMLParser):
    """Cells of tables, attributes of frames, and tags."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.frames: list[dict[str, str | None]] = []
        self.tags: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag in ("td", "th"):
            self.cells.append("")
        elif tag == "iframe":
            self.frames.append(dict(attrs))

    def handle_data(self, data: str) -> None:
        if self.cells:
            self.cells[-1] += data


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """IPython's names that are used, with a kernel; what is displayed is in the list.

    The protocol is IPython's: display() of an object with data for text/html.
    """
    shown: list[Any] = []
    shell = types.SimpleNamespace(kernel=object())
    module: Any = types.ModuleType("IPython")
    module.get_ipython = lambda: shell
    display: Any = types.ModuleType("IPython.display")
    display.display = shown.append
    display.HTML = lambda data: types.SimpleNamespace(data=data)
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return shown


def test_summary_says_gpu_nodes_launches_times_and_kernels() -> None:
    with gviz.open(BUNDLED / "decode_step.gviz") as opened:
        cells = Reader(opened._repr_html_()).cells
        (graph,) = opened.graphs
        median = graph.launch_times.median_ns
    assert median is not None
    assert cells[:6] == [
        "Graph",
        "GPU",
        "Nodes",
        "Launches",
        "Launch [measured]",
        "Most node time [derived]",
    ]
    assert cells[6:11] == [
        graph.name,
        "NVIDIA H100 80GB HBM3",
        "320",
        "60",
        f"{duration(median)} (CUPTI attached, median of 11, 1.11 ms to 1.33 ms)",
    ]
    nodes = graph_times(BUNDLED / "decode_step.gviz")
    name, share = nodes[0]
    assert cells[11].startswith(f"{percent(share)} {kernel_label(name)}")


def graph_times(path: Path) -> list[tuple[str, float]]:
    database = sqlite3.connect(path)
    found = database.execute(
        "SELECT name, 1.0 * sum(total_ns) / (SELECT sum(total_ns) FROM node_statistics) AS share "
        "FROM node_statistics JOIN node USING (graph_id, node_id) "
        "GROUP BY name ORDER BY share DESC"
    ).fetchall()
    database.close()
    return found


def test_summary_escapes_every_name(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "<b>.gviz", fork_join_shape())
    evil = "<script>alert(1)</script>\"'"
    database = sqlite3.connect(path)
    with database:
        for table in ("run", "graph", "node", "device", "kernel_function"):
            database.execute(f"UPDATE {table} SET name=?", (evil,))
    database.close()
    with gviz.open(path) as opened:
        reader = Reader(opened._repr_html_())
    assert "script" not in reader.tags
    assert "b" not in reader.tags
    assert reader.cells.count(evil) >= 2


def test_view_is_embedded_in_a_notebook(notebook: list[Any]) -> None:
    with gviz.open(BUNDLED / "cupy_pipeline.gviz") as opened:
        opened.show(height=500)
        opened.graphs[0].show()
    first, second = (Reader(shown.data).frames for shown in notebook)
    (frame,) = first
    assert frame["sandbox"] == "allow-scripts allow-downloads"
    assert "height: 500px" in (frame["style"] or "")
    assert (frame["srcdoc"] or "").startswith("<!DOCTYPE html>")
    assert frame["srcdoc"] == second[0]["srcdoc"]


def test_view_too_large_for_a_notebook_says_what_to_do(
    notebook: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(showing, "MOST_BYTES", 100_000)
    with (
        gviz.open(BUNDLED / "cupy_pipeline.gviz") as opened,
        pytest.raises(GvizError, match=r"show one graph, or use \.show\(server=True\)"),
    ):
        opened.show()
    assert notebook == []


@pytest.mark.parametrize("server", [True, False])
def test_view_is_served_where_there_is_no_notebook(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, server: bool
) -> None:
    if server:
        request.getfixturevalue("notebook")
    served: list[list[Path]] = []
    monkeypatch.setattr("gviz.app.serve", lambda paths, options: served.append(paths))
    with gviz.open(BUNDLED / "cupy_pipeline.gviz") as opened:
        opened.show(server=server)
    assert served == [[BUNDLED / "cupy_pipeline.gviz"]]


def test_recording_without_graphs_is_reported(notebook: list[Any], tmp_path: Path) -> None:
    path = write_recording(tmp_path / "r.gviz", fork_join_shape())
    database = sqlite3.connect(path)
    with database:
        database.execute("UPDATE graph SET origin='failed capture'")
    database.close()
    with gviz.open(path) as opened:
        assert "There is no graph in what was recorded" in opened._repr_html_()
        with pytest.raises(GvizError, match="has no graph to show; 'gviz info"):
            opened.show()


def test_profile_gives_its_recording_after_the_block(tmp_path: Path) -> None:
    profile = gviz.profile(tmp_path / "r.gviz")
    assert profile._repr_html_() is None
    with pytest.raises(RecordingError, match="is written when the with block ends; ask after it"):
        _ = profile.recording
    with profile as inner:
        assert inner is profile
        with pytest.raises(RecordingError, match="ask after it"):
            _ = profile.recording
    with profile.recording as opened:
        assert isinstance(opened, Opened)
        assert len(opened.runs) == 1
    html = profile._repr_html_()
    assert html is not None
    assert "r.gviz" in html
