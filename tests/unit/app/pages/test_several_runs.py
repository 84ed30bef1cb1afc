"""A recording of several processes: every page and ``gviz info`` keep their runs apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from app_recordings import OWN_LINE, write_detailed_recording
from app_tree import links, texts
from conftest import Gviz
from inspected import inspected
from recordings import write_loop_recording
from shown_pages import render_page

from gviz.app.components.addresses import Addresses
from gviz.app.files.library import Library
from gviz.app.server import address_page
from gviz.app.views.graph_data import graph_view
from gviz.recording.merge import merge_recordings
from gviz.recording.reader import Recording

ADDRESSES = Addresses("/")


@pytest.fixture(scope="module")
def merged(small_recording: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs: a loop, a fork-join graph, and the detailed run."""
    folder = tmp_path_factory.mktemp("merged")
    loop = write_loop_recording(folder / "loop.gviz")
    detailed = write_detailed_recording(folder / "detailed.gviz")
    return merge_recordings([loop, small_recording, detailed], folder / "ranks.gviz")


@pytest.fixture(scope="module")
def library(merged: Path) -> Library:
    return Library([merged])


def page(library: Library, path: str, search: str = "") -> object:
    return render_page(library, ADDRESSES, path, search)[0]


def top_graphs(recording: Recording, run_id: int) -> list[int]:
    found = recording.fetch_graphs(run_id)
    return [g.graph_id for g in found if g.parent_graph_id is None]


def test_runs_page_has_a_card_a_run(library: Library) -> None:
    shown = page(library, "/")
    assert "3 runs in 1 recording" in texts(shown)
    for run_id in (1, 2, 3):
        assert f"/run?file=ranks&run={run_id}" in links(shown)


def test_address_need_not_name_the_one_run_or_graph_of_its_file(small_recording: Path) -> None:
    library = Library([small_recording])
    for path, named in (("/run", "run=1"), ("/graph", "graph=1"), ("/report", "graph=1")):
        left_out = address_page.render_page(library, ADDRESSES, path, "?file=small")
        whole = address_page.render_page(library, ADDRESSES, path, f"?file=small&{named}")
        assert left_out[2] == whole[2] != "gviz"


@pytest.mark.parametrize(("path", "what"), [("/run", "3 runs"), ("/graph", "3 graphs")])
def test_address_that_names_none_of_several_says_so(library: Library, path: str, what: str) -> None:
    shown = texts(page(library, path, "?file=ranks"))
    assert f"ranks has {what}, and the address names none" in shown
    assert "/" in links(page(library, path, "?file=ranks"))


def test_run_page_lists_its_own_graphs_and_notes(library: Library, merged: Path) -> None:
    with Recording(merged) as recording:
        graphs = {run.run_id: top_graphs(recording, run.run_id) for run in recording.fetch_runs()}
    every = [graph for found in graphs.values() for graph in found]
    assert len(every) == len(set(every))
    for run_id, mine in graphs.items():
        shown = page(library, "/run", f"?file=ranks&run={run_id}")
        linked = [link for link in links(shown) if link.startswith("/graph?")]
        assert list(dict.fromkeys(linked)) == [f"/graph?file=ranks&graph={g}" for g in mine]
        assert ("The process was killed." in texts(shown)) == (run_id == 3)


def test_graph_page_of_the_last_run_shows_its_own_nodes(library: Library, merged: Path) -> None:
    with Recording(merged) as recording:
        (graph_id,) = top_graphs(recording, 3)
    shown = texts(page(library, "/graph", f"?file=ranks&graph={graph_id}"))
    assert "step" in shown
    view = graph_view(library, "ranks", graph_id)
    assert view.run.run_id == 3
    shown = inspected(library, "ranks", view, [11])
    assert OWN_LINE in shown
    assert "layer 3" in shown
    assert "silu" in shown


def test_graph_page_of_a_run_in_the_middle_has_its_launches(
    library: Library, merged: Path, small_recording: Path
) -> None:
    with Recording(merged) as recording:
        (graph_id,) = top_graphs(recording, 2)
        spans = recording.fetch_graph_spans(graph_id)
    with Recording(small_recording) as alone:
        expected = alone.fetch_graph_spans(1)
    assert spans.node_id.tolist() == expected.node_id.tolist()
    assert spans.duration_ns.tolist() == expected.duration_ns.tolist()
    view = graph_view(library, "ranks", graph_id)
    assert view.launch_count == 40


def test_info_shows_every_run(gviz_here: Gviz, merged: Path) -> None:
    done = gviz_here("info", merged)
    assert done.returncode == 0, done.stderr
    assert "ranks.gviz: 3 runs" in done.stdout
    heads = [line for line in done.stdout.splitlines() if line.startswith("run ")]
    assert [head.split(":")[0] for head in heads] == ["run 1", "run 2", "run 3"]
    assert "(aborted)" in heads[2]
    found = json.loads(gviz_here("info", "--json", merged).stdout)
    with Recording(merged) as recording:
        for run in found["runs"]:
            run_id = run["run"]["run_id"]
            mine = [graph["graph_id"] for graph in run["graphs"]]
            assert mine == top_graphs(recording, run_id)
