"""The numbers of ``gviz info``, checked against the rows they come from."""

from __future__ import annotations

import json
import statistics
from functools import partial
from pathlib import Path

import pytest
from planned_recordings import Plan, Planned, chain_edges, in_a_row
from recordings import fork_join_shape, transformer_shape, write_loop_recording, write_recording

from gviz.cli.commands.look.info import to_json
from gviz.cuda import NodeType
from gviz.model import launch_times
from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.recording.writer import RecordingWriter
from gviz.report.info.recording_document import info_document
from gviz.report.renderers.text_form import render_text
from gviz.report.summary import GraphSummary, RecordingSummary, summarize


@pytest.fixture(scope="module")
def small(small_recording: Path) -> RecordingSummary:
    """The summary of the fork-join recording, every node listed."""
    with Recording(small_recording) as recording:
        return summarize(recording, slowest=1000)


def _graph(summary: RecordingSummary) -> GraphSummary:
    (run,) = summary.runs
    (graph,) = run.graphs
    return graph


def test_counts_are_those_of_the_shape(small: RecordingSummary) -> None:
    shape = fork_join_shape()
    graph = _graph(small)
    assert graph.node_count == len(shape.works)
    assert graph.edge_count == sum(len(work.after) for work in shape.works)
    assert sum(graph.node_kinds.values()) == graph.node_count
    assert next(iter(graph.node_kinds)) == "KERNEL"
    assert graph.body_count == 0


def test_launch_medians_are_medians_of_the_rows(small: RecordingSummary) -> None:
    with Recording(Path(small.path)) as recording:
        launches = recording.fetch_launches(1)
    graph_side, stream_side = _graph(small).launches
    assert (graph_side.side, stream_side.side) == ("graph", "stream")
    assert (graph_side.count, graph_side.with_node_times) == (40, 20)
    assert (stream_side.count, stream_side.with_node_times) == (1, 1)
    assert graph_side.event_median_ns == statistics.median(
        launch.event_duration_ns
        for launch in launches
        if not launch.node_level and launch.event_duration_ns is not None
    ), "recording node times makes launches slower: those do not count"
    assert graph_side.gpu_median_ns == statistics.median(
        launch.gpu_end_ns - launch.gpu_start_ns for launch in launches if launch.node_level
    )
    assert stream_side.event_median_ns is None


def test_copies_are_longer_than_launches_and_say_nothing_of_their_length(tmp_path: Path) -> None:
    nodes = in_a_row(*(Planned(f"k{i}", 0, 5_000) for i in range(3)))
    plan = Plan(nodes, chain_edges(3), eager_iterations=3, launch={"node_method": "events"})
    with Recording(plan.write(tmp_path / "x.gviz")) as recording:
        summary = summarize(recording)
        # Too few plain launches for a median: those of the copies are none, either.
        assert launch_times(recording, 1).is_between_events
    graph_side, stream_side = _graph(summary).launches
    assert graph_side.gpu_median_ns is None
    assert stream_side.gpu_median_ns == 17_000
    text = render_text(info_document(summary), 10_000)
    assert "A launch of graph 1 takes 22.8 µs" in text
    assert "at most 17.0 µs (recorded, median of 2, all alike), at most 0.746×" in text
    assert text.count("first to last node") == 1, "of the eager iterations"


def test_shares_of_all_nodes_sum_to_one_and_fall(small: RecordingSummary) -> None:
    nodes = _graph(small).slowest_nodes
    assert len(nodes) == sum(work.timed for work in fork_join_shape().works)
    assert sum(node.share_fraction for node in nodes) == pytest.approx(1.0)
    shares = [node.share_fraction for node in nodes]
    assert shares == sorted(shares, reverse=True)
    kernels = [node for node in nodes if node.type == "KERNEL"]
    assert all(node.kernel and node.kernel.startswith(node.name) for node in kernels)


def test_slowest_limits_the_list(small_recording: Path) -> None:
    with Recording(small_recording) as recording:
        assert len(_graph(summarize(recording, slowest=3)).slowest_nodes) == 3
        assert _graph(summarize(recording, slowest=0)).slowest_nodes == ()


