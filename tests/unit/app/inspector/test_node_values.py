"""Values of nodes on pages: in the inspector, and as a table laid on the graph."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from inspected import record_of
from planned_recordings import Plan, Planned
from saved_file import SavedFile
from valued_recordings import Ran, keep_values, write_values

from gviz.app.files.library import Library
from gviz.app.html_file.file import write_html
from gviz.app.pages.overlay_list import laid_tables
from gviz.app.views.graph_data import graph_view
from gviz.cli.command_line import main

RAN = (Ran("f", "CAB"), Ran("g", "DCA", (math.nan, 1.0, 1.0, 3.0)))


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    plain = Plan([Planned("f", duration_ns=1_000)]).write(tmp_path / "plain.gviz")
    found = Library([write_values(tmp_path / "x.gviz", RAN), plain])
    yield found
    found.close()


def test_inspector_has_what_memory_held_and_who_wrote_it(library: Library) -> None:
    view = graph_view(library, "x", 1)
    out, first, _ = record_of(library, "x", view, 1)["values"]["0"]
    assert (out["use"], out["before"]["nan"], out["after"]["nan"]) == ("written", 0, 1)
    assert (first["parameter"], first["after"]) == ("const float*", None)
    assert first["writers"] == {"count": 1, "keys": [0]}


def test_inspector_has_how_elements_spread_that_were_kept(library: Library) -> None:
    keep_values(library.file("x").path, (1.0, 1.0, 1.0, 1.0))
    view = graph_view(library, "x", 1)
    out = record_of(library, "x", view, 0)["values"]["0"][0]
    assert out["before"]["histogram"] is None
    assert list(out["after"]["histogram"]) == [4, *[0] * 15]


def test_saved_file_has_the_table(tmp_path: Path) -> None:
    path = write_values(tmp_path / "x.gviz", RAN)
    write_html(path, tmp_path / "x.html", [1])
    saved = SavedFile.read(tmp_path / "x.html")
    assert saved.json("overlays") == [
        {"name": "values", "source": "overlay-0", "recorded": True, "graphs": [1]}
    ]
    assert saved.blobs()["overlay-0"].startswith(b"node,NaN after")


def test_no_values_leaves_them_out_of_what_is_written(tmp_path: Path) -> None:
    path = write_values(tmp_path / "x.gviz", RAN)
    library = Library([path], values=False)
    view = graph_view(library, "x", 1)
    assert record_of(library, "x", view, 1)["values"] == {}
    assert laid_tables(library, {"": ("x", {1})}, str) == []
    library.close()
    for options, expected in (((), True), (("--no-values",), False)):
        folder = tmp_path / f"tables-{len(options)}"
        assert main(["export", str(path), "--format", "csv", "-o", str(folder), *options]) == 0
        assert [(folder / f"{name}.csv").exists() for name in ("node_value", "value_reading")] == [
            expected, expected,
        ]  # fmt: skip


def test_values_are_a_table_on_their_graph_once(library: Library) -> None:
    for _ in range(2):
        (laid,) = laid_tables(library, {"": ("x", {1})}, str)
        assert laid == {"name": "values", "source": "0", "recorded": True}
    assert laid_tables(library, {"": ("plain", {1})}, str) == []
    (table,) = library.overlays
    assert (table.file, table.graph_id) == ("x", 1)
    lines = table.text.decode().splitlines()
    assert lines[0] == "node,NaN after,infinite after,written [B],varying ranges,avg after"
    assert lines[1:] == ["0,0,0,16,0,1.0", "1,1,0,16,0,1.6666666269302368"]
