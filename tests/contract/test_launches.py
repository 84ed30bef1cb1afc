"""Recorded launches of known programs, which are left alone.

The same class runs on the fake driver everywhere and on a real GPU with ``-m gpu``.
"""

from __future__ import annotations

from itertools import pairwise

import pytest
from contract.backend import Backend
from contract.recorded import (
    RUN,
    STREAM,
    Record,
    launch_ids,
    shape_of,
    span_counts,
    top_graphs,
)


class TestLaunches:
    """Launches, windows, eager work, lives, and the program's own results."""

    def test_launches_are_counted_and_in_order(self, record: Record, backend: Backend) -> None:
        recording = record("queued")
        facts = backend.run("queued").facts
        (graph,) = top_graphs(recording)
        (execution,) = recording.fetch_graph_execs(graph.graph_id)
        launches = recording.fetch_launches(graph.graph_id)
        assert execution.launch_count == len(launches) == facts["launches"]
        assert [launch.ordinal for launch in launches] == list(range(facts["launches"]))
        for launch in launches:
            assert launch.host_start_ns is not None
            assert launch.host_end_ns is not None
            assert launch.gpu_start_ns is not None
            assert facts["started_ns"] < launch.host_start_ns <= launch.host_end_ns
            assert launch.host_start_ns < launch.gpu_start_ns
        for first, second in pairwise(launches):
            assert first.host_end_ns is not None
            assert second.host_start_ns is not None
            assert first.host_end_ns <= second.host_start_ns
            assert (first.gpu_end_ns or 0) <= (second.gpu_start_ns or 0)

    def test_event_time_of_a_launch_covers_its_spans(self, record: Record) -> None:
        recording = record("repeated")
        (graph,) = top_graphs(recording)
        timed = [
            x for x in recording.fetch_launches(graph.graph_id) if x.event_duration_ns is not None
        ]
        assert timed
        resolution_ns = 1000  # cuEventElapsedTime resolves about half a microsecond
        for launch in timed:
            if launch.gpu_start_ns is not None and launch.gpu_end_ns is not None:
                spanned = launch.gpu_end_ns - launch.gpu_start_ns
                assert launch.event_duration_ns is not None
                assert launch.event_duration_ns + resolution_ns >= spanned

    @pytest.mark.parametrize(
        ("policy", "expected"),
        [
            (3, [0, 1, 2]),
            ("every:4", [0, 4, 8]),
            ("all", list(range(10))),
            (0, []),
            ("every:1h", [0]),
        ],
    )
    def test_node_times_follow_the_policy(
        self, record: Record, policy: int | str, expected: list[int]
    ) -> None:
        recording = record("repeated", node_launches=policy, eager_operations=0)
        (graph,) = top_graphs(recording)
        launches = recording.fetch_launches(graph.graph_id)
        assert len(launches) == 10
        assert [x.ordinal for x in launches if x.span_count] == expected
        assert {x.span_count for x in launches if x.span_count} <= {4}

    def test_spans_lie_in_windows(self, record: Record) -> None:
        recording = record("repeated", node_launches="every:4", eager_operations=0)
        (graph,) = top_graphs(recording)
        windows = recording.fetch_windows(RUN)
        assert windows
        for launch in recording.fetch_launches(graph.graph_id):
            # A window opens and closes in the entry of a launch call: its exit is what counts.
            assert launch.host_end_ns is not None
            inside = [w for w in windows if w.start_ns <= launch.host_end_ns <= (w.end_ns or 0)]
            assert bool(inside) == bool(launch.span_count)

    def test_threads_keep_their_graphs_apart(self, record: Record, backend: Backend) -> None:
        recording = record("threads")
        facts = backend.run("threads").facts
        graphs = top_graphs(recording)
        assert len(graphs) == facts["threads"]
        sizes = []
        for graph in graphs:
            nodes = recording.fetch_nodes(graph.graph_id)
            sizes.append(len(nodes))
            assert [n.grid_x for n in nodes] == [len(nodes)] * len(nodes)
            launches = recording.fetch_launches(graph.graph_id)
            assert len(launches) == facts["launches"]
            (thread_id,) = {launch.thread_id for launch in launches}
            assert thread_id == graph.capture_thread_id
            assert set(span_counts(recording, graph).values()) == {1}
            assert len(recording.fetch_graph_spans(graph.graph_id)) == len(nodes) * len(launches)
        assert sorted(sizes) == [1, 2, 3, 4]

    # -- lives -----------------------------------------------------------------------------

    def test_late_graph_is_known_from_its_records(self, record: Record, backend: Backend) -> None:
        recording = record("late")
        facts = backend.run("late").facts
        (graph,) = top_graphs(recording)
        assert graph.origin == "late"
        assert graph.topology_id is None
        nodes = recording.fetch_nodes(graph.graph_id)
        assert [n.grid_x for n in nodes] == [i + 1 for i in range(facts["nodes"])]
        ids = launch_ids(recording, graph)
        assert len(ids) == facts["launches"]
        assert span_counts(recording, graph) == {
            (i, graph.graph_id, n): 1 for i in ids for n in range(facts["nodes"])
        }
        assert any("before gviz attached" in note.text for note in recording.fetch_notes(RUN))

    def test_second_profile_starts_afresh(self, record: Record, backend: Backend) -> None:
        recording = record("twice", writer=True, overwrite=True)
        facts = backend.run("twice", writer=True, overwrite=True).facts
        graphs = {g.origin: g for g in top_graphs(recording)}
        assert set(graphs) == {"late", "explicit"}
        assert len(launch_ids(recording, graphs["late"])) == facts["late_launches"]
        assert len(launch_ids(recording, graphs["explicit"])) == facts["launches"]

    def test_forked_child_leaves_the_recording_alone(
        self, record: Record, backend: Backend
    ) -> None:
        recording = record("forking", writer=True)
        facts = backend.run("forking", writer=True).facts
        (graph,) = top_graphs(recording)
        ids = launch_ids(recording, graph)
        assert len(ids) == facts["launches"]
        assert span_counts(recording, graph) == {
            (i, graph.graph_id, n): 1 for i in ids for n in range(facts["nodes"])
        }

    def test_attached_before_the_driver_starts_sees_the_same(self, backend: Backend) -> None:
        outcome = backend.run("captured", "gviz_first")
        assert outcome.returncode == 0, outcome.stderr
        with outcome.recording() as recording:
            (graph,) = top_graphs(recording)
            assert graph.origin == "capture"
            assert len(recording.fetch_nodes(graph.graph_id)) == 5
            assert len(launch_ids(recording, graph)) == outcome.facts["launches"]
            assert set(span_counts(recording, graph).values()) == {1}
            assert len(recording.fetch_devices(RUN)) == 1

    def test_life_of_an_executable_is_reported_in_order(self, record: Record) -> None:
        recording = record("captured")
        (graph,) = top_graphs(recording)
        (execution,) = recording.fetch_graph_execs(graph.graph_id)
        calls = recording.fetch_api_calls(RUN)
        names = [c.name for c in calls]
        kept = [n for n in names if n.startswith(("cuStreamBegin", "cuStreamEnd", "cuGraph"))]
        assert kept[:3] == [
            "cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuGraphInstantiateWithFlags",
        ]  # fmt: skip
        assert "cuGraphExecDestroy" in kept
        assert all(c.start_ns <= c.end_ns for c in calls)
        assert execution.instantiate_start_ns is not None
        assert execution.instantiate_end_ns is not None
        assert execution.destroyed_ns is not None
        assert (
            execution.instantiate_start_ns < execution.instantiate_end_ns < execution.destroyed_ns
        )

    def test_updates_are_reported_with_their_results(self, record: Record) -> None:
        recording = record("updated")
        found = [
            c.result
            for c in recording.fetch_api_calls(RUN)
            if c.name.startswith("cuGraphExecUpdate")
        ]
        assert found == [0, 910]

    def test_device_is_described(self, record: Record) -> None:
        (device,) = record("captured").fetch_devices(RUN)
        assert device.device_id == 0
        assert device.name
        assert (device.memory_bytes or 0) > 1 << 30
        assert (device.multiprocessor_count or 0) > 0
        assert device.pci_bus_id is not None

    def test_run_says_how_it_was_measured(self, record: Record) -> None:
        (run,) = record("captured").fetch_runs()
        assert run.state == "completed"
        assert run.collector == "cupti"
        assert run.driver_version is not None

    # -- the program is left alone ---------------------------------------------------------

    @pytest.mark.quick
    @pytest.mark.parametrize("program", ["captured", "warm_up", "failed_capture"])
    def test_results_are_those_without_gviz(self, backend: Backend, program: str) -> None:
        recorded, plain = backend.run(program), backend.run(program, "none")
        assert recorded.returncode == plain.returncode == 0
        assert recorded.facts["result"] == plain.facts["result"] == [0.0, 6.0, 12.0, 18.0]
        assert recorded.stderr == plain.stderr

    def test_exception_of_the_program_comes_out_and_the_recording_stays(
        self, backend: Backend
    ) -> None:
        outcome = backend.run("raising", writer=True)
        assert outcome.returncode == 1
        assert "LookupError: raised by the program" in outcome.stderr
        with outcome.recording() as recording:
            (graph,) = top_graphs(recording)
            assert len(launch_ids(recording, graph)) == 2


