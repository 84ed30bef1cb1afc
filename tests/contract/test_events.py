"""The events collector: node times without CUPTI, and programs left as they are.

Durations of spin kernels are compared with what they were asked to spin; on a GPU a kernel takes
about a microsecond longer than that, which every test allows for.
"""

from __future__ import annotations

import numpy as np
import pytest
from contract.backend import Backend
from contract.recorded import RUN, Record, methods, top_graphs
from contract.watched import LAUNCHES

from gviz.cuda.node_type import NodeType
from gviz.recording import rows
from gviz.recording.reader import Recording

#: Beside what a spin kernel was asked for: launch, drain and clock on a GPU; on the fake driver
#: the difference between its shortest operations and an H100's.
SLACK_NS = 2_500

PROGRAMS = (
    "watched",
    "watched_queued",
    "watched_alternating",
    "watched_changing",
    "watched_children",
    "watched_in_capture",
    "watched_threads",
    "watched_hand_over",
)


def durations_us(recording: Recording, node: rows.Node, graph_id: int) -> list[float]:
    """Return a node's durations."""
    found = recording.fetch_node_durations(graph_id, (node.graph_id, node.node_id))
    return [d / 1e3 for d in found.tolist()]


def copies(recording: Recording, graph: rows.Graph) -> list[rows.Launch]:
    """Return the launches that a copy made."""
    launches = recording.fetch_launches(graph.graph_id)
    return [launch for launch in launches if launch.node_method == "events"]


