"""Graph against stream calls, break-even, and the share of a run that lies in graphs."""

from __future__ import annotations

from pathlib import Path

import pytest
from places import BY_COPIES
from planned_recordings import STARTED_NS, Plan, Planned, chain_edges, in_a_row, subject_of

from gviz.analysis.results.graph_shares import GraphShare, graph_share
from gviz.analysis.results.repayments import BreakEven, break_even
from gviz.analysis.results.stream_gain import Gain, GainSide, StreamResult, stream_result
from gviz.analysis.run_subject import RunSubject
from gviz.assets import recordings as bundled
from gviz.cli.command_line import main
from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.recording.writer import RecordingWriter
from gviz.stats.figure_fields import NotComputed

FOLDER = Path(next(iter(bundled.__path__)))
#: Those that ran their work by stream calls as well, with starts on both sides; the imported trace
#: and the graphs that live more than one life hold launches only.
BUNDLED = sorted(
    set(FOLDER.glob("*.gviz"))
    - {FOLDER / f"{name}.gviz" for name in ("nested_torch", "graph_lives", *BY_COPIES)}
)


def plan(**changes: object) -> Plan:
    nodes = in_a_row(*(Planned(f"k{i}", 0, 5_000) for i in range(3)))
    return Plan(nodes, chain_edges(3), **{"eager_iterations": 3, **changes})  # type: ignore[arg-type]


def compared(path: Path) -> StreamResult:
    found = stream_result(subject_of(path))
    assert isinstance(found, StreamResult)
    return found


def paid_back(path: Path) -> BreakEven:
    found = break_even(subject_of(path))
    assert isinstance(found, BreakEven)
    return found


def mean(part: Gain | NotComputed) -> float:
    assert isinstance(part, Gain)
    return part.mean_ns


def idle(side: GainSide) -> float:
    assert side.idle_fraction is not None
    return side.idle_fraction.mean


def test_planned_sides_are_as_they_were_planned(tmp_path: Path) -> None:
    found = compared(plan().write(tmp_path / "x.gviz"))
    # Stream: call 6, 2 to the start, 5 of node; each next call returns 6 later, so that a node
    # starts 6 after the one before it: 1 idle, in all of which its call had returned.
    assert found.stream.total_ns.mean == 6_000 + 2_000 + 5_000 + 6_000 + 6_000
    assert found.stream.gpu_ns.mean == 17_000
    assert found.stream.host_ns.mean == 18_000
    # Graph: call 5, 1 to the first node, 15.8 of nodes and gaps.
    assert found.graph.total_ns.mean == 6_000 + 15_800
    assert idle(found.graph) == pytest.approx(800 / 15_800)
    assert found.saved.mean_ns == 25_000 - 21_800
    assert mean(found.host) == 8_000 - 6_000
    assert mean(found.gaps) == 2_000 - 800
    assert (mean(found.overlap), mean(found.node_time), mean(found.one_sided)) == (0, 0, 0)
    assert found.coverage_fraction == 1
    assert (found.graph.left_out_count, found.stream.left_out_count) == (1, 1)
    assert (found.only_graph, found.only_stream) == ((), ())
    assert found.saved.interval.low == found.saved.interval.high == found.saved.mean_ns


def test_slow_calls_are_what_the_graph_saves(tmp_path: Path) -> None:
    found = compared(plan(stream_call_ns=20_000).write(tmp_path / "x.gviz"))
    # Between nodes 15 idle: until the call returned 13 of them, then 2 on the way to the GPU.
    assert mean(found.host) == (22_000 + 2 * 13_000) - 6_000
    assert mean(found.gaps) == 2 * 2_000 - 800
    assert found.idle_without_host_fraction == pytest.approx(4_000 / 19_000)
    assert mean(found.host_saved) == 60_000 - 5_000


def test_single_iteration_is_looked_at_and_has_no_interval(tmp_path: Path) -> None:
    found = compared(plan(eager_iterations=1).write(tmp_path / "x.gviz"))
    assert found.stream.total_ns.count == 1
    assert found.saved.interval.low is None
    back = paid_back(plan(eager_iterations=1).write(tmp_path / "y.gviz"))
    assert (back.elapsed.fewest, back.elapsed.most) == (None, None)
    assert back.elapsed.launches is not None


