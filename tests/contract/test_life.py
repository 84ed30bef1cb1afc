"""A graph's life as gviz records it: captures that break, updates, instantiations, destruction.

The same class runs on the fake driver everywhere and on a real GPU with ``-m gpu``.
"""

from __future__ import annotations

import pytest
from contract.backend import Backend
from contract.recorded import RUN, Record, bodies, launch_ids, span_counts, top_graphs

from gviz.recording.reader import Recording
from gviz.recording.rows.life import CaptureFailure, GraphUpdate

#: Which function of life_programs.py makes the call that breaks the capture, by case.
CULPRITS = {
    "legacy default stream": ("legacy", 906, "cuLaunchKernel"),
    "synchronising call": ("wait", 900, "cuStreamSynchronize"),
    "synchronising call, relaxed": ("wait_for_all", 900, "cuCtxSynchronize"),
    "unsafe call": ("allocate", 900, "cuMemAlloc_v2"),
    "cross-thread call in global mode": ("allocate_elsewhere", 900, "cuMemAlloc_v2"),
    "uncaptured dependency": ("depend", 905, "cuStreamWaitEvent"),
    "captured event queried": ("query", 907, "cuEventQuery"),
    "graph launched into a capture": ("launch_graph", 900, "cuGraphLaunch"),
    "unjoined stream": ("attempt", 904, "cuStreamEndCapture"),
    "ended on another thread": ("end_elsewhere", 908, "cuStreamEndCapture"),
    "merged captures": ("merge", 902, "cuStreamWaitEvent"),
}


def failures(recording: Recording, codes: dict[str, list[int]]) -> dict[str, CaptureFailure]:
    """Return the failures of program ``breaking`` by its cases; the second merged one is last."""
    found = recording.fetch_capture_failures(RUN)
    assert len(found) == len(codes) + 1
    return dict(zip([*codes, "the other merged capture"], found, strict=True))


