"""Recordings that cannot be so: what is not computed says why, and the rest still comes."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from planned_recordings import Plan, Planned, chain_edges, in_a_row
from recordings import write_loop_recording

from gviz.analysis.analysis import GraphAnalysis, RunAnalysis, analysis_to_json, analyze
from gviz.analysis.results.ledgers import LedgerResult
from gviz.recording.reader import Recording
from gviz.report.analysis.analysis_document import analysis_documents
from gviz.report.renderers.text_form import render_texts
from gviz.stats.figure_fields import NotComputed

#: Parts of an analysis of a graph that need not be there.
PARTS = ("ledger", "critical_path", "dominance", "parallelism", "stream_comparison", "break_even",
         "expected_cost")  # fmt: skip
TIMES = {"ledger", "critical_path", "dominance", "stream_comparison", "break_even"}
BACK = "the clock stepped back"


def plan(count: int = 4, **changes: object) -> Plan:
    nodes = in_a_row(*(Planned(f"k{i}", 0, 5_000) for i in range(count)))
    return Plan(nodes, chain_edges(count), **{"eager_iterations": 3, **changes})  # type: ignore[arg-type]


def damaged(path: Path, statement: str) -> Path:
    plan().write(path)
    with sqlite3.connect(path) as database:
        database.execute(statement)
    database.close()
    return path


def looked_at(path: Path) -> tuple[RunAnalysis, str]:
    """Return the analysis of the one run, and its text; JSON must do too."""
    with Recording(path) as recording:
        found = analyze(recording)
    json.dumps(analysis_to_json(found), allow_nan=False)
    (run,) = found.runs
    return run, render_texts(analysis_documents(found), 100)


def missing(graph: GraphAnalysis) -> set[str]:
    return {part for part in PARTS if isinstance(getattr(graph, part), NotComputed)}


@pytest.mark.parametrize(
    ("statement", "lost", "stated"),
    [
        ("DELETE FROM span", TIMES, "the records of their nodes are lost"),
        ("DELETE FROM span WHERE node_id = 2", set(), "lack times of nodes, in all of them 2 k2"),
        ("DELETE FROM span WHERE launch_id = 2", set(), "1 of 5 launches lack times of nodes"),
        ("UPDATE span SET duration_ns = -1 WHERE node_id = 1", TIMES, "no clock does that"),
        (
            "UPDATE span SET duration_ns = -1 WHERE node_id = 1 AND launch_id = 2", set(),
            f"in 1 of 10 launches a node ends before it starts: {BACK}",
        ),
        (
            "UPDATE launch SET gpu_end_ns = gpu_start_ns - 5", {"stream_comparison", "break_even"},
            f"the last node ends before the first one starts: {BACK}",
        ),
        (
            "UPDATE launch SET host_end_ns = host_start_ns - 5 WHERE side = 'graph'",
            {"stream_comparison", "break_even"},
            f"in 10 of 10 launches the call returns before it was entered: {BACK}",
        ),
        (
            "UPDATE launch SET host_start_ns = gpu_start_ns + 1, host_end_ns = gpu_start_ns + 9 "
            "WHERE side = 'graph'", set(), "starts before the call was entered",
        ),
        (
            "UPDATE graph_exec SET instantiate_end_ns = instantiate_start_ns - 5", {"break_even"},
            "ends before it begins",
        ),
        ("UPDATE graph SET capture_end_ns = capture_start_ns - 5", set(), "ends before it begins"),
        ("UPDATE run SET ended_ns = started_ns - 5", set(), "the run ends no later than it begins"),
        ("UPDATE run SET ended_ns = NULL", set(), "did not close its recording"),
        ("UPDATE span SET node_id = 99 WHERE node_id = 2", set(), "that the graph lacks"),
        (
            "INSERT INTO edge (topology_id, from_node, to_node, type, from_port, to_port) "
            "VALUES (1, 3, 0, 0, 0, 0)", {"ledger", "critical_path", "parallelism"}, "in a cycle",
        ),
        ("DELETE FROM device", set(), "how full the GPU was: not computed"),
        (
            "DELETE FROM stream_operation", {"stream_comparison", "break_even"},
            "no operation outside graphs",
        ),
        (
            "UPDATE stream_operation SET duration_ns = -1", {"stream_comparison", "break_even"},
            "no operation outside graphs",
        ),
        ("UPDATE node SET nvtx_path_id = 77", set(), "What dominates"),
    ],
)  # fmt: skip
def test_what_cannot_be_so_is_reported_and_the_rest_comes(
    tmp_path: Path, statement: str, lost: set[str], stated: str
) -> None:
    run, text = looked_at(damaged(tmp_path / "x.gviz", statement))
    # Sentences of the report begin with a capital letter.
    assert stated.lower() in " ".join(text.split()).lower()
    (graph,) = run.graphs
    assert missing(graph) == lost
    for part in lost:
        assert getattr(graph, part).not_computed


def test_sound_recording_has_no_caveats(tmp_path: Path) -> None:
    run, _ = looked_at(plan().write(tmp_path / "x.gviz"))
    assert run.graphs[0].doubts == ()
    assert missing(run.graphs[0]) == set()


@pytest.mark.parametrize(
    ("changes", "lost"),
    [
        ({"launches": 0, "plain_launches": 0}, TIMES),
        ({"launches": 0}, TIMES),
        ({"eager_iterations": 0}, {"stream_comparison", "break_even"}),
        ({"graph": {"topology_id": None}}, {"ledger", "critical_path", "parallelism"}),
    ],
)
def test_what_was_not_recorded_leaves_the_rest(
    tmp_path: Path, changes: dict[str, object], lost: set[str]
) -> None:
    run, _ = looked_at(plan(**changes).write(tmp_path / "x.gviz"))
    assert missing(run.graphs[0]) == lost
    assert run.graphs[0].doubts == ()


def test_one_node_is_analyzed_whole(tmp_path: Path) -> None:
    run, _ = looked_at(plan(1).write(tmp_path / "x.gviz"))
    assert missing(run.graphs[0]) == set()


def test_bodies_of_a_loop_may_run_any_number_of_times(tmp_path: Path) -> None:
    run, _ = looked_at(write_loop_recording(tmp_path / "x.gviz"))
    assert run.graphs[0].doubts == ()
    assert missing(run.graphs[0]) == {"stream_comparison", "break_even"}


def test_programmatic_overlap_counts_once_and_is_reported(tmp_path: Path) -> None:
    nodes = [Planned("a", 0, 5_000), Planned("b", 3_000, 5_000)]
    run, text = looked_at(Plan(nodes, [(0, 1, 1)]).write(tmp_path / "x.gviz"))
    (graph,) = run.graphs
    assert isinstance(graph.ledger, LedgerResult)
    assert (graph.ledger.median.total_ns, graph.ledger.median.node_ns) == (8_000, 8_000)
    assert graph.ledger.median.hidden_ns == 2_000
    assert "1 of 1 edges are programmatic" in text