def test_nodes_and_operations_of_one_side_are_named(tmp_path: Path) -> None:
    found = compared(plan(stream_without=2, foreign_ns=500).write(tmp_path / "x.gviz"))
    assert found.coverage_fraction == pytest.approx(2 / 3)
    assert [(x.name, x.mean_ns) for x in found.only_graph] == [("k2", 5_000)]
    assert [x.node.node_id for x in found.only_graph if x.node] == [2]
    assert [(x.name, x.mean_ns, x.node) for x in found.only_stream] == [("foreign", 500, None)]
    assert mean(found.one_sided) == 500 - 5_000


def test_graph_without_a_stream_side_says_how_to_get_one(tmp_path: Path) -> None:
    path = plan(eager_iterations=0).write(tmp_path / "x.gviz")
    found = stream_result(subject_of(path))
    assert isinstance(found, NotComputed)
    assert "gviz.compare_stream" in found.not_computed
    assert isinstance(break_even(subject_of(path)), NotComputed)


@pytest.mark.parametrize("path", BUNDLED, ids=lambda path: path.stem)
def test_parts_of_the_bundled_gains_add_up(path: Path) -> None:
    found = compared(path)
    parts = (found.host, found.gaps, found.overlap, found.node_time, found.one_sided)
    assert sum(map(mean, parts)) == pytest.approx(found.saved.mean_ns, abs=1)
    assert found.saved.interval.low is not None
    assert found.saved.interval.high is not None
    assert found.saved.interval.low <= found.saved.mean_ns <= found.saved.interval.high
    assert 0 < idle(found.graph) < 1
    assert found.idle_without_host_fraction is not None
    assert found.idle_without_host_fraction < idle(found.stream) + 1e-9
    # The GPU of one rank among several waits for the others in a collective, and is not idle then.
    if path.stem != "ranks_h200":
        assert idle(found.graph) < found.idle_without_host_fraction + 0.05
        assert found.idle_without_host_fraction < idle(found.stream)


def test_behind_event_copies_plain_launches_are_held_against_eager(tmp_path: Path) -> None:
    found = compared(plan(launch={"node_method": "events"}).write(tmp_path / "x.gviz"))
    # Eager: three nodes of 5, each 6 after the one before; a plain launch: 22.8 between its events.
    assert found.is_of_plain_launches
    assert (found.stream.total_ns.mean, found.graph.total_ns.mean) == (17_000, 22_800)
    assert found.saved.mean_ns == 17_000 - 22_800
    assert mean(found.host_saved) == 18_000 - 5_000
    assert (found.graph.idle_fraction, found.idle_without_host_fraction) == (None, None)
    parts = (found.host, found.gaps, found.overlap, found.node_time, found.one_sided)
    assert all(isinstance(part, NotComputed) for part in parts)
    assert found.evidence.is_at_most
    back = paid_back(tmp_path / "x.gviz")
    assert not isinstance(back.host, NotComputed)


def test_bundled_trace_of_launches_only_has_no_gain() -> None:
    found = stream_result(subject_of(FOLDER / "nested_torch.gviz"))
    assert isinstance(found, NotComputed)
    assert "gviz.compare_stream" in found.not_computed


def test_calls_that_wait_for_a_full_queue_are_no_cost_of_the_graph() -> None:
    found = paid_back(FOLDER / "training_step.gviz")
    sides = compared(FOLDER / "training_step.gviz")
    assert sides.graph.host_ns is not None
    # 8 of 13 recorded calls took 13 to 17 ms: until a launch before them had ended.
    assert (sides.graph.host_ns.count, sides.waited_count, sides.full_queue_launches) == (5, 8, 5)
    assert sides.graph.host_ns.mean == pytest.approx(2_502_776)
    assert sides.waited_ns == pytest.approx(12.74e6, rel=0.01)
    assert (sides.host_plain_ns, sides.host_plain_count) == (930_219, 6)
    # The first took 5.22 ms, and those that waited are no measure of later ones.
    assert found.setup.first_launch_ns == pytest.approx(2_827_158)
    assert not isinstance(found.host, NotComputed)
    assert found.host.saved.mean_ns == pytest.approx(
        sides.stream.host_ns.mean - sides.graph.host_ns.mean if sides.stream.host_ns else None
    )