class TestCaptures:
    """Captures that gave no graph."""

    def test_breaking_is_not_changed_by_watching(self, record: Record, backend: Backend) -> None:
        record("breaking")
        codes = backend.run("breaking").facts["codes"]
        assert codes == backend.run("breaking", "none").facts["codes"]
        assert all(
            end != 0 for case, (_, end) in codes.items() if case != "ended on another thread"
        )

    @pytest.mark.parametrize("case", CULPRITS)
    def test_rule_and_culprit(self, record: Record, backend: Backend, case: str) -> None:
        recording = record("breaking")
        codes = backend.run("breaking").facts["codes"]
        failure = failures(recording, codes)[case]
        _function, result, call = CULPRITS[case]
        assert failure.rule == case.partition(",")[0]
        assert failure.error_result == result
        assert (failure.error_call or "").startswith(call)
        assert failure.fix
        assert failure.explanation.startswith(("cu", "Work"))
        called, ended = codes[case]
        if ended != 401:  # ended already, on the other thread
            assert failure.result == ended
        assert called in (0, failure.error_result)

    @pytest.mark.parametrize("case", CULPRITS)
    def test_python_line_of_the_culprit(self, record: Record, backend: Backend, case: str) -> None:
        recording = record("breaking")
        failure = failures(recording, backend.run("breaking").facts["codes"])[case]
        assert failure.stack_id is not None, failure.stack_reason
        frames = recording.fetch_stack(failure.stack_id)
        mine = [f for f in frames if f.file.endswith("life_programs.py")]
        assert any(CULPRITS[case][0] in f.function for f in mine), [f.function for f in frames]
        assert all(f.line > 0 for f in mine)

    @pytest.mark.parametrize("case", CULPRITS)
    def test_nodes_captured_so_far_are_kept(
        self, record: Record, backend: Backend, case: str
    ) -> None:
        recording = record("breaking")
        codes = backend.run("breaking").facts["codes"]
        failure = failures(recording, codes)[case]
        assert failure.graph_id is not None
        graph = recording.fetch_graph(failure.graph_id)
        nodes = recording.fetch_nodes(graph.graph_id)
        assert graph.origin == "failed capture"
        assert graph.capture_stream_id == failure.stream_id
        assert len(nodes) == (2 if case == "unjoined stream" else 1)
        assert nodes[0].capture_stream_id == failure.stream_id
        assert all(n.created_ns is not None and n.stack_id is not None for n in nodes)
        assert recording.fetch_graph_execs(graph.graph_id) == []
        if case not in ("unjoined stream", "ended on another thread"):  # broken before the end
            assert nodes[0].name == "spin"
            assert nodes[0].grid_x == list(codes).index(case) + 1
            assert graph.topology_id is not None

    def test_both_merged_captures_failed(self, record: Record, backend: Backend) -> None:
        recording = record("breaking")
        found = failures(recording, backend.run("breaking").facts["codes"])
        first, second = found["merged captures"], found["the other merged capture"]
        assert first.rule == second.rule == "merged captures"
        assert first.stream_id != second.stream_id
        assert first.error_ns is not None

    def test_cross_thread_call_names_its_thread(self, record: Record, backend: Backend) -> None:
        recording = record("breaking")
        found = failures(recording, backend.run("breaking").facts["codes"])
        failure = found["cross-thread call in global mode"]
        assert failure.mode == 0
        assert failure.error_thread_id != failure.thread_id
        assert found["unsafe call"].error_thread_id == found["unsafe call"].thread_id

    def test_capture_after_broken_ones_is_recorded(self, record: Record, backend: Backend) -> None:
        recording = record("breaking")
        graph = top_graphs(recording)[-1]
        assert graph.origin == "capture"
        launches = backend.run("breaking").facts["launches"]
        ids = launch_ids(recording, graph)
        assert len(ids) == launches
        # Watching every call meanwhile must not cost the node times afterwards.
        assert span_counts(recording, graph) == {(i, graph.graph_id, 0): 1 for i in ids}

    def test_call_is_not_blamed_for_another_threads_capture(
        self, record: Record, backend: Backend
    ) -> None:
        recording = record("innocent")
        codes = backend.run("innocent").facts["codes"]
        assert codes == {"allocate": 900, "end": 901, "bystander": 0}
        (failure,) = recording.fetch_capture_failures(RUN)
        assert failure.rule == "unsafe call"
        assert failure.error_thread_id == failure.thread_id

    def test_capture_open_at_the_end_of_the_profile_goes_on(
        self, record: Record, backend: Backend
    ) -> None:
        recording = record("left_open")
        assert backend.run("left_open").facts["nodes"] == 2
        (failure,) = recording.fetch_capture_failures(RUN)
        assert failure.rule == "never ended"
        assert failure.end_ns is None

    def test_runtime_function_is_named(self, record: Record, backend: Backend) -> None:
        recording = record("through_runtime")
        codes = backend.run("through_runtime").facts["codes"]
        if codes is None:
            pytest.skip("libcudart.so.13 cannot be loaded")
        assert codes[:2] == [0, 900]
        (failure,) = recording.fetch_capture_failures(RUN)
        assert failure.error_api == "cudaMalloc"
        assert failure.error_call == "cuMemAlloc_v2"
        assert failure.explanation.startswith("cudaMalloc ")

    def test_capture_knows_its_stream(self, record: Record) -> None:
        recording = record("captured")
        (graph,) = top_graphs(recording)
        nodes = recording.fetch_nodes(graph.graph_id)
        assert {n.capture_stream_id for n in nodes} == {graph.capture_stream_id}


def by_kind(updates: list[GraphUpdate], kind: str) -> list[GraphUpdate]:
    """Return the updates of one kind."""
    return [u for u in updates if u.kind == kind]


