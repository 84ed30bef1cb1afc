"""Analyses of whole recordings, bad ones too: residuals, reasons, and the shape of results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from places import BY_COPIES
from planned_recordings import Plan, Planned, chain_edges, in_a_row, subject_of
from recordings import fork_join_shape, write_loop_recording, write_recording

from gviz.analysis.analysis import (
    ANALYSIS_VERSION,
    Analysis,
    GraphAnalysis,
    analysis_to_json,
    analyze,
)
from gviz.analysis.results.ledgers import LedgerResult, ledger_result
from gviz.analysis.results.paths import CriticalPathResult, critical_path_result
from gviz.assets import recordings as bundled
from gviz.cuda.node_type import NodeType
from gviz.dag.critical_path import structural_path
from gviz.errors import RecordingError
from gviz.recording import rows
from gviz.recording.columns import Columns
from gviz.recording.reader import Recording
from gviz.stats.figure_fields import NotComputed, fields_of, figure, result_classes

ASSETS = Path(next(iter(bundled.__path__)))
BUNDLED = sorted(ASSETS.glob("*.gviz"))


def chain(count: int = 3, **changes: object) -> Plan:
    nodes = in_a_row(*(Planned(f"k{i}", 0, 5_000) for i in range(count)))
    return Plan(nodes, chain_edges(count), **changes)  # type: ignore[arg-type]


def only_graph(path: Path) -> GraphAnalysis:
    with Recording(path) as recording:
        (run,) = analyze(recording).runs
    (graph,) = run.graphs
    return graph


def ledgers(path: Path) -> LedgerResult:
    result = ledger_result(subject_of(path))
    assert isinstance(result, LedgerResult)
    return result


def test_operations_outside_graphs_are_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_recording(tmp_path / "x.gviz", fork_join_shape(), launches=3)
    read: list[type] = []
    fetch = Recording.fetch_arrays

    def counted(self: Recording, row: type, *rest: Any) -> Columns:
        read.append(row)
        return fetch(self, row, *rest)

    monkeypatch.setattr(Recording, "fetch_arrays", counted)
    result = only_graph(path)
    assert not isinstance(result.stream_comparison, NotComputed)
    assert read.count(rows.StreamOperation) == 1


def test_residual_is_signed_and_names_the_call(tmp_path: Path) -> None:
    result = ledgers(chain().write(tmp_path / "x.gviz"))
    assert result.median.total_ns == 15_800
    # The plan's events see the call, 5 us, and 2 us more.
    assert result.residual_ns == 7_000
    assert {x.residual_ns for x in result.launches} == {7_000}
    assert result.call_to_first_ns == 6_000
    assert result.plain_event_ns == 22_800
    less = ledgers(chain(launch={"event_duration_ns": 15_000}).write(tmp_path / "y.gviz"))
    assert less.residual_ns == -800


def test_launch_without_events_has_no_residual(tmp_path: Path) -> None:
    result = ledgers(chain(launch={"event_duration_ns": None}).write(tmp_path / "x.gviz"))
    assert (result.residual_ns, result.event_median_ns, result.plain_event_ns) == (None,) * 3


def test_launch_that_waited_for_the_one_before_has_no_time_from_call_to_first(
    tmp_path: Path,
) -> None:
    with Recording(BUNDLED[-1]) as recording:  # training_step does not wait between launches
        (run,) = analyze(recording).runs
    ledger = run.graphs[0].ledger
    assert isinstance(ledger, LedgerResult)
    assert [x.call_to_first_ns is None for x in ledger.launches[:3]] == [False, True, True]


def test_ledger_parts_add_up_in_every_bundled_launch() -> None:
    for path in (path for path in BUNDLED if path.stem not in BY_COPIES):
        with Recording(path) as recording:
            graphs = [g for run in analyze(recording).runs for g in run.graphs]
        for graph in graphs:
            assert isinstance(graph.ledger, LedgerResult)
            assert len(graph.ledger.launches) == graph.timed_launch_count > 3
            for ledger in [graph.ledger.median, *(x.ledger for x in graph.ledger.launches)]:
                parts = (
                    ledger.node_ns + ledger.dependency_gap_ns
                    + ledger.queue_wait_ns + ledger.late_start_ns
                )  # fmt: skip
                assert parts == ledger.total_ns


@pytest.mark.parametrize("path", BUNDLED, ids=lambda path: path.stem)
def test_structural_path_is_no_longer_than_any_bundled_launch(path: Path) -> None:
    subject = subject_of(path)
    for launch in subject.timed_launches:
        held = subject.hold(launch.spans)
        unrolled = held.unrolled
        found = structural_path(
            len(unrolled), unrolled.tail, unrolled.head, unrolled.programmatic, held.duration_ns
        )
        assert found.length_ns <= held.length_ns


def test_faster_node_is_worth_no_more_than_the_next_path(tmp_path: Path) -> None:
    nodes = [
        Planned("fork", 0, 1_000),
        Planned("long", 1_400, 9_000),
        Planned("short", 1_400, 7_000, queue=8),
        Planned("join", 10_800, 1_000),
    ]
    plan = Plan(nodes, [(0, 1), (0, 2), (1, 3), (2, 3)])
    result = critical_path_result(subject_of(plan.write(tmp_path / "x.gviz")))
    assert isinstance(result, CriticalPathResult)
    by_name = {x.node.name: x.gain_ns for x in result.faster}
    assert by_name == {"long": 2_000, "fork": 1_000, "join": 1_000}
    slack = dict(zip(result.slack.node_id, result.slack.observed_slack_ns, strict=True))
    assert slack == {0: 0, 1: 0, 2: 2_000, 3: 0}


def test_what_is_alike_on_the_path_is_counted_and_the_longest_of_it_listed(tmp_path: Path) -> None:
    starts = [("a", 0, 1), ("b", 500, 2), ("a", 400, 5), ("b", 900, 3), ("a", 0, 4)]
    nodes = in_a_row(*(Planned(x, gap, 1_000 * us) for x, gap, us in starts), gap_ns=0)
    graph = only_graph(Plan(nodes, chain_edges(5)).write(tmp_path / "x.gviz"))
    assert isinstance(graph.ledger, LedgerResult)
    found = [(x.before.node_id, x.gap_ns, x.alike_count, x.alike_ns) for x in graph.ledger.gaps]
    assert isinstance(graph.critical_path, CriticalPathResult)
    faster = [(x.node.node_id, x.alike_count, x.alike_ns) for x in graph.critical_path.faster]
    assert found == [(2, 900, 2, 1_400), (1, 400, 1, 400)]
    assert faster == [(2, 3, 10_000), (3, 2, 5_000)]


def test_reasons_are_given_where_nothing_can_be_reported(tmp_path: Path) -> None:
    silent = only_graph(chain(launches=0, plain_launches=0).write(tmp_path / "a.gviz"))
    assert silent.noise_ns is None
    for part in (silent.ledger, silent.critical_path):
        assert isinstance(part, NotComputed)
        assert "not launched" in part.not_computed
    untimed = only_graph(chain(launches=0).write(tmp_path / "b.gviz"))
    assert isinstance(untimed.ledger, NotComputed)
    assert "windows" in untimed.ledger.not_computed
    refused = [Planned("k", columns={"not_timed_reason": "its edge is programmatic"})] * 2
    unfit = only_graph(Plan(refused, [(0, 1)], launches=0).write(tmp_path / "d.gviz"))
    assert isinstance(unfit.ledger, NotComputed)
    assert unfit.ledger.not_computed == "no node of it has a time: its edge is programmatic"
    late = chain(graph={"topology_id": None, "origin": "late"})
    edgeless = only_graph(late.write(tmp_path / "c.gviz"))
    assert isinstance(edgeless.critical_path, NotComputed)
    assert "edges" in edgeless.critical_path.not_computed


def test_times_by_an_instrumented_copy_give_the_structural_path_only(tmp_path: Path) -> None:
    path = chain(launch={"node_method": "events"}).write(tmp_path / "x.gviz")
    graph = only_graph(path)
    assert isinstance(graph.ledger, NotComputed)
    assert "event copies time each node" in graph.ledger.not_computed
    assert isinstance(graph.critical_path, CriticalPathResult)
    assert graph.critical_path.structural_ns == 15_000
    assert (graph.critical_path.observed_ns, graph.critical_path.observed) == (None, ())
    assert graph.critical_path.faster[0].gain_ns == 5_000
    (order,) = graph.findings.not_checked
    assert order.startswith("rules about gaps and order: event copies")


def test_nodes_that_a_copy_does_not_time_are_counted(tmp_path: Path) -> None:
    why = {"not_timed_reason": "its edge is programmatic"}
    nodes = [Planned("a", 0, 1_000), Planned("b", columns=why), Planned("c", columns=why)]
    plan = Plan(nodes, chain_edges(3), launch={"node_method": "events"})
    (caveat,) = only_graph(plan.write(tmp_path / "x.gviz")).doubts
    assert caveat.startswith("2 of 3 nodes have no time: its edge is programmatic; --collector")
    assert only_graph(Plan(nodes, chain_edges(3)).write(tmp_path / "y.gviz")).doubts == ()


def test_nodes_of_a_copy_start_when_their_dependencies_allow(tmp_path: Path) -> None:
    # The copy's own starts are far apart; 1 and 2 run beside each other, 3 after the longer.
    nodes = [Planned(f"k{i}", 100_000 * i, ns) for i, ns in enumerate((1_000, 4_000, 2_000, 500))]
    edges = [(0, 1), (0, 2), (1, 3), (2, 3)]
    subject = subject_of(
        Plan(nodes, edges, launch={"node_method": "events"}).write(tmp_path / "x.gviz")
    )
    spans = subject.spans
    assert spans.node.tolist() == [0, 2, 1, 3]
    assert spans.start_ns.tolist() == [0, 1_000, 1_000, 5_000]
    assert spans.length_ns == subject.model.whole_ns == 5_500
    assert [subject.ref_of_vertex(v).name for v in subject.path.tolist()] == ["k0", "k1", "k3"]


def test_single_node_graph_is_all_node_time(tmp_path: Path) -> None:
    graph = only_graph(chain(1, launches=1).write(tmp_path / "x.gviz"))
    assert isinstance(graph.ledger, LedgerResult)
    assert graph.ledger.median.node_ns == graph.ledger.median.total_ns == 5_000
    assert graph.ledger.gaps == ()
    assert graph.noise_ns is None, "of one launch"


def test_graph_of_nothing_but_untimed_nodes_has_no_times(tmp_path: Path) -> None:
    plan = Plan([Planned("EMPTY", kind=NodeType.EMPTY)], launches=2)
    assert isinstance(only_graph(plan.write(tmp_path / "x.gviz")).ledger, NotComputed)


def test_missing_records_leave_the_rest(tmp_path: Path) -> None:
    plan = chain(4)
    plan.nodes[1].duration_ns = None  # a kernel whose records were lost in every launch
    graph = only_graph(plan.write(tmp_path / "x.gviz"))
    assert isinstance(graph.ledger, LedgerResult)
    assert graph.ledger.median.untimed_gap_ns == 5_800
    assert [g.via.name for g in graph.ledger.gaps if g.via] == ["k1"]


def test_clock_that_steps_back_gives_a_negative_time_and_no_error(tmp_path: Path) -> None:
    # The call seems to be entered after its nodes ran.
    launch = {"host_start_ns": 1_790_000_001_000_000_000, "host_end_ns": 1_790_000_001_000_000_001}
    result = ledgers(chain(launches=1, launch=launch).write(tmp_path / "x.gviz"))
    assert result.call_to_first_ns is not None
    assert result.call_to_first_ns < 0
    assert result.median.total_ns == 15_800


def test_loops_and_forks_are_written_as_json_with_how_each_number_came_about(
    tmp_path: Path,
) -> None:
    paths = [
        write_loop_recording(tmp_path / "loop.gviz"),
        write_recording(tmp_path / "fork.gviz", fork_join_shape(), launches=3),
    ]
    for path in paths:
        with Recording(path) as recording:
            value = json.loads(json.dumps(analysis_to_json(analyze(recording))))
        assert value["analysis_version"] == ANALYSIS_VERSION
        (graph,) = value["runs"][0]["graphs"]
        assert {"critical_path", "ledger", "parallelism"} <= set(graph)
        lengths = {len(column) for column in graph["critical_path"]["slack"].values()}
        assert len(lengths) == 1
        assert value["how"]["GapLedger"]["total_ns"] == "derived"
        assert set(graph) == set(value["how"]["GraphAnalysis"])


def test_every_field_of_a_result_says_how_it_came_about() -> None:
    classes = list(result_classes(Analysis))
    assert len(classes) > 15
    for cls in classes:
        assert cls.__doc__
        for name, how, doc in fields_of(cls):
            assert how in {"measured", "derived", "estimated", "stated"}, (cls, name)
            assert doc[0].islower() or not doc[0].isalpha(), (cls, name)
            assert "|" not in doc


def test_figure_refuses_an_unknown_way() -> None:
    with pytest.raises(ValueError, match="guessed"):
        figure("guessed", "a number")  # type: ignore[arg-type]


def test_unknown_graph_is_an_error_that_names_the_next_step() -> None:
    with Recording(BUNDLED[0]) as recording, pytest.raises(RecordingError, match="gviz info"):
        analyze(recording, graph_id=99)
