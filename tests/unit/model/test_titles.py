"""Titles of graphs: what tells those of one name apart."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from app_tree import by_id, texts, walk
from conftest import Gviz
from recordings import STARTED_NS, fork_join_shape, transformer_shape, write_recording
from saved_file import SavedFile
from shown_pages import render_page

from gviz.app.components.addresses import Addresses, Sides, parse_query
from gviz.app.files.library import Library
from gviz.app.html_file.file import write_html
from gviz.app.pages.compare.choice import all_choices
from gviz.app.views.payload import dag_payload, level_memory_payload, timeline_payload
from gviz.app.views.wire import unpack
from gviz.checks.check import check_recording
from gviz.checks.limits import parse_limits
from gviz.cli.graph_choice import find_graph
from gviz.comparison.diff import RequestedPair, compare_graph
from gviz.errors import RecordingError
from gviz.formats.dot.export import to_dot
from gviz.formats.perfetto.export import write_trace
from gviz.model.titles import graph_title, graph_titles
from gviz.recording import rows
from gviz.recording.merge import merge_recordings
from gviz.recording.reader import Recording
from gviz.recording.writer import RecordingWriter

NAME = "decode.py:106 main"


@dataclass
class Given:
    """A graph: its nodes as (function, blocks, range), and the range that it was captured in."""

    nodes: Sequence[tuple[int, int, int | None]]
    captured_in: int | None = None
    name: str = NAME
    parent: int | None = None


def write(path: Path, ranges: Sequence[tuple[str, int | None]], graphs: Sequence[Given]) -> Path:
    with RecordingWriter(path) as writer:
        writer.insert(
            rows.Run(
                run_id=1,
                name="run",
                state="completed",
                source="run",
                started_ns=STARTED_NS,
                ended_ns=STARTED_NS + 1,
                collector="cupti",
            )
        )
        for at, (text, parent) in enumerate(ranges, start=1):
            writer.insert(
                rows.NvtxPath(nvtx_path_id=at, run_id=1, parent_id=parent, domain=None, text=text)
            )
        for number in sorted({function for one in graphs for function, _, _ in one.nodes}):
            writer.insert(
                rows.KernelFunction(
                    function_id=number, run_id=1, mangled_name=f"f{number}", name=f"f{number}"
                )
            )
        for graph_id, one in enumerate(graphs, start=1):
            writer.insert(
                rows.Graph(
                    graph_id=graph_id,
                    run_id=1,
                    name=one.name,
                    origin="capture" if one.parent is None else "body",
                    parent_graph_id=one.parent,
                    parent_node_id=None if one.parent is None else 1,
                    capture_nvtx_path_id=one.captured_in,
                )
            )
            for node_id, (function, blocks, path_id) in enumerate(one.nodes, start=1):
                writer.insert(
                    rows.Node(
                        graph_id=graph_id,
                        node_id=node_id,
                        exec_node_id=node_id,
                        type=0,
                        name=f"f{function}",
                        function_id=function,
                        grid_x=blocks,
                        grid_y=1,
                        grid_z=1,
                        nvtx_path_id=path_id,
                    )
                )
    return path


def titles(path: Path) -> list[str]:
    with Recording(path) as recording:
        found = graph_titles(recording, recording.fetch_graphs())
        for graph in recording.fetch_graphs():
            assert graph_title(recording, graph) == found[graph.graph_id]
    return [found[graph_id] for graph_id in sorted(found)]


def test_a_name_of_its_own_is_the_title(tmp_path: Path) -> None:
    given = [Given([(1, 8, None)], name="prefill"), Given([(1, 8, None)])]
    assert titles(write(tmp_path / "x.gviz", [], given)) == ["prefill", NAME]


def test_the_range_that_a_graph_was_captured_in_tells_it_apart(tmp_path: Path) -> None:
    ranges = [("warm-up", None), ("batch 8", 1), ("batch 16", 1)]
    given = [Given([(1, 8, None)], captured_in=2), Given([(1, 8, None)], captured_in=3)]
    path = write(tmp_path / "x.gviz", ranges, given)
    assert titles(path) == [f"batch 8, {NAME}", f"batch 16, {NAME}"]
    with Recording(path) as recording:
        assert find_graph(recording, f"batch 16, {NAME}") == 2
        assert find_graph(recording, "batch 8, *") == 1
        assert find_graph(recording, "2") == 2
        with pytest.raises(RecordingError, match="graphs 1, 2 are called"):
            find_graph(recording, NAME)


def test_the_range_around_all_nodes_tells_a_graph_apart(tmp_path: Path) -> None:
    ranges = [("batch 8", None), ("mlp", 1), ("batch 16", None)]
    given = [Given([(1, 8, 1), (1, 8, 2)]), Given([(1, 8, 3), (1, 8, 3)])]
    assert titles(write(tmp_path / "x.gviz", ranges, given)) == [
        f"batch 8, {NAME}", f"batch 16, {NAME}"
    ]  # fmt: skip


def test_grids_that_grow_together_tell_graphs_apart(tmp_path: Path) -> None:
    given = [Given([(1, 8 * k, None), (2, 3, None), (1, 16 * k, None)]) for k in (1, 2, 4)]
    assert titles(write(tmp_path / "x.gviz", [], given)) == [
        f"{k} × the smallest grids, {NAME}" for k in (1, 2, 4)
    ]


def test_other_kernels_are_no_growth_and_nodes_are_counted(tmp_path: Path) -> None:
    given = [Given([(1, 8, None)]), Given([(2, 16, None), (1, 8, None)])]
    assert titles(write(tmp_path / "x.gviz", [], given)) == [f"1 node, {NAME}", f"2 nodes, {NAME}"]


def test_graphs_that_nothing_tells_apart_have_their_numbers(tmp_path: Path) -> None:
    given = [Given([(1, 8, None)]), Given([(1, 8, None)]), Given([(1, 8, None)], parent=1)]
    assert titles(write(tmp_path / "x.gviz", [], given)) == [
        f"{NAME} (graph 1)", f"{NAME} (graph 2)", NAME
    ]  # fmt: skip


def test_every_surface_that_names_a_graph_has_its_title(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "two.gviz", fork_join_shape(), launches=3)
    with sqlite3.connect(path) as database:
        columns = "run_id, name, origin"
        found = f"SELECT 2, {columns} FROM graph WHERE graph_id=1"
        database.execute(f"INSERT INTO graph (graph_id, {columns}) {found}")
    database.close()
    with Recording(path) as recording:
        title = graph_titles(recording, recording.fetch_graphs())[1]
        assert title == "47 nodes, fork-join 3x4"
        assert title in to_dot(recording, 1)
        limits = parse_limits({"launch": "1 s"})
        checks = check_recording(recording, None, limits).checks
        assert {check.graph for check in checks if check.graph_id == 1} == {title}
        run, _ = compare_graph(recording, recording, RequestedPair(1, 1))
        assert (run.graphs[0].before_name, run.graphs[0].after_name) == (title, title)
        write_trace(recording, tmp_path / "x.json", [1])
    assert f"GPU 0: graph {title}" in (tmp_path / "x.json").read_text()
    library = Library([path])
    query = parse_query("?a=two&b=two&graph=1:1")
    choices = all_choices(library, query, Sides("two", "two", 1, 1), Addresses("/"))
    assert f"1: {title}" in [o["label"] for c in walk(choices) for o in getattr(c, "data", ())]


def test_every_part_of_the_pages_and_the_saved_file_have_it(
    tmp_path: Path, gviz_here: Gviz
) -> None:
    path = tmp_path / "two.gviz"
    small, large = (tmp_path / f"{name}.gviz" for name in ("small", "large"))
    write_recording(small, transformer_shape(3), launches=2)
    write_recording(large, transformer_shape(4), launches=2)
    merge_recordings([small, large], path)
    with sqlite3.connect(path) as database:
        database.execute("UPDATE graph SET run_id = 1, name = 'step'")
        database.execute("UPDATE launch SET run_id = 1")
    database.close()
    with Recording(path) as recording:
        found = graph_titles(recording, recording.fetch_graphs())
        assert all(title.endswith("nodes, step") for title in found.values())
        title = found[2]
        headers = [
            unpack(dag_payload(recording, 2))[0],
            unpack(timeline_payload(recording, 2, None, None))[0],
            unpack(level_memory_payload(recording, 2, None))[0],
        ]
    assert [header["graph_name"] for header in headers] == [title] * 3
    library = Library([path])
    addresses = Addresses("/")
    other = render_page(library, addresses, "/graph", "?file=two&graph=1")[0]
    run = texts(render_page(library, addresses, "/run", "?file=two&run=1")[0])
    for shown in (
        run,
        texts(render_page(library, addresses, "/", "")[0]),
        str(by_id(other, "graph-choice").data),
        texts(render_page(library, addresses, "/report", "?file=two&graph=2")[0]),
        gviz_here("info", path).stdout,
    ):
        assert title in shown
    write_html(path, tmp_path / "two.html", [1, 2])
    saved = SavedFile.read(tmp_path / "two.html")
    assert [one["name"] for one in saved.json("file")["graphs"]] == list(found.values())
    assert f"{title} · " in run