class TestUpdates:
    """Updates of executables."""

    def test_thousands_of_updates_are_a_few_rows(self, record: Record, backend: Backend) -> None:
        recording = record("many_updates")
        facts = backend.run("many_updates").facts
        updates = recording.fetch_graph_updates(RUN)
        assert len(updates) <= 6
        kernel, memset = by_kind(updates, "node")
        assert (kernel.node_id, kernel.count, kernel.result) == (0, facts["updates"], 0)
        assert kernel.call == "cuGraphExecKernelNodeSetParams_v2"
        assert kernel.first_ns < kernel.last_ns
        # The last may have waited for a core.
        assert 0 < kernel.total_ns < facts["ended_ns"] - kernel.first_ns
        assert (memset.node_id, memset.count) == (4, 3)
        assert not [c for c in recording.fetch_api_calls(RUN) if "SetParams" in c.name]
        (graph,) = top_graphs(recording)
        (graph_exec,) = recording.fetch_graph_execs(graph.graph_id)
        assert {u.graph_exec_id for u in updates} == {graph_exec.graph_exec_id}
        assert graph_exec.launch_count == facts["launches"]

    def test_nodes_switched_on_and_off(self, record: Record, backend: Backend) -> None:
        updates = record("many_updates").fetch_graph_updates(RUN)
        (off,) = by_kind(updates, "disable")
        on, refused = sorted(by_kind(updates, "enable"), key=lambda u: u.result)
        assert (off.node_id, off.count, off.result) == (1, 2, 0)
        assert (on.node_id, on.count, on.result) == (1, 2, 0)
        assert (refused.count, refused.result) == (
            1,
            backend.run("many_updates").facts["refused"],
        )
        assert refused.result != 0

    def test_refused_updates_say_what_differed(self, record: Record, backend: Backend) -> None:
        recording = record("refused_updates")
        facts = backend.run("refused_updates").facts
        updates = recording.fetch_graph_updates(RUN)
        good, *bad = updates
        assert (good.kind, good.count, good.result) == ("graph", facts["accepted"], 0)
        fewer, kind, edges, memory = bad
        assert [u.result for u in bad] == [910] * 4
        assert [u.count for u in bad] == [len(r) for r in facts["results"].values()]
        assert [u.detail for u in bad] == [r[0] for r in facts["results"].values()]
        assert fewer.difference == (
            "the new graph has 1 node, the executable 4; KERNEL spin removed 3 times "
            "(TOPOLOGY_CHANGED)"
        )
        assert kind.failing_node_id == 3
        assert "node 3: type changed from KERNEL spin to MEMSET" in (kind.difference or "")
        assert edges.detail_name == "TOPOLOGY_CHANGED"
        assert "edge 0 to 2 added" in (edges.difference or "")
        assert "node 1: memory types changed from host to device to device to device" in (
            memory.difference or ""
        )

    def test_whole_updates_stand_among_the_calls(self, record: Record) -> None:
        calls = record("refused_updates").fetch_api_calls(RUN)
        results = [c.result for c in calls if c.name.startswith("cuGraphExecUpdate")]
        assert results == [0, 0, 0, 910, 910, 910, 910, 910, 910]


class TestInstantiation:
    """Executables: made again, refused, destroyed."""

    def test_instantiation_that_an_update_would_have_replaced(
        self, record: Record, backend: Backend
    ) -> None:
        recording = record("instantiated_again")
        execs = [e for g in top_graphs(recording) for e in recording.fetch_graph_execs(g.graph_id)]
        ids = [e.graph_exec_id for e in execs]
        assert len(execs) == 6
        again = backend.run("instantiated_again").facts["again"]
        assert [e.could_update_graph_exec_id for e in execs] == [None, *ids[:again], None, None]

    def test_refused_instantiations_say_why(self, record: Record) -> None:
        recording = record("refused")
        body, twice = recording.fetch_instantiate_failures(RUN)
        assert body.result != 0
        assert "conditional" in body.explanation or "not supported" in body.explanation
        assert body.graph_id is not None
        graph = recording.fetch_graph(body.graph_id)
        assert graph.origin == "failed instantiation"
        assert recording.fetch_nodes(graph.graph_id)[0].name == "CONDITIONAL IF"
        assert "one executable at a time" in twice.explanation
        assert twice.graph_id is not None
        assert recording.fetch_graph(twice.graph_id).origin == "explicit"

    def test_destroyed_graphs_and_executables_have_their_times(
        self, record: Record, backend: Backend
    ) -> None:
        recording = record("destroyed")
        facts = backend.run("destroyed").facts
        graphs = top_graphs(recording)
        assert len(graphs) == facts["graphs"]
        for graph in graphs:
            (graph_exec,) = recording.fetch_graph_execs(graph.graph_id)
            assert graph.destroyed_ns is not None
            assert graph_exec.destroyed_ns is not None
            assert graph_exec.instantiate_end_ns is not None
            assert graph_exec.instantiate_end_ns < graph.destroyed_ns < graph_exec.destroyed_ns
            assert graph_exec.instantiate_thread_id is not None
            assert len(launch_ids(recording, graph)) == facts["launches"]
        names = [c.name for c in recording.fetch_api_calls(RUN)]
        assert names.count("cuGraphClone") == facts["graphs"]
        assert names.count("cuGraphDestroy") == 2 * facts["graphs"]

    def test_memory_is_an_estimate_of_the_first_executables(self, record: Record) -> None:
        recording = record("shapes")
        execs = [e for g in top_graphs(recording) for e in recording.fetch_graph_execs(g.graph_id)]
        assert any(e.device_memory_bytes is not None for e in execs)
        assert all((e.device_memory_bytes or 0) >= 0 for e in execs)

    def test_failed_graphs_have_no_bodies_out_of_nothing(self, record: Record) -> None:
        recording = record("breaking")
        for graph in recording.fetch_graphs(RUN):
            if graph.origin == "failed capture":
                assert bodies(recording, graph) == []


def test_program_in_a_broken_capture_still_gets_the_drivers_codes(fake: Backend) -> None:
    outcome = fake.run("breaking")
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stderr == ""
