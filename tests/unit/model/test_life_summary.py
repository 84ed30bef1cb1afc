"""The life of graphs as ``gviz info`` and the run page tell it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from app_tree import links, texts
from life_recordings import LIBRARY_LINE, OWN_LINE, write_life_recording
from shown_pages import render_page

from gviz.app.components.addresses import Addresses
from gviz.app.files.library import Library
from gviz.cli.commands.look.info import to_json
from gviz.errors import RecordingError
from gviz.model.life_summary import flag_names, mode_name
from gviz.recording.reader import Recording
from gviz.report.info.recording_document import info_document
from gviz.report.renderers.text_form import render_text
from gviz.report.summary import RunSummary, summarize


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_life_recording(tmp_path_factory.mktemp("life") / "life.gviz")


@pytest.fixture(scope="module")
def run(path: Path) -> RunSummary:
    with Recording(path) as recording:
        (run,) = summarize(recording).runs
    return run


@pytest.fixture(scope="module")
def text(path: Path) -> str:
    with Recording(path) as recording:
        return render_text(info_document(summarize(recording)), 1000)


def test_failed_capture_is_no_graph_of_the_run_but_keeps_its_nodes(run: RunSummary) -> None:
    assert [g.graph_id for g in run.graphs] == [1]
    first, second = run.capture_failures
    assert (first.failure.graph_id, first.node_count) == (2, 1)
    assert (second.node_count, second.place) == (0, None)


def test_place_of_a_failure_is_the_users_own_line(run: RunSummary) -> None:
    place = run.capture_failures[0].place
    assert place is not None
    assert (place.file, place.line) == ("/home/user/train.py", 41)


def test_life_of_a_graph(run: RunSummary) -> None:
    life = run.graphs[0].life
    assert (life.capture_ns, life.capture_mode, life.capture_thread_id) == (
        5000,
        "thread local",
        77,
    )
    assert life.relaunch_median_ns == 300, "the very first launch is left out"
    first, second = life.execs
    assert (first.first_launch_ns, second.first_launch_ns) == (700, 700)
    assert (first.instantiate_ns, first.upload_ns) == (2000, None)
    assert first.destroyed_ns is not None
    assert second.destroyed_ns is None
    assert [u.count for u in second.updates] == [2954, 1]
    assert first.updates == ()


def test_instantiations_that_could_be_saved_are_summed(run: RunSummary) -> None:
    assert run.reinstantiations is not None
    assert (run.reinstantiations.count, run.reinstantiations.total_ns) == (1, 2000)


def test_text_names_culprit_line_and_fix_before_the_graphs(text: str) -> None:
    head, _, rest = text.partition("Graph 1: step")
    assert "A capture failed: synchronising call (1 node captured until then, kept as graph 2)" in (
        head
    )
    assert "Broken by cudaStreamSynchronize (CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)" in head
    assert f"At /home/user/train.py:41: {OWN_LINE}" in head
    assert "Fix: Move it out." in head
    assert "No Python line: the interpreter was shutting down" in head
    assert "An instantiation failed: Refused: out of device memory." in head
    assert "1 instantiation (2.00 µs of host time)" in head
    assert LIBRARY_LINE not in text
    assert "2,954 node updates of node 0, 500 ns each" in rest
    assert "1 whole-graph update, 900 ns each, refused: the new graph has 2 nodes" in rest
    assert "An update of executable 1 would have done" in rest
    assert "Captured in 5.00 µs, thread local mode, thread 77" in rest
    assert "first launch 700 ns" in rest


def test_json_holds_the_rows(path: Path) -> None:
    with Recording(path) as recording:
        value = json.loads(json.dumps(to_json(summarize(recording))))
    (run,) = value["runs"]
    assert run["capture_failures"][0]["failure"]["rule"] == "synchronising call"
    assert run["capture_failures"][0]["place"]["line"] == 41
    assert run["graphs"][0]["life"]["execs"][1]["updates"][0]["count"] == 2954
    assert run["reinstantiations"] == {"count": 1, "total_ns": 2000}


def test_run_page_shows_failures_and_lives(path: Path) -> None:
    library = Library([path])
    page = render_page(library, Addresses("/"), "/run", "?file=life&run=1")[0]
    shown = texts(page)
    assert "Capture failed: synchronising call" in shown
    assert OWN_LINE in shown
    assert "/home/user/train.py:41 in main" in shown
    assert "Instantiation failed" in shown
    assert "2,954, 1 refused" in shown
    assert "/graph?file=life&graph=2" in links(page)
    assert "2.00 MiB" in shown
    assert "an update of an earlier one" in shown


def test_graph_page_of_a_failed_capture_says_why_edges_and_times_are_missing(path: Path) -> None:
    library = Library([path])
    shown = texts(render_page(library, Addresses("/"), "/graph", "?file=life&graph=2&node=0")[0])
    assert "the capture failed before they could be read" in shown
    assert "there is no executable of this graph (failed capture)" in shown


def test_run_without_failures_has_no_such_section(small_recording: Path) -> None:
    library = Library([small_recording])
    shown = texts(render_page(library, Addresses("/"), "/run", "?file=small&run=1")[0])
    assert "What failed" not in shown
    assert "Life of the executables" in shown


@pytest.mark.parametrize(
    ("mode", "name"),
    [(0, "global"), (1, "thread local"), (2, "relaxed"), (9, "mode 9"), (None, None)],
)
def test_modes_in_words(mode: int | None, name: str | None) -> None:
    assert mode_name(mode) == name


def test_instantiation_flags_in_words() -> None:
    assert flag_names(9) == ("auto free on launch", "use node priority")
    assert flag_names(32) == ("flag 32",)
    assert flag_names(0) == flag_names(None) == ()


def test_updates_that_were_never_called_have_no_time_each(tmp_path: Path) -> None:
    path = write_life_recording(tmp_path / "life.gviz")
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE graph_update SET count=0")
    with Recording(path) as recording:
        stated = render_text(info_document(summarize(recording)), 100)
    assert "0 updates" in stated or "0 node updates" in stated
    assert "each" not in [line for line in stated.splitlines() if "update" in line][-1]


def test_a_topology_that_is_missing_is_damage(tmp_path: Path) -> None:
    path = write_life_recording(tmp_path / "life.gviz")
    with Recording(path) as recording, pytest.raises(RecordingError, match="topology 99"):
        recording.fetch_topology(99)
