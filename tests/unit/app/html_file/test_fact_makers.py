"""Processes that make facts of nodes for a file: the same facts, and a sentence if one ends."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from recordings import transformer_shape, write_loop_recording, write_recording

from gviz.app.files.library import Library
from gviz.app.html_file import fact_makers
from gviz.app.html_file.fact_makers import FactMakers, answer
from gviz.app.html_file.facts import NODES_A_BLOB, InspectedGraph, inspected, make_facts
from gviz.app.html_file.file import write_html
from gviz.app.html_file.source import open_source
from gviz.errors import RecordingError


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of 1,671 nodes: five blobs."""
    path = tmp_path_factory.mktemp("long") / "long.gviz"
    return write_recording(path, transformer_shape(111), launches=2, arguments=True)


def test_file_is_the_same_with_and_without_processes(
    long: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []
    start = FactMakers._start
    monkeypatch.setattr(FactMakers, "_start", lambda self: started.append(1) or start(self))
    alone, helped = tmp_path / "alone.html", tmp_path / "helped.html"
    write_html(long, alone, [1], processes=0)
    assert not started
    write_html(long, helped, [1], processes=1)
    assert started == [1]
    assert helped.read_bytes() == alone.read_bytes()


def test_process_answers_with_blobs_of_the_level_asked_for(tmp_path: Path) -> None:
    path = write_loop_recording(tmp_path / "loop.gviz")
    library = Library([path])
    opened = library.files()[0]
    source = open_source(library, [1], {})
    lines = [[[[str(path), opened.version]], [1], []], [2, 0], [1, 0]]
    made = io.BytesIO()
    answer(io.BytesIO(b"".join(json.dumps(x).encode() + b"\n" for x in lines)), made)
    made.seek(0)
    for graph_id in (2, 1):
        view = source.view(graph_id)
        assert len(view.tree.key) <= NODES_A_BLOB
        assert fact_makers._receive(made) == make_facts(InspectedGraph(source, view), 0)
    library.close()


def test_process_that_ends_early_is_an_error_with_the_next_step(
    long: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fact_makers, "own_command", lambda *_: ["true"])
    with pytest.raises(RecordingError, match="write the file again"):
        write_html(long, tmp_path / "x.html", [1], processes=1)
    assert list(tmp_path.iterdir()) == []


def test_process_makes_the_facts_of_a_comparison(tmp_path: Path) -> None:
    shape = transformer_shape(2)
    paths = [write_recording(tmp_path / f"{x}.gviz", shape, launches=6) for x in ("now", "before")]
    library = Library(paths)
    source = open_source(library, [1], {1: 1})
    files = [[str(x.path), x.version] for x in library.files()]
    lines = [[files, [1], [[1, 1]]], [1, 0]]
    made = io.BytesIO()
    answer(io.BytesIO(b"".join(json.dumps(x).encode() + b"\n" for x in lines)), made)
    made.seek(0)
    assert fact_makers._receive(made) == make_facts(inspected(source, 1), 0)
    library.close()


def test_process_refuses_another_version_of_the_file(long: Path) -> None:
    given = io.BytesIO(json.dumps([[[str(long), "0123"]], [1], []]).encode() + b"\n")
    with pytest.raises(RecordingError, match="changed"):
        answer(given, io.BytesIO())
