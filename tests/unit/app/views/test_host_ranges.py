"""Ranges of the host around eager calls: none of them around any, and ranges without their text."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import gviz.assets
from gviz.analysis import analyze
from gviz.app.html_file.file import write_html
from gviz.app.views.timeline.host_ranges import called_in
from gviz.recording import Recording, rows
from gviz.report.analysis.analysis_document import analysis_documents
from gviz.report.renderers.text_form import render_texts
from gviz.stats.figure_fields import NotComputed

PIPELINE = Path(gviz.assets.__file__).parent / "recordings" / "cupy_pipeline.gviz"
RUN = 1


def edited(path: Path, *statements: str) -> Path:
    """Return a copy of a bundled recording after some statements of SQL."""
    shutil.copy(PIPELINE, path)
    with closing(sqlite3.connect(path)) as database, database:
        for statement in statements:
            assert database.execute(statement).rowcount > 0
    return path


def texts_of(recording: Recording) -> list[str | None]:
    """Return the ranges in which each eager operation was called."""
    operations = recording.fetch_arrays(
        rows.StreamOperation, {"run_id": RUN}, ("thread_id", "host_start_ns")
    )
    thread, called = (operations.integers(n, -1) for n in ("thread_id", "host_start_ns"))
    codes, texts = called_in(recording, RUN, thread, called)
    return [texts[code] if code >= 0 else None for code in codes.tolist()]


#: A second before the first eager call, or as long after the last.
BEFORE = "UPDATE nvtx_range SET start_ns = start_ns - 2000000000, end_ns = end_ns - 2000000000"
AFTER = "UPDATE nvtx_range SET start_ns = start_ns + 2000000000, end_ns = end_ns + 2000000000"
#: On a thread that called nothing.
ELSEWHERE = "UPDATE nvtx_range SET thread_id = thread_id + 1"


@pytest.mark.parametrize("moved", [BEFORE, AFTER, ELSEWHERE])
def test_ranges_around_no_eager_call_are_shown_at_none(tmp_path: Path, moved: str) -> None:
    path = edited(tmp_path / "x.gviz", moved)
    with Recording(path) as recording:
        texts = texts_of(recording)
    assert len(texts) == 61
    assert set(texts) == {None}
    # The timeline of each eager iteration is in the file.
    written = write_html(path, tmp_path / "x.html", [1])
    assert written.path.stat().st_size == written.size_bytes


def test_no_call_has_no_range() -> None:
    none = np.zeros(0, np.int64)
    with Recording(PIPELINE) as recording:
        codes, texts = called_in(recording, RUN, none, none)
    assert (codes.tolist(), texts) == ([], [])


#: The range around the eager iteration loses its text; another is around all of that.
APART = "UPDATE nvtx_path SET parent_id = NULL WHERE parent_id = 2"
ITERATION = "DELETE FROM nvtx_path WHERE nvtx_path_id = 2"
LOOP = "INSERT INTO nvtx_path SELECT 99, run_id, NULL, NULL, 'loop' FROM nvtx_path LIMIT 1"
AROUND = (
    "INSERT INTO nvtx_range SELECT 99, run_id, 99, thread_id, min(start_ns) - 1, max(end_ns) + 1 "
    "FROM nvtx_range"
)


@pytest.mark.parametrize(
    ("statements", "name"),
    [
        ((), "eager frame"),
        ((LOOP, AROUND, APART, ITERATION), "loop"),
        ((APART, ITERATION), None),
        (("DELETE FROM nvtx_path",), None),
    ],
    ids=["whole", "another around it", "none around it", "no texts"],
)
def test_pass_is_named_by_the_innermost_range_with_a_text(
    tmp_path: Path, statements: Sequence[str], name: str | None
) -> None:
    with Recording(edited(tmp_path / "x.gviz", *statements)) as recording:
        analysis = analyze(recording)
    render_texts(analysis_documents(analysis), 100)
    assert not isinstance(found := analysis.runs[0].forecast, NotComputed)
    assert [iterations.range for iterations in found.passes] == [name]


def test_call_is_shown_in_the_innermost_range_with_a_text(tmp_path: Path) -> None:
    lost = edited(tmp_path / "x.gviz", "DELETE FROM nvtx_path WHERE text = 'filter 0'")
    with Recording(PIPELINE) as before, Recording(lost) as after:
        whole, left = texts_of(before), texts_of(after)
    assert "eager frame › filter 0" in whole
    outer = {"eager frame › filter 0": "eager frame", "filter 0": None}
    assert left == [outer.get(text, text) if text else text for text in whole]
