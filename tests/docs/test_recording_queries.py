"""docs/recording.md's queries and views: they run, and agree with what gviz says."""

from __future__ import annotations

import json
import re
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kineto_traces import trace_of, write_trace
from places import ROOT
from recordings import write_loop_recording

from gviz.cli.command_line import main
from gviz.formats.importer import import_files
from gviz.model import nvtx_texts, own_frame
from gviz.recording.reader import Recording
from gviz.recording.rows.schema import all_tables
from gviz.recording.rows.views import VIEWS

BUNDLED = ROOT / "assets" / "recordings"
DOCUMENT = (ROOT / "docs" / "recording.md").read_text()
QUERIES = re.findall(r"```sql\n(.*?)```", DOCUMENT, re.DOTALL)
KERNELS, NODES, LAUNCHES, TIMELINE, EDGES, GRAPHS = QUERIES
#: Kernels in one level; loops and branches; a trace joined with a dump, whose nodes are numbered
#: otherwise in the executable.
NAMES = ("decode_step", "cupy_pipeline", "graph_lives", "nested_torch")
WITHOUT_EAGER = ("graph_lives", "nested_torch")


@pytest.fixture(scope="module", params=[*NAMES, "imported"])
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if request.param != "imported":
        return BUNDLED / f"{request.param}.gviz"
    folder = tmp_path_factory.mktemp("imported")
    source = BUNDLED / "decode_step.gviz"
    with Recording(source) as recording:
        text = recording.fetch_graphs()[0].dot
    assert text is not None
    (folder / "graph.dot").write_bytes(zlib.decompress(text))
    trace = write_trace(trace_of(source, node_ids=False), folder / "trace.json")
    import_files([trace, folder / "graph.dot"], folder / "imported.gviz")
    return folder / "imported.gviz"


