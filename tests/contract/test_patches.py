"""The patches of PyTorch and CuPy, on stand-ins for both: tests/gpu has the real ones."""

from __future__ import annotations

import pytest
from contract.backend import Backend
from contract.recorded import RUN, TURN, Record, methods, top_graphs

from gviz.recording.reader import Recording


def reasons(recording: Recording) -> dict[str, str]:
    """Return why the nodes of a graph are not timed, by its name."""
    notes = [n.text for n in recording.fetch_notes(RUN)]
    found = (text.partition(": its nodes are not timed: ") for text in notes)
    return {name: why for name, separator, why in found if separator}


@pytest.fixture
def torch_recording(fake: Backend) -> Recording:
    outcome = fake.run("torch_graphs", measured_by="events")
    assert outcome.returncode == 0, outcome.stderr
    return outcome.recording()


@pytest.mark.parametrize("program", ["torch_graphs", "torch_late", "cupy_graphs"])
@pytest.mark.parametrize("measured_by", ["events", "topology", "cupti"])
def test_program_does_what_it_does_without_gviz(
    fake: Backend, program: str, measured_by: str
) -> None:
    plain, recorded = fake.run(program, "none"), fake.run(program, measured_by=measured_by)
    assert plain.returncode == recorded.returncode == 0, recorded.stderr
    for key in plain.facts.keys() - {"started_ns", "ended_ns"}:
        assert recorded.facts[key] == plain.facts[key], key
    assert recorded.stderr == ""


def test_torch_launches_are_counted_and_timed(torch_recording: Recording) -> None:
    with torch_recording as recording:
        graphs = top_graphs(recording)
        timed = [methods(recording, graph).count("events") for graph in graphs]
        launches = [len(recording.fetch_launches(graph.graph_id)) for graph in graphs]
        # plain, random, kept, lazy, given; kept again as another executable
        assert launches == [10, 10, 10, 10, 10, 10]
        assert timed == [7, 0, 7, 7, 0, 7]
        for graph in graphs:
            (node,) = recording.fetch_nodes(graph.graph_id)
            assert node.name == "axpy"
            assert graph.origin == ("body" if graph.parent_graph_id else graph.origin)


def test_torch_graphs_that_may_not_be_copied_say_why(torch_recording: Recording) -> None:
    with torch_recording as recording:
        assert reasons(recording) == {
            "graph 2": "it uses random numbers, which only PyTorch's own replay advances",
            "graph 5": "the program has its raw_cuda_graph_exec(), with which it can be updated",
        }


def test_torch_lives_are_reported(torch_recording: Recording) -> None:
    with torch_recording as recording:
        names = [c.name for c in recording.fetch_api_calls(RUN)]
        assert names.count("cuStreamBeginCapture (torch.cuda.CUDAGraph.capture_begin)") == 5
        assert names.count("cuStreamEndCapture (torch.cuda.CUDAGraph.capture_end)") == 5
        assert names.count("cuGraphInstantiate (torch.cuda.CUDAGraph.instantiate)") == 2
        assert names.count("cuGraphExecDestroy (torch.cuda.CUDAGraph.reset)") == 1
        graph = top_graphs(recording)[0]
        assert graph.origin == "capture"
        assert graph.capture_mode == 0
        assert graph.capture_start_ns is not None
        assert graph.capture_end_ns is not None
        assert graph.capture_start_ns < graph.capture_end_ns


def test_torch_is_patched_only_while_recording(fake: Backend) -> None:
    assert fake.run("torch_graphs", measured_by="events").facts["wrapped"] == []


def test_torch_graph_of_before_is_timed_as_a_whole(fake: Backend) -> None:
    outcome = fake.run("torch_late", measured_by="events")
    with outcome.recording() as recording:
        (graph,) = top_graphs(recording)
        assert graph.origin == "late"
        launches = recording.fetch_launches(graph.graph_id)
        assert len(launches) == 5
        assert all(x.event_duration_ns is not None for x in launches)
        assert methods(recording, graph) == [None] * 5


def test_cupy_graphs_are_timed_unless_the_handle_is_out(fake: Backend) -> None:
    outcome = fake.run("cupy_graphs", measured_by="events")
    assert outcome.facts["is_graph"]
    with outcome.recording() as recording:
        first, second = top_graphs(recording)
        assert methods(recording, first) == [None, *TURN, *TURN, "events"]
        assert methods(recording, second) == [None] * 10
        why = "the program has its handle, with which it can be updated"
        assert reasons(recording) == {"graph 2": why}
        names = [c.name for c in recording.fetch_api_calls(RUN)]
        assert names.count("cuStreamEndCapture (cupy.cuda.Stream.end_capture)") == 2
        assert names.count("cuGraphUpload (cupy.cuda.Graph.upload)") == 1


def test_auto_falls_back_to_events(fake: Backend) -> None:
    outcome = fake.run("torch_graphs", environment={"FAKE_CUPTI_TAKEN": "1"})
    assert outcome.returncode == 0, outcome.stderr
    with outcome.recording() as recording:
        (run,) = recording.fetch_runs()
        assert run.collector == "events"
        assert "MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED" in (run.collector_reason or "")
        assert [methods(recording, g).count("events") for g in top_graphs(recording)] == [
            7, 0, 7, 7, 0, 7,
        ]  # fmt: skip


def test_watched_graphs_look_alike(record: Record) -> None:
    # Both backends: the same tables, whatever measured.
    for collector in ("events", "cupti"):
        recording = record("watched", measured_by=collector)
        (graph,) = top_graphs(recording)
        timed = [m for m in methods(recording, graph) if m is not None]
        assert set(timed) == {collector}
        assert len(timed) >= 20