class TestEager:
    """Work outside graphs: with its calls, and matched to the nodes of graphs."""

    def test_eager_operations_are_recorded_with_their_calls(
        self, record: Record, backend: Backend
    ) -> None:
        recording = record("warm_up")
        facts = backend.run("warm_up").facts
        operations = recording.fetch_run_stream_operations(RUN)
        names = ["MEMSET", "axpy", "axpy", "MEMCPY DtoH"]
        assert [o.name for o in operations] == names * facts["iterations"]
        for operation in operations:
            assert operation.host_start_ns is not None
            assert operation.host_end_ns is not None
            assert operation.host_start_ns <= operation.host_end_ns
            assert operation.host_start_ns <= operation.start_ns
        assert len({o.stream_id for o in operations}) == 1
        assert {tuple(shape_of(o)[0]) for o in operations if o.type == 0} == {(8, 1, 1)}
        assert {o.bytes for o in operations if o.type != 0} == {facts["bytes"]}

    def test_eager_operations_are_matched_to_the_nodes(
        self, record: Record, backend: Backend
    ) -> None:
        recording = record("warm_up")
        facts = backend.run("warm_up").facts
        (graph,) = top_graphs(recording)
        launches = recording.fetch_launches(graph.graph_id, STREAM)
        assert len(launches) == facts["iterations"]
        for launch in launches:
            operations = recording.fetch_stream_operations(launch.launch_id)
            assert [o.node_id for o in operations] == [0, 1, 2, 3]

    def test_graph_launches_are_no_eager_operations(self, record: Record) -> None:
        recording = record("captured")
        assert recording.fetch_run_stream_operations(RUN) == []
