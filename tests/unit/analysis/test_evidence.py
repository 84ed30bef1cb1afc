"""Evidence of results: where times contradict each other, what was attached, what is cold."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from contradicted_recordings import exchange_times, start_early
from golden_recordings import golden_recordings
from kineto_traces import trace_of, write_trace
from places import BY_COPIES
from planned_recordings import Plan, Planned, chain_edges, in_a_row, subject_of
from rendered import rendered_words
from renumbered_dumps import renumbered_dump

from gviz.analysis.analysis import GraphAnalysis, RunAnalysis, analysis_to_json, analyze
from gviz.analysis.evidence import span_evidence
from gviz.analysis.results.dominant_nodes import Dominance
from gviz.analysis.results.launch_lengths import LaunchLength
from gviz.analysis.results.ledgers import LedgerResult
from gviz.analysis.results.parallel_work import Overlap, Parallelism
from gviz.analysis.results.paths import CriticalPathResult
from gviz.analysis.results.stream_gain import StreamResult
from gviz.assets import recordings as bundled
from gviz.comparison import compare_recordings
from gviz.formats.importer import import_files
from gviz.model.launch_time import node_times
from gviz.recording.reader import Recording
from gviz.report.analysis.analysis_document import analysis_documents
from gviz.report.document import plain
from gviz.report.info.info_verdict import info_verdict
from gviz.report.renderers.json_form import document_to_json
from gviz.report.renderers.markdown_form import render_markdown
from gviz.report.renderers.text_form import render_texts
from gviz.report.summary import summarize
from gviz.stats import CuptiState, NotComputed

ASSETS = Path(next(iter(bundled.__path__)))
DECODE = ASSETS / "decode_step.gviz"
#: What rests on which node waited for which, and on whose times are whose.
ON_PATHS = ("ledger", "critical_path")


def analyzed(path: Path) -> RunAnalysis:
    with Recording(path) as recording:
        return analyze(recording).runs[0]


def text_of(run: RunAnalysis) -> str:
    return " ".join(render_texts(analysis_documents(_whole(run)), 100).split())


def _whole(run: RunAnalysis):  # type: ignore[no-untyped-def]
    from gviz.analysis.analysis import ANALYSIS_VERSION, Analysis

    return Analysis(ANALYSIS_VERSION, "x.gviz", (run,))


@pytest.fixture(scope="module")
def exchanged(tmp_path_factory: pytest.TempPathFactory) -> RunAnalysis:
    return analyzed(exchange_times(DECODE, tmp_path_factory.mktemp("x") / "x.gviz"))


def graph_of(run: RunAnalysis) -> GraphAnalysis:
    return run.graphs[0]


def test_times_on_wrong_nodes_give_no_path_no_ledger_and_no_findings(
    exchanged: RunAnalysis,
) -> None:
    graph = graph_of(exchanged)
    for part in ON_PATHS:
        found = getattr(graph, part)
        assert isinstance(found, NotComputed)
        assert "of 413 dependencies are contradicted by the times, by up to" in found.not_computed
    assert not [f for f in graph.findings.findings if f.gain_per == "launch"]
    assert "contradicted by the times" in graph.findings.not_checked[0]
    assert isinstance(graph.parallelism, Parallelism)
    assert isinstance(graph.parallelism.turn_taking, NotComputed)
    assert isinstance(graph.parallelism.small_branches, NotComputed)
    assert isinstance(graph.dominance, Dominance)
    assert isinstance(graph.dominance.by_range, NotComputed)
    assert isinstance(graph.dominance.layers, NotComputed)
    assert isinstance(graph.dominance.repeats, NotComputed)


def test_what_does_not_rest_on_the_order_of_nodes_stays(exchanged: RunAnalysis) -> None:
    graph, right = graph_of(exchanged), graph_of(analyzed(DECODE))
    assert isinstance(graph.dominance, Dominance)
    assert isinstance(right.dominance, Dominance)
    assert graph.dominance.by_kind.name == right.dominance.by_kind.name
    assert graph.launch == right.launch
    assert isinstance(graph.stream_comparison, StreamResult)
    assert isinstance(graph.parallelism, Parallelism)
    assert isinstance(graph.parallelism.overlap, Overlap)
    assert graph.parallelism.overlap.possible is None


def test_reason_of_a_refusal_is_on_every_surface(exchanged: RunAnalysis) -> None:
    said = "contradicted by the times"
    (document,) = analysis_documents(_whole(exchanged))
    assert said in text_of(exchanged)
    assert said in render_markdown(document)
    written = json.loads(json.dumps(analysis_to_json(_whole(exchanged)), allow_nan=False))
    graph = written["runs"][0]["graphs"][0]
    assert said in graph["ledger"]["not_computed"]
    assert any(said in doubt for doubt in graph["doubts"])
    assert graph["dominance"]["evidence"]["contradiction_count"] > 1_000
    assert graph["dominance"]["evidence"]["worst_contradiction_ns"] > 50_000


def test_one_launch_that_contradicts_itself_is_left_out(tmp_path: Path) -> None:
    run = analyzed(exchange_times(DECODE, tmp_path / "x.gviz", launches=1))
    graph, right = graph_of(run), graph_of(analyzed(DECODE))
    assert graph.timed_launch_count == right.timed_launch_count - 1
    assert any(doubt.startswith("left out: 1 launch in which") for doubt in graph.doubts)
    assert isinstance(graph.ledger, LedgerResult)
    assert graph.ledger.evidence.contradiction_count == 0


def test_small_contradiction_is_told_where_it_matters(tmp_path: Path) -> None:
    run = analyzed(start_early(DECODE, tmp_path / "x.gviz", 200, 9_000))
    graph = graph_of(run)
    assert isinstance(graph.ledger, LedgerResult)
    evidence = graph.ledger.evidence
    assert evidence.contradiction_count >= graph.timed_launch_count
    assert 5_000 < evidence.worst_contradiction_ns < 11_000
    text = text_of(run)
    assert "are gaps on its critical path, although its times have" in text
    assert "Caveat:" in text


def test_nodes_that_take_longer_than_the_events_around_them_are_no_launch(tmp_path: Path) -> None:
    nodes = in_a_row(*(Planned(f"k{i}", 0, 50_000) for i in range(4)))
    path = Plan(nodes, chain_edges(4), launch={"event_duration_ns": 100_000}).write(
        tmp_path / "x.gviz"
    )
    graph = graph_of(analyzed(path))
    assert isinstance(graph.ledger, NotComputed)
    assert "longer than the events around their launch saw" in graph.ledger.not_computed


def test_diff_says_why_paths_are_not_compared(tmp_path: Path) -> None:
    after = exchange_times(DECODE, tmp_path / "x.gviz")
    with Recording(DECODE) as before, Recording(after) as recording:
        (run,) = compare_recordings(before, recording).runs
    (graph,) = run.graphs
    for found in (graph.waterfall, graph.critical_path):
        assert isinstance(found, NotComputed)
        assert found.not_computed.startswith("after: 209 of 413 dependencies are contradicted")


@pytest.mark.thorough
def test_nothing_golden_is_contradicted(tmp_path: Path) -> None:
    for name, path in golden_recordings(tmp_path):
        with Recording(path) as recording:
            graphs = [graph for run in analyze(recording).runs for graph in run.graphs]
        doubts = [doubt for graph in graphs for doubt in graph.doubts if "contradicted" in doubt]
        assert (name, doubts) == (name, [])


@pytest.mark.parametrize("name", ["decode_step", "cupy_pipeline"])
def test_trace_joined_without_ids_has_the_path_of_the_truth(tmp_path: Path, name: str) -> None:
    """A dump whose nodes have other numbers, and a trace without the ids of its nodes."""
    source = ASSETS / f"{name}.gviz"
    trace = write_trace(trace_of(source, node_ids=False), tmp_path / "x.json")
    renumbered_dump(source, tmp_path / "x.dot", 1, seed=1)
    import_files([trace, tmp_path / "x.dot"], tmp_path / "x.gviz")
    graph, right = graph_of(analyzed(tmp_path / "x.gviz")), graph_of(analyzed(source))
    assert isinstance(graph.critical_path, CriticalPathResult)
    assert isinstance(right.critical_path, CriticalPathResult)
    found, truth = graph.critical_path.structural_ns, right.critical_path.structural_ns
    assert found == pytest.approx(truth, rel=0.01)
    evidence = graph.critical_path.evidence
    assert (evidence.contradiction_count, evidence.exchangeable_count > 0) == (0, True)
    assert "nodes are exchangeable" in " ".join(graph.doubts)


@pytest.mark.parametrize("path", sorted(ASSETS.glob("*.gviz")), ids=lambda path: path.stem)
def test_nothing_bundled_is_contradicted(path: Path) -> None:
    with Recording(path) as recording:
        for run in analyze(recording).runs:
            for graph in run.graphs:
                assert isinstance(graph.ledger, LedgerResult) == (path.stem not in BY_COPIES)
                if isinstance(graph.ledger, LedgerResult):
                    assert graph.ledger.evidence.contradiction_count == 0
                    assert graph.ledger.evidence.state is CuptiState.RECORDED
                assert not any("contradict" in doubt for doubt in graph.doubts)


@pytest.mark.parametrize(
    ("collector", "plain_launches", "state", "said"),
    [
        ("cupti", 5, CuptiState.ATTACHED, "(CUPTI attached, median of"),
        ("events", 5, CuptiState.PLAIN, "(plain, median of"),
        ("events+topology", 5, CuptiState.PLAIN, "(plain, median of"),
        ("cupti+events", 5, CuptiState.ATTACHED, "(CUPTI attached, median of"),
        ("cupti", 0, CuptiState.RECORDED, "(recorded, median of"),
    ],
)
def test_launch_is_that_of_the_least_disturbing_state(
    tmp_path: Path, collector: str, plain_launches: int, state: CuptiState, said: str
) -> None:
    nodes = in_a_row(*(Planned(f"k{i}", 0, 5_000) for i in range(4)))
    path = Plan(nodes, chain_edges(4), plain_launches=plain_launches).write(tmp_path / "x.gviz")
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE run SET collector = ?", (collector,))
        database.execute(
            "UPDATE launch SET event_duration_ns = CASE node_level WHEN 1 THEN 40000 "
            "ELSE 25000 + ordinal END WHERE side = 'graph'"
        )
    run = analyzed(path)
    found = graph_of(run).launch
    assert isinstance(found, LaunchLength)
    assert found.evidence.state is state
    assert found.evidence.n == (plain_launches or 5)
    assert (found.median_ns < 30_000) == (state is not CuptiState.RECORDED)
    assert found.low_ns <= found.median_ns <= found.high_ns
    if state is not CuptiState.RECORDED:
        assert said in text_of(run)


@pytest.mark.parametrize(("iterations", "is_cold"), [(1, True), (3, False)])
def test_eager_side_says_whether_it_is_warm(tmp_path: Path, iterations: int, is_cold: bool) -> None:
    nodes = in_a_row(*(Planned(f"k{i}", 0, 5_000) for i in range(3)))
    run = analyzed(
        Plan(nodes, chain_edges(3), eager_iterations=iterations).write(tmp_path / "x.gviz")
    )
    compared = graph_of(run).stream_comparison
    assert isinstance(compared, StreamResult)
    assert compared.stream.evidence.is_cold is is_cold
    assert compared.evidence.is_cold is is_cold
    assert compared.evidence.n == min(compared.stream.evidence.n, compared.graph.evidence.n)
    text = text_of(run)
    assert "The graph saves at most" in text
    assert ("1 cold eager iteration" in text) is is_cold


def test_recorded_eager_side_is_at_most_on_every_surface() -> None:
    with Recording(DECODE) as recording:
        analysis = analyze(recording)
        info = info_verdict(summarize(recording).runs[0])[0]
    documents = analysis_documents(analysis)
    for words in rendered_words(documents):
        assert "The graph saves at most 7.62 ms" in words
        assert "at most 6.53× faster than eager" in words
        assert "at most 9.00 ms" in words
        assert "at least 3 launches" in words
    found = json.loads(json.dumps(analysis_to_json(analysis)))["runs"][0]
    compared = found["graphs"][0]["stream_comparison"]
    assert compared["stream"]["evidence"]["is_at_most"]
    assert compared["evidence"]["is_at_most"]
    assert not compared["graph"]["evidence"]["is_at_most"]
    assert found["graphs"][0]["break_even"]["evidence"]["is_at_most"]
    quantities = document_to_json(documents[0])["verdicts"][0]["sentences"][0]["quantities"]
    assert [x.get("bound") for x in quantities] == ["at most", "at most"]
    assert quantities[0]["interval_width"] == pytest.approx(3.64e6, rel=2e-3)
    assert "an eager iteration at most 9.00 ms" in plain(info.content)


def test_launches_of_a_graph_are_no_upper_bound(tmp_path: Path) -> None:
    nodes = in_a_row(*(Planned(f"k{i}", 0, 5_000) for i in range(3)))
    run = analyzed(Plan(nodes, chain_edges(3), eager_iterations=0).write(tmp_path / "x.gviz"))
    launch = graph_of(run).launch
    assert isinstance(launch, LaunchLength)
    assert not launch.evidence.is_at_most


def test_medians_of_copies_of_slices_rest_on_the_launches_that_timed_a_node(tmp_path: Path) -> None:
    nodes = in_a_row(*(Planned(f"n{i}", 0, 10_000) for i in range(4)))
    path = Plan(nodes, chain_edges(4), launches=6, slices=2).write(tmp_path / "x.gviz")
    assert span_evidence(subject_of(path)).n == 3
    with Recording(path) as recording:
        evidence = node_times(recording, 1, 1).evidence
    assert evidence is not None
    assert evidence.n == 3
