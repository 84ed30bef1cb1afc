"""``gviz.open``: objects, tables for pandas and polars, graphs for networkx."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import networkx as nx
import pandas
import pytest
from places import ROOT
from recordings import fork_join_shape, write_loop_recording, write_recording
from valued_recordings import Ran, keep_values, write_values

import gviz
from gviz.api.frame import Frame, from_rows
from gviz.api.opened import Opened, OpenedGraph
from gviz.errors import GvizError, RecordingError, UsageError
from gviz.recording.rows.schema import all_tables

Gviz = Callable[..., "subprocess.CompletedProcess[str]"]

SHAPE = fork_join_shape()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A recording with 12 launches."""
    return write_recording(tmp_path / "x.gviz", SHAPE, launches=12)


@pytest.fixture
def opened(path: Path) -> Iterator[Opened]:
    with gviz.open(path) as recording:
        yield recording


@pytest.fixture
def graph(opened: Opened) -> OpenedGraph:
    return opened.graph(1)


def test_arguments_have_the_types_of_the_kernels_name() -> None:
    with gviz.open(ROOT / "assets" / "recordings" / "decode_step.gviz") as recording:
        graph = recording.graph(1)
        found = graph.arguments(0)
        assert [a.to_text() for a in found][:3] == ["int = 1024", "float = 1e-05", "const half*"]
        assert [a.parameter.is_read_only for a in found] == [False] * 2 + [True] * 3 + [False] * 3
        assert [a.to_text() for a in graph.arguments(1)] == ["1.68 KiB"]
        with pytest.raises(RecordingError, match="no node 9999"):
            graph.arguments(9999)