def test_first_launch_without_a_later_one_to_compare_with_is_not_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = plan(launches=1, plain_launches=0).write(tmp_path / "x.gviz")
    found = paid_back(path)
    assert (found.setup.first_launch_ns, found.setup.first_launch_count) == (None, 0)
    assert found.setup.total_ns == 1_250_000
    assert main(["analyze", str(path)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "First launch call, more than later ones not known" in text
    assert "at least " in text[text.index("When it pays back") :]


def test_setup_is_paid_back_by_the_smallest_number_that_does(tmp_path: Path) -> None:
    made = plan(first_call_ns=45_000)
    found = paid_back(made.write(tmp_path / "x.gviz"))
    setup = found.setup
    assert (setup.capture_ns, setup.instantiate_ns, setup.upload_ns) == (1_000_000, 200_000, 50_000)
    assert setup.first_launch_ns == 40_000
    assert setup.total_ns == 1_290_000
    assert setup.own_ns is None  # the recording does not tell
    # A launch saves 3.2 us: 403.1 launches' worth.
    assert found.elapsed.launches == 404
    assert found.elapsed.fewest == found.elapsed.most == 404
    assert found.host.launches == 1_290_000 // 13_000 + 1
    assert found.launches_seen == 10
    stream, graph = found.curve.stream_ns, found.curve.graph_ns
    crossing = [n for n, s, g in zip(found.curve.launches, stream, graph, strict=True) if s > g]
    assert min(crossing) >= 404
    assert graph[0] == setup.total_ns


class Watched(Plan):
    """Of captures gviz's own callbacks took 40%, of instantiations 75%."""

    def _write_launches(self, writer: RecordingWriter) -> None:
        super()._write_launches(writer)
        for name, value in {
            "capture_own_ns": 400_000.0, "capture_watched_ns": 1_000_000.0,
            "instantiate_own_ns": 300_000.0, "instantiate_watched_ns": 400_000.0,
        }.items():  # fmt: skip
            writer.insert(
                rows.Measurement(run_id=1, name=name, value=value, unit="ns", method="measured")
            )


def test_setup_is_without_what_gviz_itself_took(tmp_path: Path) -> None:
    made = plan(first_call_ns=45_000)
    watched = Watched(made.nodes, made.edges, eager_iterations=3, first_call_ns=45_000)
    setup = paid_back(watched.write(tmp_path / "x.gviz")).setup
    assert (setup.capture_ns, setup.instantiate_ns) == (600_000, 50_000)
    assert setup.own_ns == 400_000 + 150_000
    assert setup.total_ns == 600_000 + 50_000 + 50_000 + 40_000


def test_graph_that_saves_nothing_is_never_paid_back(tmp_path: Path) -> None:
    found = paid_back(plan(call_ns=90_000).write(tmp_path / "x.gviz"))
    assert found.elapsed.saved.mean_ns < 0
    assert (found.elapsed.launches, found.elapsed.fewest, found.elapsed.most) == (None,) * 3


def test_graph_made_before_gviz_attached_has_no_known_cost(tmp_path: Path) -> None:
    unseen = {"instantiate_start_ns": None, "instantiate_end_ns": None}
    found = break_even(subject_of(plan(graph_exec=unseen).write(tmp_path / "x.gviz")))
    assert isinstance(found, NotComputed)
    assert "before gviz attached" in found.not_computed


def share(path: Path) -> GraphShare:
    with Recording(path) as recording:
        found = graph_share(RunSubject(recording, recording.fetch_runs()[0]))
    assert isinstance(found, GraphShare)
    return found


def test_share_of_the_run_and_what_amdahl_leaves(tmp_path: Path) -> None:
    found = share(plan().write(tmp_path / "x.gviz"))
    # Ten launches of 22.8 us between events (without node times), calls of 5 us, in a second.
    assert found.run_ns == 10**9
    assert found.graph_gpu_ns == 10 * 22_800
    assert found.graph_host_ns == 10 * 5_000
    assert found.gpu_fraction == pytest.approx(228e-6)
    assert found.most_speedup == pytest.approx(1 / (1 - 228e-6))
    # Five launches and three iterations of the same three nodes.
    assert found.recorded_fraction == pytest.approx(5 / 8)


def test_share_of_an_aborted_run_is_not_known(tmp_path: Path) -> None:
    with RecordingWriter(tmp_path / "x.gviz") as writer:
        writer.insert(
            rows.Run(run_id=1, name="x", state="aborted", source="run", started_ns=STARTED_NS)
        )
    with Recording(tmp_path / "x.gviz") as recording:
        found = graph_share(RunSubject(recording, recording.fetch_runs()[0]))
    assert isinstance(found, NotComputed)