def request(path: Path, sql: str) -> list[dict[str, Any]]:
    """Return the rows of a query as sqlite3 users get them."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        found = database.execute(sql)
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found]


@pytest.fixture
def stated(path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Return a function that gives the graphs of what a command of gviz says."""

    def of(command: str) -> list[dict[str, Any]]:
        assert main([command, str(path), "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        return [graph for run in document["runs"] for graph in run["graphs"]]

    return of


# -- one key ---------------------------------------------------------------------------------------


def test_spans_and_statistics_join_nodes_by_equal_names(path: Path) -> None:
    for table in ("span", "node_statistics"):
        joined = f"SELECT count(*) AS n FROM {table} JOIN node USING (graph_id, node_id)"
        assert (
            request(path, joined)
            == request(path, f"SELECT count(*) AS n FROM {table}")
            != [{"n": 0}]
        )


def test_joined_by_equal_names_times_are_those_that_analysis_names(path: Path, stated: Any) -> None:
    spans = request(
        path,
        "SELECT graph_id, node_id, iteration, node.name, span.duration_ns AS ns "
        "FROM span JOIN node USING (graph_id, node_id)",
    )
    compared = 0
    for graph in stated("analyze"):
        for step in graph["critical_path"].get("faster") or ():
            wanted = step["node"] | {"iteration": step["iteration"]}
            mine = [span for span in spans if wanted.items() <= span.items()]
            assert np.median([s["ns"] for s in mine]) == pytest.approx(step["duration_ns"])
            compared += 1
    assert compared >= 5


def test_most_nodes_of_the_imported_trace_have_another_id_in_the_executable(path: Path) -> None:
    differ = "SELECT count(*) AS n FROM node WHERE exec_node_id <> node_id"
    (found,) = request(path, differ)
    assert found["n"] > (200 if path.stem == "imported" else -1)


def test_stream_operations_are_matched_to_nodes_of_their_launchs_graph(path: Path) -> None:
    matched = "FROM stream_operation AS work JOIN launch USING (launch_id)"
    same = (
        f"SELECT count(*) AS n {matched} JOIN node ON node.graph_id = launch.graph_id "
        "AND node.node_id = work.node_id AND node.type = work.type"
    )
    assert request(path, same) == request(path, f"SELECT count(*) AS n {matched}")


# -- the document's queries ------------------------------------------------------------------------


def test_slowest_nodes_are_those_of_gviz_info(path: Path, stated: Any) -> None:
    reported = [node for graph in stated("info") for node in graph["slowest_nodes"]]
    by_node = {(node["graph_id"], node["node_id"]): node for node in reported}
    found = request(path, NODES)
    assert len(found) == 10
    assert found[0]["total_us"] == max(row["total_us"] for row in found)
    known = [row for row in found if (row["graph_id"], row["node_id"]) in by_node]
    assert len(known) >= 8, "ties may be cut off differently"
    for row in known:
        node = by_node[row["graph_id"], row["node_id"]]
        assert (row["name"], row["executions"]) == (node["name"], node["count"])
        assert row["median_us"] * 1e3 == pytest.approx(node["median_ns"])


def test_kernels_take_together_what_gviz_info_says(path: Path, stated: Any) -> None:
    (total,) = request(path, "SELECT sum(total_us) AS us FROM v_node")
    reported = [graph["node_time_ns"] or 0 for graph in stated("info")]
    assert total["us"] * 1e3 == pytest.approx(sum(reported))
    of_kernels = "SELECT sum(total_us) AS us FROM v_node WHERE kernel IS NOT NULL"
    found = request(path, KERNELS.replace("LIMIT 10", "LIMIT -1"))
    assert sum(row["total_ms"] for row in found) * 1e3 == pytest.approx(
        request(path, of_kernels)[0]["us"]
    )


def test_node_medians_are_those_that_analysis_computes_with(path: Path, stated: Any) -> None:
    medians: dict[tuple[int, int], float] = {}
    for graph in stated("analyze"):
        slack = graph["critical_path"].get("slack")
        if slack is not None:
            # Statistics are over all executions of a node, the slack over each by itself.
            once = [iteration == 0 for iteration in slack["iteration"]]
            keys = list(zip(slack["graph_id"], slack["node_id"], strict=True))
            reported = zip(keys, slack["duration_ns"], once, strict=True)
            medians |= {key: ns for key, ns, first in reported if first and keys.count(key) == 1}
    found = request(path, NODES.replace("LIMIT 10", "LIMIT 100"))
    known = {(r["graph_id"], r["node_id"]): r["median_us"] for r in found}
    compared = medians.keys() & known.keys()
    assert len(compared) >= min(len(medians), len(known), 10)
    for key in compared:
        assert known[key] * 1e3 == pytest.approx(medians[key])


def test_mean_launches_are_those_that_gviz_analyze_compares(path: Path, stated: Any) -> None:
    reported = {
        (graph["graph_id"], side): (graph["stream_comparison"][side]["gpu_ns"]["count"],
                                    graph["stream_comparison"][side]["gpu_ns"]["mean"])
        for graph in stated("analyze")
        for side in ("graph", "stream")
        if side in graph["stream_comparison"]
    }  # fmt: skip
    found = {
        (row["graph_id"], row["side"]): (row["launches"], row["mean_gpu_us"] * 1e3)
        for row in request(path, LAUNCHES)
    }
    assert {key: found[key] for key in reported} == {
        key: (count, pytest.approx(ns)) for key, (count, ns) in reported.items()
    }
    assert len(reported) == (0 if path.stem in WITHOUT_EAGER else 2)


def test_timeline_is_the_first_launch_with_node_times(path: Path, stated: Any) -> None:
    found = request(path, TIMELINE)
    lengths = {
        launch["launch_id"]: launch["ledger"]["total_ns"]
        for graph in stated("analyze")
        for launch in graph["ledger"].get("launches", ())
    }
    with Recording(path) as recording:
        graphs = [g.graph_id for g in recording.fetch_graphs() if g.parent_graph_id is None]
        launches = [x for g in graphs for x in recording.fetch_launches_with_spans(g)]
        first = min(launches, key=lambda x: x.launch_id)
        spans = recording.fetch_spans(first.launch_id)
    assert [row["start_us"] * 1e3 for row in found] == pytest.approx(
        sorted(spans.start_ns.tolist())
    )
    assert sum(row["duration_us"] for row in found) * 1e3 == pytest.approx(spans.duration_ns.sum())
    assert all(row["name"] for row in found)
    last = max(row["start_us"] + row["duration_us"] for row in found) * 1e3
    assert last == pytest.approx(lengths.get(first.launch_id, last))
    assert lengths or path.stem == "imported"


def test_edges_have_the_names_of_their_nodes(path: Path) -> None:
    names = {
        row["node_id"]: row["name"] for row in request(path, "SELECT * FROM node WHERE graph_id=1")
    }
    found = request(path, EDGES)
    (graph,) = request(path, "SELECT topology_id FROM graph WHERE graph_id=1")
    edges = f"SELECT 1 FROM edge WHERE topology_id={graph['topology_id']}"
    assert len(found) == len(request(path, edges)) > 0
    for row in found:
        assert row["from_name"] == names[row["from_node"]]
        assert row["to_name"] == names[row["to_node"]]
        assert row["type"] in ("default", "programmatic")


def test_graphs_are_counted_as_gviz_info_counts_them(path: Path, stated: Any) -> None:
    found = [row for row in request(path, GRAPHS) if not row["origin"].startswith("failed")]
    reported = stated("info")
    assert sum(row["nodes"] for row in found) == sum(graph["node_count"] for graph in reported)
    times = sum(row["node_time_us"] or 0 for row in found) * 1e3
    assert times == pytest.approx(sum(graph["node_time_ns"] or 0 for graph in reported))
    launched = {row["graph_id"]: row["launches"] for row in found if row["launches"]}
    sides = {
        g["graph_id"]: s["count"] for g in reported for s in g["launches"] if s["side"] == "graph"
    }
    assert launched == sides
    analyzed = {g["graph_id"]: (g["node_count"], g["launch_count"]) for g in stated("analyze")}
    for graph_id, (_, launches) in analyzed.items():
        assert launched.get(graph_id, 0) == launches
    assert sum(nodes for nodes, _ in analyzed.values()) == sum(row["nodes"] for row in found)


# -- views -----------------------------------------------------------------------------------------


def test_ranges_and_lines_of_nodes_are_those_that_gviz_shows(path: Path) -> None:
    found = {(r["graph_id"], r["node_id"]): r for r in request(path, "SELECT * FROM v_node")}
    with Recording(path) as recording:
        for graph in recording.fetch_graphs():
            texts = nvtx_texts(recording.fetch_nvtx_paths(graph.run_id))
            for node in recording.fetch_nodes(graph.graph_id)[:40]:
                row = found[graph.graph_id, node.node_id]
                assert row["nvtx"] == texts.get(node.nvtx_path_id or 0)
                stack = [] if node.stack_id is None else recording.fetch_stack(node.stack_id)
                depth = own_frame(stack)
                own = None if depth is None else (stack[depth].file, stack[depth].line)
                assert (row["file"], row["line"]) == (own or (None, None))


def test_views_have_the_columns_that_the_document_says(path: Path) -> None:
    for view in VIEWS:
        assert f"## {view.name}\n" in DOCUMENT
        with closing(sqlite3.connect(path)) as database:
            found = database.execute(f"SELECT * FROM {view.name} LIMIT 1")
            assert [c[0] for c in found.description] == [name for name, _ in view.columns]


def test_loop_bodies_count_each_execution(tmp_path: Path) -> None:
    path = write_loop_recording(tmp_path / "loop.gviz", iterations=5)
    found = request(path, NODES)
    assert {row["name"]: row["executions"] for row in found} == {
        "init_kernel": 1, "finish_kernel": 1, "step_kernel": 5, "check_kernel": 5,
    }  # fmt: skip
    spans = "SELECT count(*) AS n, max(iteration) AS last FROM v_span WHERE name = 'step_kernel'"
    assert request(path, spans) == [{"n": 5, "last": 4}]


# -- sqlite's own checks ---------------------------------------------------------------------------


def test_sqlite_finds_the_file_whole(path: Path) -> None:
    assert request(path, "PRAGMA integrity_check") == [{"integrity_check": "ok"}]


@pytest.mark.parametrize("table", all_tables(), ids=lambda table: table.name)
def test_key_columns_come_first(table: Any) -> None:
    # Else integrity_check of SQLite 3.40 reads other columns of the row than it names.
    if table.without_rowid:
        names = tuple(column.name for column in table.columns)
        assert names[: len(table.primary_key)] == table.primary_key