def test_launches_of_a_level_that_is_none_have_a_state(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE launch SET node_level = 7 - 14 * (ordinal % 2)")
    with gviz.open(path) as opened:
        states = list(opened.graph(1).frame("launches").values["state"])
    assert states[:2] == ["recorded", "attached"]


def test_runs_and_graphs(opened: Opened) -> None:
    (run,) = opened.runs
    (graph,) = run.graphs
    assert opened.graphs == (graph,)
    assert run.devices[0].name
    assert len(graph.nodes) == len(SHAPE.works)
    assert graph.launch_count == len(graph.launches)
    assert set(graph.spans.launch_id.tolist()) <= set(graph.launches.launch_id.tolist())
    assert graph.analyze().node_count == len(SHAPE.works)


def test_analysis_prints_as_the_command_does(
    path: Path, graph: OpenedGraph, gviz_here: Gviz
) -> None:
    found = graph.analyze()
    printed = gviz_here("analyze", path, "--graph", "1").stdout
    assert found.full_text() + "\n" == printed.partition("\n\n")[2]
    page, _, rest = str(found).rpartition("\n\n")
    assert found.full_text().startswith(page + "\n\nWhat bounds it\n")
    assert rest.startswith("full_text() also has: What bounds it, What dominates, ")
    assert str(found).count("\n") < 80
    assert repr(found) == f"<analysis of graph 1: {graph.name}; print() gives its text>"
    page = found._repr_html_()
    assert page.startswith("<div>")
    assert "What to change" in page


def test_graph_is_found_by_id_name_or_pattern(opened: Opened, graph: OpenedGraph) -> None:
    for which in (1, graph.name, f"{graph.name[:4]}*"):
        assert opened.graph(which) is graph
    for which in (7, "absent"):
        with pytest.raises(GvizError, match=r"0 graphs are .* there are: 1"):
            opened.graph(which)


def test_bodies_are_graphs(tmp_path: Path) -> None:
    with gviz.open(str(write_loop_recording(tmp_path / "loop.gviz", iterations=3))) as opened:
        graph = opened.graph(1)
        (body,) = graph.bodies
        assert len(opened.graphs) == 1
        times = body.to_pandas().median_ns
        assert times.notna().any()
        assert body.row.parent_graph_id == 1


def test_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "text.gviz"
    text.write_text("no recording")
    for path in (text, tmp_path / "absent.gviz"):
        with pytest.raises(RecordingError, match=path.name):
            gviz.open(path)


def test_closed_recording_reads_nothing(path: Path) -> None:
    opened = gviz.open(path)
    opened.close()
    with pytest.raises(GvizError):
        _ = opened.runs


# -- tables -------------------------------------------------------------------------------


def test_nodes_have_times_kernels_and_ranges(opened: Opened, graph: OpenedGraph) -> None:
    pandas_frame, polars_frame = graph.to_pandas(), graph.to_polars()
    assert pandas_frame.node_id.tolist() == [node.node_id for node in graph.nodes]
    assert polars_frame["node_id"].to_list() == pandas_frame.node_id.tolist()
    statistics = {t.node_id: t for t in opened.recording.fetch_statistics(1)}
    for node, median in zip(graph.nodes, polars_frame["median_ns"].to_list(), strict=True):
        time = statistics.get(node.node_id)
        assert median == (None if time is None else time.median_ns)
    assert set(pandas_frame.kind) >= {"KERNEL"}
    assert pandas_frame.kernel.notna().sum() == (pandas_frame.kind == "KERNEL").sum()


def test_nodes_of_autograd_have_their_forward_operation_and_how_it_is_known(
    tmp_path: Path,
) -> None:
    path = tmp_path / "training_step.gviz"
    path.write_bytes((ROOT / "assets" / "recordings" / path.name).read_bytes())
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(
            "UPDATE node SET sequence_nr = NULL, autograd_name = NULL;"
            "UPDATE node SET sequence_nr = node_id WHERE node_id IN (40, 50);"
            "UPDATE node SET autograd_name = 'TBackward0' WHERE node_id BETWEEN 400 AND 401;"
            "UPDATE node SET sequence_nr = 40 WHERE node_id = 400;"
            "UPDATE node SET sequence_nr = 45 WHERE node_id = 401;"
        )
    with gviz.open(path) as recording:
        nodes = recording.graph(1).to_pandas("nodes").set_index("node_id")
    columns = ["nvtx_path", "nvtx_path_how", "forward_node_id", "forward_how"]
    found = nodes.loc[[400, 401], columns].values.tolist()
    assert found == [
        ["backward", "by time", 40, "autograd: sequence"],
        ["backward", "by time", 50, "autograd: next in sequence"],
    ]
    assert nodes.loc[[40, 402], columns[2:]].isna().all(axis=None)
    assert nodes.loc[40, "nvtx_path"] == "forward"
    assert nodes.loc[[40], "nvtx_path_how"].isna().all()


def test_launches_say_in_which_state_they_were(path: Path) -> None:
    with gviz.open(path) as opened:
        (graph,) = opened.graphs
        frame = graph.frame("launches")
        levels = graph.launches.node_level.tolist()
    assert set(levels) == {0, 1}
    assert list(frame.values["state"]) == [("attached", "recorded")[level] for level in levels]


@pytest.mark.parametrize("what", ["nodes", "edges", "launches", "spans"])
def test_pandas_and_polars_hold_the_same(graph: OpenedGraph, what: str) -> None:
    frame = graph.frame(what)
    one, two = graph.to_pandas(what), graph.to_polars(what)
    assert len(one) == len(two) == len(frame) > 0
    assert list(one.columns) == two.columns == list(frame.kinds)
    for name in frame.kinds:
        known = [None if value is pandas.NA else value for value in one[name].tolist()]
        assert known == two[name].to_list(), name


def test_spans_join_nodes_on_their_key(graph: OpenedGraph) -> None:
    nodes, spans = graph.to_pandas("nodes"), graph.to_pandas("spans")
    joined = spans.merge(nodes, on=["graph_id", "node_id"])
    assert len(joined) == len(spans)
    medians = joined.groupby("node_id").duration_ns.median()
    assert medians.tolist() == nodes.set_index("node_id").median_ns.dropna().tolist()


def test_missing_integers_stay_integers(path: Path) -> None:
    database = sqlite3.connect(path)
    with database:
        database.execute("UPDATE launch SET event_duration_ns=NULL WHERE ordinal=3")
    database.close()
    with gviz.open(path) as opened:
        graph = opened.graph(1)
        column = graph.to_pandas("launches").event_duration_ns
        assert (str(column.dtype), int(column.isna().sum())) == ("Int64", 1)
        found = graph.to_polars("launches")["event_duration_ns"]
        assert (str(found.dtype), found.null_count()) == ("Int64", 1)
        assert found[3] is None


def test_every_table_of_the_file_is_a_frame(opened: Opened) -> None:
    for table in all_tables():
        one, two = opened.to_pandas(table.name), opened.to_polars(table.name)
        assert list(one.columns) == two.columns == [c.name for c in table.columns]
        assert len(one) == len(two)
    assert len(opened.to_pandas("span")) == len(opened.graph(1).spans)
    assert opened.tables[0] == "run"


def test_absent_tables_name_those_that_are_there(opened: Opened, graph: OpenedGraph) -> None:
    with pytest.raises(GvizError, match="there are nodes, edges, launches, spans"):
        graph.to_pandas("node")
    with pytest.raises(GvizError, match="there are run, "):
        opened.to_polars("nodes")


def test_columns_without_a_value_keep_their_type() -> None:
    frame = from_rows({"a": "INTEGER", "b": "REAL", "c": "TEXT"}, [(None, None, None)])
    assert [str(t) for t in frame.to_pandas().dtypes] == ["Int64", "Float64", "string"]
    assert [str(t) for t in frame.to_polars().dtypes] == ["Int64", "Float64", "String"]
    empty: Frame = from_rows({"a": "INTEGER"}, [])
    assert (len(empty), len(empty.to_pandas()), len(empty.to_polars())) == (0, 0, 0)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_missing_library_is_named(
    graph: OpenedGraph, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(GvizError, match=f"pip install {library}"):
        getattr(graph, f"to_{library}")()


# -- graphs -------------------------------------------------------------------------------


def test_networkx_graph_has_nodes_edges_and_attributes(graph: OpenedGraph) -> None:
    found = graph.to_networkx()
    assert list(found.nodes) == [node.node_id for node in graph.nodes]
    assert graph.edges is not None
    wanted = list(zip(graph.edges.from_node.tolist(), graph.edges.to_node.tolist(), strict=True))
    assert sorted(found.edges()) == sorted(wanted)
    assert nx.is_directed_acyclic_graph(found)
    first = graph.nodes[0]
    assert found.nodes[first.node_id]["name"] == first.name
    assert found.nodes[first.node_id]["median_ns"] > 0
    assert "memset_value" not in found.nodes[first.node_id]


def test_unknown_edges_are_none(path: Path) -> None:
    database = sqlite3.connect(path)
    with database:
        database.execute("UPDATE graph SET topology_id=NULL")
    database.close()
    with gviz.open(path) as opened:
        graph = opened.graph(1)
        assert graph.edges is None
        assert len(graph.to_pandas("edges")) == 0
        assert graph.to_networkx().number_of_edges() == 0


# -- words --------------------------------------------------------------------------------


def test_repr_says_what_is_in_it(opened: Opened) -> None:
    text = repr(opened)
    assert "x.gviz" in text
    assert f"{len(SHAPE.works)} nodes, " in text
    assert "launches, launch " in text


def test_html_of_names_is_escaped(path: Path) -> None:
    database = sqlite3.connect(path)
    with database:
        database.execute("UPDATE graph SET name='<script>alert(1)</script>'")
    database.close()
    with gviz.open(path) as opened:
        html = opened._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_diff_is_that_of_the_command(path: Path, opened: Opened) -> None:
    with gviz.open(path) as other:
        (run,) = opened.diff(other).runs
    assert [graph.how for graph in run.graphs] == ["shape"]


def test_what_if_takes_edits_by_name_and_says_what_is_none() -> None:
    with gviz.open(ROOT / "assets" / "recordings" / "token_step_1.gviz") as opened:
        (graph,) = opened.graphs
        both = graph.what_if(scale=["GEMM=0.5"], off="norm")
        assert both.edits == ("GEMM at 50.0% of its time", "norm off")
        assert both.gain_ns > graph.what_if(off="norm").gain_ns > 0
        assert graph.rank_parts().parts[0].kind == "family"
        for edits, message in (
            ({}, "give an edit"),
            ({"scales": "GEMM=0.5"}, "did you mean scale"),
            ({"off": "nothing"}, "no node of the graph matches"),
        ):
            with pytest.raises(UsageError, match=message):
                graph.what_if(**edits)


def test_values_of_a_graph_and_of_a_node(tmp_path: Path) -> None:
    path = write_values(tmp_path / "x.gviz", (Ran("f", "CAB"), Ran("g", "DCA")))
    with gviz.open(path) as opened:
        (graph,) = opened.graphs
        assert (graph.data().node_count, graph.values(1).memory[1].written_by[0].node_id) == (2, 0)
        with pytest.raises(RecordingError, match="no node 9"):
            graph.values(9)
        with pytest.raises(RecordingError, match="record with 'gviz run --dump PATTERN'"):
            graph.values(1).memory[0].before.load()
        keep_values(path, (1.0, 1.0, 1.0, 1.0))
        (state,) = [x.after for x in graph.values(1).memory if x.after is not None]
        assert state.load().tolist() == [1.0] * 4
