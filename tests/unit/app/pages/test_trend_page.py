"""The Trend page: graphs through the open runs."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from app_tree import by_id, links, texts, walk
from places import ROOT
from recordings import fork_join_shape, transformer_shape, write_recording

from gviz.app.components.addresses import Addresses
from gviz.app.files.library import Library
from gviz.app.pages.trend import Trends, show_trend
from gviz.app.server.address_page import render_page

ADDRESSES = Addresses("/")
COMMITS = ("0123456789abcdef", None, "fedcba9876543210")


class Patient(Trends):
    """Waits until a trend is made: a test has nothing else to do."""

    def find(self, versioned, patience_s=60.0):  # type: ignore[no-untyped-def]
        return super().find(versioned, patience_s)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    paths = [
        write_recording(tmp_path / f"{name}.gviz", fork_join_shape(), seed=seed)
        for seed, name in enumerate(("monday", "tuesday", "wednesday"))
    ]
    for at, (path, commit) in enumerate(zip(paths, COMMITS, strict=True)):
        with sqlite3.connect(path) as db:
            db.execute(
                "UPDATE run SET git_revision = ?, git_dirty = ?, started_ns = ?",
                (commit, commit and at == 2, 10**18 + at),
            )
        db.close()
    return Library(paths)


def page(library: Library, search: str = "") -> Any:
    return render_page(library, ADDRESSES, "/trend", search)[0]


def body(library: Library, search: str = "") -> Any:
    view = by_id(page(library, search), "trend-view").data
    found, again = show_trend(Patient(library), library, view, 0, ADDRESSES)
    assert not isinstance(again, int)
    return found


def test_trend_has_every_run_with_its_commit(library: Library) -> None:
    found = body(library)
    stated = texts(found)
    assert "In the order in which they were recorded." in stated
    assert stated.index("Its launch takes ") < stated.index("Verdict") < stated.index("Recorded")
    for word in ("0123456789", "fedcba9876+", "monday", "tuesday", "wednesday"):
        assert word in stated
    (drawn,) = [x for x in walk(found) if hasattr(x, "figure")]
    assert len(drawn.figure["data"][0]["y"]) == 3
    assert "/compare?a=monday&b=tuesday&graph=1:1" in links(found)
    assert "/graph?file=tuesday&graph=1" in links(found)


def test_trend_of_chosen_files_and_the_way_to_others(library: Library) -> None:
    search = "?file=monday&file=wednesday"
    stated = texts(body(library, search))
    assert " in run 2, the last (CUPTI attached, median of 20), and " in stated
    assert "tuesday" not in stated
    found = links(page(library, search))
    assert "/trend?file=monday&file=tuesday&file=wednesday" in found
    assert "/trend?file=wednesday" in found


def test_graph_of_one_run_has_no_chart(tmp_path: Path) -> None:
    library = Library(
        [
            write_recording(tmp_path / "fork.gviz", fork_join_shape()),
            write_recording(tmp_path / "layers.gviz", transformer_shape(2)),
        ]
    )
    found = body(library)
    assert not [x for x in walk(found) if hasattr(x, "figure")]
    assert "Only run 1 has it" in "".join(texts(found))


def test_unfinished_trend_is_requested_again(library: Library) -> None:
    class Slow(Trends):
        def find(self, *_: object) -> None:  # type: ignore[override]
            return None

    view = by_id(page(library), "trend-view").data
    assert show_trend(Slow(library), library, view, 2, ADDRESSES)[1] == 3


def test_file_that_is_not_open_is_reported(library: Library) -> None:
    assert "no open recording is called 'friday'" in texts(page(library, "?file=friday"))


def test_damaged_file_is_reported(library: Library) -> None:
    view = {"files": ["monday@0123456789ab"]}
    stated = texts(show_trend(Patient(library), library, view, 0, ADDRESSES)[0])
    assert "There is no trend." in stated
    assert "changed" in stated


def test_ranks_of_a_job_are_no_runs_in_time(library: Library) -> None:
    ranks = ROOT / "assets" / "recordings" / "ranks_h200.gviz"
    shown = page(Library([*(file.recording.path for file in library.files()), ranks]))
    keys = [key.split("@")[0] for key in by_id(shown, "trend-view").data["files"]]
    assert keys == ["monday", "tuesday", "wednesday"]
    assert "/trend?file=monday&file=tuesday&file=wednesday&file=ranks_h200" in links(shown)
    alone = page(Library([ranks]))
    assert "they ran beside each other" in texts(alone)
    assert "/ranks?file=ranks_h200" in links(alone)