def test_loop_bodies_belong_to_their_top_graph(tmp_path: Path) -> None:
    with Recording(write_loop_recording(tmp_path / "loop.gviz", iterations=5)) as recording:
        summary = summarize(recording)
    graph = _graph(summary)
    assert (graph.node_count, graph.edge_count, graph.body_count) == (5, 3, 1)
    first = graph.slowest_nodes[0]
    assert (first.graph_id, first.node_id, first.exec_node_id) == (2, 2001, 3001)
    assert first.count == 5
    text = render_text(info_document(summary), 100)
    assert " 2/2001  KERNEL" in text
    assert " 1001  KERNEL" in text
    assert first.share_fraction == pytest.approx(5 * 5_000 / (5 * 6_800 + 3_000 + 2_500))


def test_events_are_named_by_the_nodes_that_use_them(tmp_path: Path) -> None:
    kinds = [NodeType.EVENT_RECORD, NodeType.WAIT_EVENT, *[NodeType.EVENT_RECORD] * 6]
    nodes = [Planned(kind.name, kind=kind) for kind in (*kinds, NodeType.HOST)]
    more = partial(_write_parameters, events=["0x7f01", "0x7f01", *["0x7f02"] * 6])
    with Recording(Plan(nodes, more=more).write(tmp_path / "x.gviz")) as recording:
        summary = summarize(recording)
    text = render_text(info_document(summary), 10_000)
    assert "A CUDA event, recorded by node 0, waited for by node 1." in text
    assert (
        "A CUDA event, recorded by nodes 2, 3, 4, 5 and 2 more, waited for by none of its nodes: "
        "if anything waits for it, it is outside of this graph." in text
    )
    assert "Node 8: symbol callback, library libx.so." in text
    assert "0x7f" not in text, "an address of a process that has ended"
    first, second = _graph(summary).events
    assert (first.recorded_by, first.waited_for_by) == (((1, 0),), ((1, 1),))
    assert len(second.recorded_by) == 6


def _write_parameters(writer: RecordingWriter, events: list[str]) -> None:
    host = {"function": "0x7f03", "symbol": "callback", "library": "libx.so", "user data": "0x7f04"}
    found = [(node, "event", value) for node, value in enumerate(events)]
    found += [(len(events), name, value) for name, value in host.items()]
    writer.insert(
        *(
            rows.NodeParameter(graph_id=1, node_id=node, position=at, name=name, value=value)
            for at, (node, name, value) in enumerate(found)
        )
    )


def test_recording_without_graphs_says_so(tmp_path: Path) -> None:
    path = tmp_path / "empty.gviz"
    with RecordingWriter(path) as writer:
        writer.insert(rows.Run(run_id=1, name="nothing", state="aborted", source="run"))
    with Recording(path) as recording:
        summary = summarize(recording)
    (run,) = summary.runs
    assert run.graphs == ()
    assert run.duration_ns is None
    assert run.stream_operations is None
    assert "There is no graph in what was recorded" in render_text(info_document(summary), 80)


def test_unknown_edges_are_none_and_reported(tmp_path: Path) -> None:
    path = tmp_path / "late.gviz"
    with RecordingWriter(path) as writer:
        writer.insert(
            rows.Run(run_id=1, name="late", state="completed", source="profile"),
            rows.Graph(graph_id=1, run_id=1, name="late", origin="late"),
            rows.Node(graph_id=1, node_id=1, exec_node_id=1, type=99, name="strange"),
        )
    with Recording(path) as recording:
        summary = summarize(recording)
    assert _graph(summary).edge_count is None
    assert _graph(summary).node_kinds == {"type 99": 1}
    assert "edges not recorded" in render_text(info_document(summary), 80)


def test_json_has_the_summary_in_plain_types(small: RecordingSummary) -> None:
    (run,) = json.loads(json.dumps(to_json(small)))["runs"]
    assert run["run"]["run_id"] == 1
    assert run["graphs"][0]["node_kinds"] == _graph(small).node_kinds
    assert len(run["graphs"][0]["slowest_nodes"]) == len(_graph(small).slowest_nodes)


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_text_fits_the_width(small: RecordingSummary, width: int) -> None:
    # The file's path stands whole on the first line: it is there to be copied.
    lines = render_text(info_document(small), width).splitlines()[1:]
    assert max(len(line) for line in lines) <= width
    assert all(line == line.rstrip() for line in lines)


def test_text_names_what_people_look_for(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "t.gviz", transformer_shape(layers=2), launches=3)
    with Recording(path) as recording:
        text = render_text(info_document(summarize(recording), counters=True), 100)
    for wanted in (
        "NVIDIA H100",
        "gemv_bf16_lm_head",
        "Graph launches: 6 recorded, 3 with node times",
        "Eager iterations of the same work",
        "records_dropped ",
        "Synthetic times",
    ):
        assert wanted in text