class TestEvents:
    """Watched graphs under ``collector="events"``."""

    @pytest.mark.parametrize("program", PROGRAMS)
    @pytest.mark.parametrize("measured_by", ["events", "topology", "cupti"])
    def test_program_does_what_it_does_without_gviz(
        self, backend: Backend, program: str, measured_by: str
    ) -> None:
        plain = backend.run(program, "none")
        recorded = backend.run(program, measured_by=measured_by)
        assert recorded.returncode == plain.returncode == 0, recorded.stderr
        ours = {"started_ns", "ended_ns"}
        assert {k: v for k, v in recorded.facts.items() if k not in ours} == {
            k: v for k, v in plain.facts.items() if k not in ours
        }
        assert recorded.stderr == plain.stderr

    def test_no_launch_is_added_or_lost(self, record: Record) -> None:
        for program in ("watched", "watched_queued", "watched_alternating"):
            recording = record(program, measured_by="events")
            (graph,) = top_graphs(recording)
            launches = recording.fetch_launches(graph.graph_id)
            assert len(launches) in (24, LAUNCHES)
            assert [x.ordinal for x in launches] == list(range(len(launches)))

    def test_run_says_what_measured(self, record: Record) -> None:
        (run,) = record("watched", measured_by="events").fetch_runs()
        assert (run.collector, run.collector_reason) == ("events", "requested")
        (run,) = record("watched", measured_by="topology").fetch_runs()
        assert (run.collector, run.collector_reason) == ("topology", "requested")
        (run,) = record("watched").fetch_runs()
        assert run.collector == "cupti"

    def test_nodes_and_edges_are_those_that_cupti_sees(self, record: Record) -> None:
        seen = []
        for collector in ("events", "topology", "cupti"):
            recording = record("watched", measured_by=collector)
            (graph,) = top_graphs(recording)
            nodes = recording.fetch_nodes(graph.graph_id)
            assert graph.topology_id is not None
            topology = recording.fetch_topology(graph.topology_id)
            seen.append((topology.hash, [(n.type, n.name, n.grid_x, n.bytes) for n in nodes]))
            (graph_exec,) = recording.fetch_graph_execs(graph.graph_id)
            assert graph_exec.launch_count == LAUNCHES
        assert seen[0] == seen[1] == seen[2]

    def test_every_launch_after_the_first_is_timed_when_waited_for(self, record: Record) -> None:
        recording = record("watched", measured_by="events", node_launches="all")
        (graph,) = top_graphs(recording)
        launches = recording.fetch_launches(graph.graph_id)
        # On a busy GPU the calibration may come a launch later.
        first = next(i for i, x in enumerate(launches) if x.node_method)
        assert first in (1, 2)
        assert [x.node_method for x in launches] == [None] * first + ["events"] * (LAUNCHES - first)
        assert [x.node_level for x in launches] == [0] * first + [1] * (LAUNCHES - first)

    def test_plain_launches_come_between_the_first_copies(self, record: Record) -> None:
        # A short program has both: copies, and launches that these are held against.
        recording = record("watched", measured_by="events")
        (graph,) = top_graphs(recording)
        found = methods(recording, graph)
        first = found.index("events")
        assert first in (1, 2)
        for at in range(first, 20):
            plain = (at - first) % 4 == 3
            assert (found[at] is None) == plain, found
        assert found.count("events") == 20

    def test_policy_is_followed(self, record: Record) -> None:
        recording = record("watched", measured_by="events", node_launches="every:8")
        (graph,) = top_graphs(recording)
        timed = [x.ordinal for x in copies(recording, graph)]
        assert timed == [1, 8, 16, 24]
        recording = record("watched", measured_by="events", node_launches=0)
        (graph,) = top_graphs(recording)
        assert copies(recording, graph) == []

    def test_durations_are_those_of_the_work(self, record: Record) -> None:
        recording = record("watched", measured_by="events")
        (graph,) = top_graphs(recording)
        nodes = recording.fetch_nodes(graph.graph_id)
        spins = {2: 20.0, 3: 50.0}
        for node in nodes:
            if node.name == "spin":
                assert node.grid_x is not None
                typical = float(np.median(durations_us(recording, node, graph.graph_id)))
                requested = spins[node.grid_x]
                assert requested - SLACK_NS / 1e3 < typical < requested + SLACK_NS / 1e3
            elif node.type == NodeType.EMPTY:
                assert node.not_timed_reason == "events do not time EMPTY nodes"
            else:
                # Typically: a time slice of another process may lie between two events.
                durations = durations_us(recording, node, graph.graph_id)
                assert min(durations) >= 0, durations
                assert float(np.median(durations)) < 10, durations

    def test_slopes_are_exact(self, record: Record) -> None:
        recording = record("watched", measured_by="events")
        (graph,) = top_graphs(recording)
        typical = {
            node.grid_x: float(np.median(durations_us(recording, node, graph.graph_id)))
            for node in recording.fetch_nodes(graph.graph_id)
            if node.name == "spin"
        }
        assert typical[3] - typical[2] == pytest.approx(30.0, abs=1.0)

    def test_times_of_a_launch_fit_together(self, record: Record) -> None:
        recording = record("watched", measured_by="events")
        (graph,) = top_graphs(recording)
        assert graph.topology_id is not None
        edges = recording.fetch_edges(graph.topology_id)
        for launch in copies(recording, graph):
            assert launch.host_start_ns is not None
            assert launch.gpu_start_ns is not None
            assert launch.gpu_end_ns is not None
            assert launch.event_duration_ns is not None
            assert launch.host_start_ns <= launch.gpu_start_ns < launch.gpu_end_ns
            assert launch.gpu_end_ns - launch.gpu_start_ns <= launch.event_duration_ns
            spans = recording.fetch_spans(launch.launch_id)
            assert launch.span_count == len(spans) == 5
            assert spans.start_ns.min() == 0
            end = dict(
                zip(
                    spans.node_id.tolist(),
                    (spans.start_ns + spans.duration_ns).tolist(),
                    strict=True,
                )
            )
            start = dict(zip(spans.node_id.tolist(), spans.start_ns.tolist(), strict=True))
            for a, b in zip(edges.from_node.tolist(), edges.to_node.tolist(), strict=True):
                if a in end and b in start:
                    assert end[a] <= start[b]

    def test_branches_overlap(self, record: Record) -> None:
        recording = record("watched", measured_by="events")
        (graph,) = top_graphs(recording)
        launch = copies(recording, graph)[-1]
        spans = recording.fetch_spans(launch.launch_id)
        left, right = (int(np.flatnonzero(spans.node_id == n)[0]) for n in (2, 3))
        assert spans.start_ns[right] < spans.start_ns[left] + spans.duration_ns[left]
        assert spans.start_ns[left] < spans.start_ns[right] + spans.duration_ns[right]

    def test_calibration_is_stored(self, record: Record) -> None:
        recording = record("watched", measured_by="events")
        found = {m.name: m for m in recording.fetch_measurements(RUN)}
        for kind in ("kernel", "memset", "memcpy"):
            bias = found[f"event_bias_{kind}_device_0_ns"]
            assert bias.value is not None
            assert -500 < bias.value < 6_000
            assert bias.method.startswith("measured: median of 192 readings")
            early = found[f"event_early_bias_{kind}_device_0_ns"]
            assert early.value is not None
            assert -500 < early.value < 6_000
        assert found["launches_by_copy"].value == 20
        assert found["copy_times_lost"].value == 0
        assert (found["events_calibration_ns"].value or 0) < 200e6

    def test_statistics_are_over_the_copies(self, record: Record) -> None:
        recording = record("watched", measured_by="events")
        (graph,) = top_graphs(recording)
        statistics = recording.fetch_statistics(graph.graph_id)
        assert len(statistics) == 5
        assert {s.count for s in statistics} == {20}

    def test_launches_in_flight_are_left_to_the_original(self, record: Record) -> None:
        # An event keeps its last time only: no copy before the last one was read.
        recording = record("watched_queued", measured_by="events")
        (graph,) = top_graphs(recording)
        launches = recording.fetch_launches(graph.graph_id)
        timed = [x for x in launches if x.node_method == "events"]
        assert 1 <= len(timed) < len(launches) - 1
        for launch in timed:
            assert launch.span_count == 5

    def test_topology_takes_no_node_times(self, record: Record) -> None:
        recording = record("watched", measured_by="topology")
        (graph,) = top_graphs(recording)
        assert len(recording.fetch_graph_spans(graph.graph_id)) == 0
        reasons = {n.not_timed_reason for n in recording.fetch_nodes(graph.graph_id)}
        assert "the topology collector takes no node times" in reasons
        assert None not in reasons
        launches = recording.fetch_launches(graph.graph_id)
        assert any(x.event_duration_ns is not None for x in launches)

    # -- what may not be copied ----------------------------------------------------------------

    def test_graph_that_may_change_is_not_copied(self, record: Record) -> None:
        recording = record("watched_changing", measured_by="events")
        (graph,) = top_graphs(recording)
        assert copies(recording, graph) == []
        assert len(recording.fetch_launches(graph.graph_id)) == 6
        notes = [n.text for n in recording.fetch_notes(RUN)]
        assert any("unchanged=True" in text and "graph 1" in text for text in notes)

    def test_graphs_that_the_driver_does_not_clone_say_so(self, record: Record) -> None:
        recording = record("watched_refused", measured_by="events")
        notes = [n.text for n in recording.fetch_notes(RUN)]
        assert any("allocates or frees memory" in text for text in notes)
        assert any("conditional" in text for text in notes)
        for graph in top_graphs(recording):
            assert len(recording.fetch_launches(graph.graph_id)) == 4
            assert copies(recording, graph) == []
            for node in recording.fetch_nodes(graph.graph_id):
                assert node.not_timed_reason is not None

    def test_events_stay_off_programmatic_edges(self, fake: Backend) -> None:
        # On a GPU such an edge needs a kernel that waits for it.
        outcome = fake.run("watched_programmatic", measured_by="events")
        assert outcome.returncode == 0, outcome.stderr
        with outcome.recording() as recording:
            (graph,) = top_graphs(recording)
            reasons = [n.not_timed_reason for n in recording.fetch_nodes(graph.graph_id)]
            why = "events around it would break its programmatic edge"
            assert reasons == [None, why, why, None]
            for launch in copies(recording, graph):
                assert recording.fetch_spans(launch.launch_id).node_id.tolist() == [0, 3]
            assert len(copies(recording, graph)) == 4  # of 6: see the turns of plain launches

    def test_recording_goes_on_without_cupti(self, fake: Backend) -> None:
        environment = {"FAKE_CUPTI_TAKEN": "1"}
        outcome = fake.run("watched_switch", environment=environment, measured_by="cupti")
        assert outcome.returncode == 0, outcome.stderr
        assert outcome.facts["result"] == fake.run("watched_switch", "none").facts["result"]
        with outcome.recording() as recording:
            (run,) = recording.fetch_runs()
            assert (run.collector, run.collector_reason) == ("events", "CUPTI was left")
            assert run.state == "completed"
            (graph,) = top_graphs(recording)
            assert len(recording.fetch_launches(graph.graph_id)) == outcome.facts["launches"]
            assert methods(recording, graph) == [None, "events", "events", "events", None]

    def test_threads_keep_their_launches_apart(self, record: Record) -> None:
        recording = record("watched_threads", measured_by="events")
        counts = sorted(recording.count_launches(g.graph_id)[0] for g in top_graphs(recording))
        assert counts == [20, 20, 20, 20, 40]

    def test_launches_wait_for_a_graph_that_is_being_handed_over(self, record: Record) -> None:
        recording = record("watched_hand_over", measured_by="events")
        (graph,) = top_graphs(recording)
        assert recording.count_launches(graph.graph_id)[0] == 6

    # -- shapes ----------------------------------------------------------------------------------

    def test_nodes_of_child_graphs_are_timed(self, record: Record, backend: Backend) -> None:
        recording = record("watched_children", measured_by="events")
        facts = backend.run("watched_children", measured_by="events").facts
        (graph,) = top_graphs(recording)
        (body,) = [g for g in recording.fetch_graphs() if g.parent_graph_id == graph.graph_id]
        found = {}
        for level in (graph, body):
            for node in recording.fetch_nodes(level.graph_id):
                if node.name == "spin":
                    typical = float(np.median(durations_us(recording, node, graph.graph_id)))
                    found[str(node.grid_x)] = typical
        assert set(found) == set(facts["spins"])
        for grid, requested in facts["spins"].items():
            assert found[grid] == pytest.approx(requested, abs=SLACK_NS / 1e3)
        for launch in copies(recording, graph):
            assert launch.span_count == 4

    def test_large_graphs_are_timed_slice_by_slice(self, record: Record, backend: Backend) -> None:
        recording = record("watched_slices", measured_by="events", node_launches="all")
        facts = backend.run("watched_slices", measured_by="events", node_launches="all").facts
        (graph,) = top_graphs(recording)
        timed = copies(recording, graph)
        nodes = [recording.fetch_spans(x.launch_id).node_id.tolist() for x in timed]
        cycle = [[0, 1, 2], [3, 4, 5], [6, 7]]
        assert nodes == [cycle[i % 3] for i in range(LAUNCHES - 1)]
        for node, requested in zip(
            recording.fetch_nodes(graph.graph_id), facts["spins"], strict=True
        ):
            typical = float(np.median(durations_us(recording, node, graph.graph_id)))
            assert typical == pytest.approx(requested, abs=SLACK_NS / 1e3)
        for launch in timed:  # a slice's place is the whole launch's
            assert (launch.gpu_end_ns or 0) - (launch.gpu_start_ns or 0) == launch.event_duration_ns

    def test_each_node_of_slices_is_timed_as_often_as_requested(self, record: Record) -> None:
        recording = record("watched_slices", measured_by="events", node_launches=4)
        (graph,) = top_graphs(recording)
        assert [s.count for s in recording.fetch_statistics(graph.graph_id)] == [4] * 8

    def test_nothing_of_ours_slips_into_a_capture(self, record: Record, backend: Backend) -> None:
        facts = backend.run("watched_in_capture", measured_by="events").facts
        assert facts["refused"]
        recording = record("watched_in_capture", measured_by="events")
        (graph,) = top_graphs(recording)
        assert len(recording.fetch_launches(graph.graph_id)) == facts["launches"]
