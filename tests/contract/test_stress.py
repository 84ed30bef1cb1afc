"""A strained process under gviz: nothing hangs, nothing crashes, every record is accounted for.

The same class runs on the fake driver everywhere and on a real GPU with ``-m gpu``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from contract.backend import Backend, Outcome
from contract.recorded import RUN, edges, launch_ids, span_counts, top_graphs

from gviz.recording import rows
from gviz.recording.reader import Recording


def stress(backend: Backend, program: str, collector: str = "gviz") -> Outcome:
    """Run a program, recording every launch node by node; it must end well and say nothing."""
    outcome = backend.run(
        program, collector, script="stress_programs.py", writer=True, node_launches="all",
        eager_operations=0,
    )  # fmt: skip
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stderr == ""
    return outcome


def assert_whole(recording: Recording, graph: rows.Graph, nodes: int, launches: int) -> None:
    """Every launch of a graph is there, with every node once."""
    total, recorded = recording.count_launches(graph.graph_id)
    assert total == launches
    # The 51st to 55th launch of an executable is left plain, to know what node level costs.
    assert total - recorded <= 5 * len(recording.fetch_graph_execs(graph.graph_id))
    node_ids = [n.node_id for n in recording.fetch_nodes(graph.graph_id)]
    assert len(node_ids) == nodes
    assert set(span_counts(recording, graph).values()) == ({1} if node_ids else set())
    counts = {s.node_id: s.count for s in recording.fetch_statistics(graph.graph_id)}
    # Among 50,000 nodes one may seem to start too early, which leaves its launch out: counted.
    left_out = (
        int(measured(recording, "launches_with_impossible_times") or 0) if nodes > 10_000 else 0
    )
    assert left_out < recorded
    assert counts == dict.fromkeys(node_ids, recorded - left_out)


def measured(recording: Recording, name: str) -> float | None:
    """Return a measurement of the run, None where it has none of that name."""
    return {m.name: m.value for m in recording.fetch_measurements(RUN)}.get(name)


class TestStress:
    """Threads, signals, forks, and the end of the interpreter."""

    def test_one_executable_in_two_streams(self, backend: Backend) -> None:
        outcome = stress(backend, "two_streams")
        with outcome.recording() as recording:
            (graph,) = top_graphs(recording)
            assert_whole(recording, graph, outcome.facts["nodes"], outcome.facts["launches"])
            launches = recording.fetch_launches(graph.graph_id)
            streams = [launch.stream_id for launch in launches]
            assert len(set(streams)) == 2
            assert streams[::2] == [streams[0]] * 10

    def test_one_graph_launched_by_two_threads(self, backend: Backend) -> None:
        outcome = stress(backend, "two_threads")
        with outcome.recording() as recording:
            graphs = top_graphs(recording)
            assert len(graphs) == 2
            for graph in graphs:
                assert_whole(recording, graph, outcome.facts["nodes"], outcome.facts["launches"])
                launches = recording.fetch_launches(graph.graph_id)
                assert len({launch.thread_id for launch in launches}) == 2
            assert len(recording.fetch_graph_execs(graphs[1].graph_id)) == 2

    def test_threads_that_capture_and_threads_that_launch(self, backend: Backend) -> None:
        outcome = stress(backend, "captures_and_launches")
        facts = outcome.facts
        with outcome.recording() as recording:
            graphs = top_graphs(recording)
            captured = [g for g in graphs if g.origin == "capture"]
            built = [g for g in graphs if g.origin == "explicit"]
            assert (len(captured), len(built)) == (facts["captured"], facts["built"])
            for graph in captured:
                assert_whole(recording, graph, facts["captured_nodes"], 1)
            for graph in built:
                assert_whole(recording, graph, 4, facts["launches"])
            assert measured(recording, "activity_records_dropped") == 0
            assert measured(recording, "records_without_launch") in (None, 0)

    def test_threads_without_python(self, backend: Backend) -> None:
        outcome = stress(backend, "foreign_threads")
        facts = outcome.facts
        with outcome.recording() as recording:
            graphs = top_graphs(recording)
            assert len(graphs) == facts["graphs"]
            for graph in graphs:
                assert_whole(recording, graph, facts["nodes"], facts["launches"])
                nodes = recording.fetch_nodes(graph.graph_id)
                assert {n.stack_id for n in nodes} == {None}
                assert all("without Python frames" in (n.stack_reason or "") for n in nodes)

    def test_busy_gil(self, backend: Backend) -> None:
        outcome = stress(backend, "gil_stress")
        facts = outcome.facts
        with outcome.recording() as recording:
            graphs = top_graphs(recording)
            assert len(graphs) == facts["graphs"]
            for graph in graphs:
                assert_whole(recording, graph, facts["nodes"], facts["launches"])
                nodes = recording.fetch_nodes(graph.graph_id)
                assert all(node.stack_id is not None for node in nodes)

    def test_what_handlers_raise_comes_out_each_time(self, backend: Backend) -> None:
        outcome = stress(backend, "raising_handlers")
        facts = outcome.facts
        assert facts["raised"] > 50
        assert facts["caught"] == facts["raised"]
        with outcome.recording() as recording:
            graphs = top_graphs(recording)
            assert [len(recording.fetch_nodes(g.graph_id)) for g in graphs] == [4, 3]
            # A handler may run after a launch and before the program counts it.
            extra = recording.count_launches(graphs[0].graph_id)[0] - facts["launches"]
            assert 0 <= extra <= facts["raised"]
            assert_whole(recording, graphs[0], 4, facts["launches"] + extra)
            assert_whole(recording, graphs[1], 3, 3)

    def test_interrupts_come_out_each_time(self, backend: Backend) -> None:
        outcome = stress(backend, "interrupted")
        assert outcome.facts["caught"] == ["KeyboardInterrupt", "SystemExit"] * 5
        with outcome.recording() as recording:
            (run,) = recording.fetch_runs()
            assert run.state == "completed"
            (graph,) = top_graphs(recording)
            assert_whole(recording, graph, 4, recording.count_launches(graph.graph_id)[0])

    def test_forks_leave_the_recording_alone(self, backend: Backend) -> None:
        outcome = stress(backend, "forks")
        facts = outcome.facts
        assert facts["codes"] == [7] * 21
        with outcome.recording() as recording:
            (run,) = recording.fetch_runs()
            assert run.state == "completed"
            graphs = top_graphs(recording)
            shapes = [len(recording.fetch_nodes(g.graph_id)) for g in graphs]
            assert sorted(shapes) == [2, *[3] * facts["captured"], 4]
            assert_whole(recording, graphs[0], 2, 3)
            (launched,) = [g for g in graphs if g.origin == "explicit"]
            assert_whole(recording, launched, 4, facts["launches"])

    def test_program_that_ends_with_daemon_threads_at_work(self, backend: Backend) -> None:
        outcome = stress(backend, "ending")
        with outcome.recording() as recording:
            (run,) = recording.fetch_runs()
            assert run.state == "completed"
            graphs = top_graphs(recording)
            assert len(graphs) == 4
            for graph in graphs:
                ids = launch_ids(recording, graph)
                assert len(ids) > 3
                # Launches left plain, and the last ones after the end of the recording, have no
                # times; none has a part of them.
                counts = span_counts(recording, graph)
                whole = [sum(counts[i, graph.graph_id, n] for n in range(4)) for i in ids]
                assert set(whole) <= {0, 4}
                assert whole[:3] == [4, 4, 4]

    def test_graph_of_50000_nodes(self, backend: Backend, gviz: Callable[..., Any]) -> None:
        outcome, plain = stress(backend, "large"), stress(backend, "large", "none")
        tenth, plain_tenth = stress(backend, "tenth"), stress(backend, "tenth", "none")
        facts = outcome.facts
        with outcome.recording() as recording:
            (graph,) = top_graphs(recording)
            assert_whole(recording, graph, facts["nodes"], facts["launches"])
            assert len(edges(recording, graph)) == facts["nodes"] - 1
        # Ten times the nodes take about ten times as long: nothing grows with their square.
        assert facts["writer_s"] < 25 * max(tenth.facts["writer_s"], 0.3)
        cost_s = facts["own_s"] - plain.facts["own_s"]
        cost_of_tenth_s = tenth.facts["own_s"] - plain_tenth.facts["own_s"]
        assert cost_s < 25 * max(cost_of_tenth_s, 0.1)
        assert facts["peak_bytes"] - plain.facts["peak_bytes"] < 64 << 20
        info = gviz("info", outcome.output)
        assert info.returncode == 0, info.stderr
        assert "50,000" in info.stdout

    @pytest.mark.parametrize("program", ["raising_handlers", "forks", "gil_stress"])
    def test_program_ends_well_without_gviz_too(self, backend: Backend, program: str) -> None:
        outcome = stress(backend, program, "none")
        assert outcome.facts.get("raised") == outcome.facts.get("caught")


def test_forked_child_finds_the_locks_free(fake: Backend) -> None:
    outcome = stress(fake, "forked_profile")
    assert outcome.facts["codes"] == [0] * 30
