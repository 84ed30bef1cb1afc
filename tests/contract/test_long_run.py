"""Long runs: what is kept of them, what events cost, and what recording node by node costs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from contract.backend import Backend
from contract.recorded import RUN, top_graphs

from gviz.recording.reader import Recording

Record = Callable[..., Recording]


def measured(recording: Recording) -> dict[str, float | None]:
    return {m.name: m.value for m in recording.fetch_measurements(RUN)}


class TestLongRun:
    def test_every_launch_is_reported(self, record: Record, backend: Backend) -> None:
        recording = record("many")
        facts = backend.run("many").facts
        (graph,) = top_graphs(recording)
        launches = recording.fetch_launch_arrays(graph.graph_id)
        assert len(launches) == facts["launches"]
        assert (launches.host_duration_ns > 0).all()
        assert (np.diff(launches.host_start_ns) > 0).all()
        assert launches.ordinal.tolist() == list(range(facts["launches"]))
        (execution,) = recording.fetch_graph_execs(graph.graph_id)
        assert execution.launch_count == facts["launches"]
        kept = recording.fetch_launches(graph.graph_id)
        assert [x.ordinal for x in kept] == launches.ordinal.tolist()

    def test_nodes_beyond_the_rows_are_counted(self, record: Record, backend: Backend) -> None:
        recording = record("many", node_launches="all")
        facts = backend.run("many", node_launches="all").facts
        (graph,) = top_graphs(recording)
        (node,) = recording.fetch_statistics(graph.graph_id)
        _, with_node_times = recording.count_launches(graph.graph_id)
        spans = len(recording.fetch_graph_spans(graph.graph_id))
        assert spans == 200
        assert node.count == with_node_times
        assert facts["launches"] - 5 <= with_node_times <= facts["launches"]
        assert node.streamed_count == with_node_times - spans
        assert node.quantile_error_fraction == 0.01
        assert node.min_ns <= node.p5_ns <= node.median_ns <= node.p95_ns <= node.max_ns
        assert len(recording.fetch_launch_durations(graph.graph_id, "graph", "gpu")) == node.count

    def test_events_on_short_launches_cost_less_than_a_hundredth(self, record: Record) -> None:
        recording = record("many")
        found = measured(recording)
        assert found["launch_event_share_limit"] == 0.003
        assert 0 < (found["launch_event_share"] or 0) < 0.01
        timed, thinned = found["launches_timed_by_events"], found["launches_thinned"]
        assert timed is not None
        assert timed > 5
        assert timed + (thinned or 0) == 5_000
        (graph,) = top_graphs(recording)
        events = recording.fetch_launch_durations(graph.graph_id, "graph", "event")
        assert len(events) == timed
        rule = next(
            m for m in recording.fetch_measurements(RUN) if m.name == "launch_event_share_limit"
        )
        assert rule.method.startswith("rule:")

    def test_a_few_launches_are_left_plain_when_all_are_requested(self, record: Record) -> None:
        recording = record("dozens", node_launches="all", eager_operations=0)
        (graph,) = top_graphs(recording)
        launches = recording.fetch_launch_arrays(graph.graph_id)
        plain = np.flatnonzero(launches.node_level == 0)
        assert plain.tolist() == [50, 51, 52, 53, 54]
        assert (launches.event_duration_ns[plain] > 0).all()
        without, with_ = recording.fetch_launch_costs(graph.graph_id)
        assert (without.node_level, with_.node_level) == (0, 1)
        assert without.count == without.host_count == 5
        assert with_.host_count == 74  # of 75, the first uploads
        assert with_.count >= 4
        for cost in (without, with_):
            assert (cost.gpu_median_ns or 0) > 0
            assert (cost.host_median_ns or 0) > 0
            assert cost.method.startswith("measured")

    def test_recorded_launches_far_apart_are_timed_as_a_whole_too(self, record: Record) -> None:
        recording = record("thinned", node_launches="every:100", eager_operations=0)
        (graph,) = top_graphs(recording)
        launches = recording.fetch_launch_arrays(graph.graph_id)
        timed = np.flatnonzero(launches.event_duration_ns > 0)
        # Launch 5: nothing forbade events before the first that could go without.
        assert set(timed.tolist()) - {5} == {0, 1, 2, 3, 4, 100, 200, 300, 400}
        _, with_ = recording.fetch_launch_costs(graph.graph_id)
        assert with_.count >= 4
        assert (with_.gpu_median_ns or 0) > 0

    def test_a_cost_that_could_not_be_measured_says_why(self, record: Record) -> None:
        recording = record("repeated", node_launches="all")
        (graph,) = top_graphs(recording)
        without, with_ = recording.fetch_launch_costs(graph.graph_id)
        assert without.gpu_median_ns is without.host_median_ns is None
        assert "has none without node level" in without.method
        assert with_.host_count == 9
        assert with_.count >= 4

    def test_texts_that_never_end_do_not_grow_for_ever(self, record: Record) -> None:
        recording = record("many_texts")
        paths = recording.fetch_nvtx_paths(RUN)
        assert 65_000 < len(paths) <= 65_536
        (graph,) = top_graphs(recording)
        beyond, known = recording.fetch_nodes(graph.graph_id)
        assert paths[beyond.nvtx_path_id or 0].text == "outer"
        assert paths[known.nvtx_path_id or 0].text == "step 0"
        ranges = recording.fetch_nvtx_ranges(RUN)
        assert {r.nvtx_path_id for r in ranges} <= set(paths)
        texts = [paths[r.nvtx_path_id].text for r in ranges]
        assert texts.count("step 0") == 2
        assert texts.count("outer") == 1
        notes = [note.text for note in recording.fetch_notes(RUN)]
        assert sum("different NVTX texts" in text for text in notes) == 1

    def test_ranges_that_never_end_are_counted(self, record: Record) -> None:
        recording = record("many_ranges")
        ranges = recording.fetch_nvtx_ranges(RUN)
        measured = {m.name: m.value for m in recording.fetch_measurements(RUN)}
        assert 100_000 <= len(ranges) <= 100_002
        assert len(ranges) + measured["nvtx_ranges_left_out"] == 100_208
        paths = recording.fetch_nvtx_paths(RUN)
        (graph,) = top_graphs(recording)
        found = [paths[node.nvtx_path_id or 0] for node in recording.fetch_nodes(graph.graph_id)]
        assert [path.text for path in found] == ["inner"] * 4
        outer = [paths[path.parent_id or 0].text for path in found]
        assert outer == ["odd", "even", "odd", "even"]
