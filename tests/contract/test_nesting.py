"""Nodes inside nodes: how the driver numbers them, and what gviz makes of it.

The same classes run on the fake driver everywhere and on a real GPU with ``-m gpu``.
"""

from __future__ import annotations

import zlib
from collections import Counter

import numpy as np
import pytest
from contract.backend import Backend
from contract.conditional import find_cudadevrt
from contract.recorded import (
    RUN,
    Record,
    bodies,
    edges,
    launch_ids,
    span_counts,
    top_graphs,
)

from gviz.cuda.node_type import NodeType
from gviz.formats.dot.importer import find_parents
from gviz.formats.dot.parse import parse_dot
from gviz.recording import rows
from gviz.recording.reader import Recording

#: Number in the executable of the kernel of each grid, as measured on driver 580.
MIXED = {
    10: 0, 20: 2, 24: 6, 11: 8, 12: 9, 13: 10, 14: 11, 1: 14, 15: 15, 21: 17, 16: 18, 17: 19,
    18: 20, 19: 21, 22: 22, 23: 23, 25: 24,
}  # fmt: skip
DEEP = {1: 0, 2: 3, 11: 4, 14: 7, 15: 8, 12: 9, 13: 10}


@pytest.fixture
def linked(backend: Backend) -> None:
    """Skip where kernels that set conditional handles cannot be linked."""
    if backend.is_real and find_cudadevrt() is None:
        pytest.skip("libcudadevrt.a was not found")


def by_grid(recording: Recording, graph: rows.Graph) -> dict[int, rows.Node]:
    """Return the kernels of a graph and what is nested in it, by the x of their grids."""
    return {
        n.grid_x: n
        for level in (graph, *bodies(recording, graph))
        for n in recording.fetch_nodes(level.graph_id)
        if n.grid_x is not None
    }


def grids(recording: Recording, graph: rows.Graph) -> list[int | None]:
    """Return the grids of a level's kernels in order of node id; None: another kind of node."""
    return [n.grid_x for n in recording.fetch_nodes(graph.graph_id)]


def runs(recording: Recording, graph: rows.Graph) -> list[Counter[int]]:
    """Return how often the kernel of each grid ran, a counter a launch."""
    grid_of = {(n.graph_id, n.node_id): grid for grid, n in by_grid(recording, graph).items()}
    found = []
    for launch_id in launch_ids(recording, graph):
        spans = recording.fetch_spans(launch_id)
        keys = zip(spans.graph_id.tolist(), spans.node_id.tolist(), strict=True)
        found.append(Counter(grid_of[key] for key in keys if key in grid_of))
    return found


class TestNumbering:
    """The driver's own numbers, seen without gviz."""

    @pytest.mark.parametrize(("program", "numbers"), [("mixed", MIXED), ("deep", DEEP)])
    def test_nested_nodes_are_numbered_depth_first(
        self, backend: Backend, linked: None, program: str, numbers: dict[int, int]
    ) -> None:
        outcome = backend.run(program, "observer")
        assert outcome.returncode == 0, outcome.stderr
        kernels = [r for r in outcome.seen()["records"] if r["kind"] == 10]
        found = {(r["grid"][0], r["node_id"]) for r in kernels}
        assert found == set(numbers.items())

    def test_records_of_conditional_bodies_carry_no_launch(
        self, backend: Backend, linked: None
    ) -> None:
        outcome = backend.run("mixed", "observer")
        top = {10, 20, 24, 25}
        for record in outcome.seen()["records"]:
            if record["kind"] == 10:
                assert (record["correlation_id"] != 0) == (record["grid"][0] in top)

    def test_bodies_are_created_inside_the_call_in_order_of_branch(self, fake: Backend) -> None:
        outcome = fake.run("deep", "observer")
        assert outcome.returncode == 0, outcome.stderr
        events = [e for e in outcome.seen()["events"] if "resource" in e]
        names = [e["resource"] for e in events]
        at = next(
            i
            for i, e in enumerate(events)
            if e["resource"] == "GRAPHNODE_CREATED" and e["node_type"] == NodeType.CONDITIONAL
        )
        rest = [n for n in names[at + 1 :] if n != "GRAPHNODE_DEPENDENCY_CREATED"]
        assert rest[:2] == ["GRAPH_CREATED"] * 2


@pytest.mark.usefixtures("linked")
class TestBodies:
    """Bodies as graphs of their own."""

    def test_mixed_graph_has_its_levels(self, record: Record) -> None:
        recording = record("mixed")
        for graph in top_graphs(recording):
            assert grids(recording, graph) == [10, None, 20, None, None, None, 24, None]
            levels = [(g.name, g.branch, grids(recording, g)) for g in bodies(recording, graph)]
            assert sorted(levels, key=str) == [
                ("body of node 1", None, [15, None, 21]),  # the child graph in the loop
                ("body of node 1", None, [16]),  # and the one in that
                ("body of node 4", 0, [14, None, None, 1]),
                ("body of node 7", None, [25]),
                ("case 0 of node 5", 0, [18]),
                ("case 1 of node 5", 1, [19]),
                ("case 2 of node 5", 2, [22, 23]),
                ("else of node 1", 1, [13]),
                ("then of node 1", 0, [11, 12]),
                ("then of node 2", 0, [17]),
            ]
            types = [n.conditional_type for n in recording.fetch_nodes(graph.graph_id)]
            assert types == [None, "if", None, None, "while", "switch", None, None]

    def test_mixed_graph_is_numbered_as_measured(self, record: Record) -> None:
        recording = record("mixed")
        for graph in top_graphs(recording):
            found = {g: n.exec_node_id for g, n in by_grid(recording, graph).items()}
            assert found == MIXED

    def test_mixed_graph_runs_its_taken_branches(self, record: Record, backend: Backend) -> None:
        recording = record("mixed")
        facts = backend.run("mixed").facts
        in_loop = dict.fromkeys((14, 15, 16, 21, 17, 1), facts["iterations"])
        for graph, taken in zip(top_graphs(recording), facts["taken"], strict=True):
            expected = Counter(in_loop | dict.fromkeys((10, 20, 24, 25, *taken), 1))
            assert runs(recording, graph) == [expected] * facts["launches"]
        measured = {m.name for m in recording.fetch_measurements(RUN)}
        assert measured.isdisjoint({"nodes_mismatched", "body_spans_ambiguous"})

    def test_bodies_inside_a_branch_come_after_all_branches(self, record: Record) -> None:
        recording = record("deep")
        for graph, taken in zip(top_graphs(recording), ((11, 12, 13, 14), (15,)), strict=True):
            found = {g: n.exec_node_id for g, n in by_grid(recording, graph).items()}
            assert found == DEEP
            assert runs(recording, graph) == [Counter((1, 2, *taken))] * 2

    def test_edges_of_bodies_are_known(self, record: Record) -> None:
        recording = record("mixed")
        graph = top_graphs(recording)[0]
        levels = {g.name: g for g in bodies(recording, graph)}
        assert edges(recording, levels["body of node 4"]) == {(0, 1), (1, 2), (2, 3)}
        assert edges(recording, levels["then of node 1"]) == {(0, 1)}

    def test_dot_of_the_driver_agrees_with_the_bodies(self, record: Record) -> None:
        for program in ("mixed", "deep"):
            recording = record(program)
            for graph in top_graphs(recording):
                assert graph.dot is not None
                clusters = parse_dot(zlib.decompress(graph.dot).decode())
                parents = find_parents(clusters)
                cuda_id = {g.graph_id: g.cuda_graph_id for g in (graph, *bodies(recording, graph))}
                reported = {
                    number: (p.graph_number, p.node_id, p.branch) for number, p in parents.items()
                }
                recorded = {
                    g.cuda_graph_id: (cuda_id[g.parent_graph_id or 0], g.parent_node_id, g.branch)
                    for g in bodies(recording, graph)
                }
                assert recorded == reported
                sizes = {c.number: [n.node_id for n in c.nodes] for c in clusters}
                for level in (graph, *bodies(recording, graph)):
                    nodes = recording.fetch_nodes(level.graph_id)
                    assert [n.node_id for n in nodes] == sizes[level.cuda_graph_id or 0]

    def test_loop_has_a_span_an_iteration(self, record: Record, backend: Backend) -> None:
        recording = record("loop")
        facts = backend.run("loop").facts
        (graph,) = top_graphs(recording)
        body = by_grid(recording, graph)[10]
        ids = launch_ids(recording, graph)
        assert len(ids) == facts["launches"]
        for launch_id in ids:
            spans = recording.fetch_spans(launch_id)
            mine = (spans.graph_id == body.graph_id) & (spans.node_id == body.node_id)
            assert spans.iteration[mine].tolist() == list(range(facts["iterations"]))
            assert (np.diff(spans.start_ns[mine]) > 0).all()

    def test_iterations_of_a_loop_in_a_loop_count_on(
        self, record: Record, backend: Backend
    ) -> None:
        recording = record("loop_in_loop")
        facts = backend.run("loop_in_loop").facts
        (graph,) = top_graphs(recording)
        inner = by_grid(recording, graph)[30]
        for launch_id in launch_ids(recording, graph):
            spans = recording.fetch_spans(launch_id)
            mine = (spans.graph_id == inner.graph_id) & (spans.node_id == inner.node_id)
            assert spans.iteration[mine].tolist() == list(range(facts["iterations"]))
            assert (np.diff(spans.start_ns[mine]) > 0).all()

    @pytest.mark.parametrize(
        ("program", "taken"), [("branch_first", (10, 2)), ("branch_alone", (10, 11))]
    )
    def test_queued_launches_keep_their_bodies(
        self, record: Record, backend: Backend, program: str, taken: tuple[int, ...]
    ) -> None:
        recording = record(program)
        (graph,) = top_graphs(recording)
        assert runs(recording, graph) == [Counter(taken)] * backend.run(program).facts["launches"]
        assert {x.ambiguous_count for x in recording.fetch_launches(graph.graph_id)} == {0}

    @pytest.mark.parametrize("program", ["captured_body", "captured_conditional"])
    def test_captured_body_is_a_body(self, record: Record, backend: Backend, program: str) -> None:
        recording = record(program)
        (graph,) = top_graphs(recording)
        (body,) = bodies(recording, graph)
        assert grids(recording, body) == [10, 11]
        assert edges(recording, body) == {(0, 1)}
        launches = backend.run(program).facts["launches"]
        assert runs(recording, graph) == [Counter((1, 10, 11, 2))] * launches

    def test_bodies_of_a_node_added_before_are_known_from_records(
        self, record: Record, backend: Backend
    ) -> None:
        recording = record("body_before")
        (graph,) = top_graphs(recording)
        levels = {g.name: g for g in bodies(recording, graph)}
        assert set(levels) == {"body of node 2", "nodes of bodies"}
        # The child graph is numbered after the body, by as much as that has nodes.
        (child,) = recording.fetch_nodes(levels["body of node 2"].graph_id)
        assert (child.grid_x, child.exec_node_id) == (11, None)
        known = {n.grid_x for n in recording.fetch_nodes(levels["nodes of bodies"].graph_id)}
        assert known == {10, 11}
        assert any("added before gviz attached" in n.text for n in recording.fetch_notes(RUN))
        launches = backend.run("body_before").facts["launches"]
        assert [x.span_count for x in recording.fetch_launches(graph.graph_id)] == [3] * launches

    def test_destroyed_graphs_leave_no_bodies_behind(
        self, record: Record, backend: Backend
    ) -> None:
        recording = record("template_gone")
        found = top_graphs(recording)
        assert len(found) == backend.run("template_gone").facts["graphs"]
        for iteration, graph in enumerate(found):
            assert [grids(recording, g) for g in bodies(recording, graph)] == [[10], [11]]
            assert runs(recording, graph) == [Counter({10 + iteration % 2: 1})]


class TestEdges:
    """Programmatic edges."""

    def test_programmatic_edges_keep_type_and_ports(self, record: Record) -> None:
        recording = record("programmatic")
        found = []
        for graph in top_graphs(recording):
            assert graph.topology_id is not None
            table = recording.fetch_edges(graph.topology_id)
            columns = (table.from_node, table.to_node, table.type, table.from_port, table.to_port)
            found.append(sorted(zip(*(c.tolist() for c in columns), strict=True)))
        assert found == [[(0, 1, 1, 1, 0), (1, 2, 0, 0, 0)], [(0, 1, 1, 1, 0)]]
        for graph in top_graphs(recording):
            assert set(span_counts(recording, graph).values()) == {1}


class TestMemory:
    """Allocations of graphs."""

    def test_allocations_know_what_frees_them(self, record: Record, backend: Backend) -> None:
        recording = record("memory")
        own, given, left = backend.run("memory").facts["addresses"]
        inside, giver, taker, leaver = (g.graph_id for g in top_graphs(recording))
        found = [
            (a.graph_id, a.address, a.bytes, a.free_graph_id, a.free_node_id, a.freed)
            for a in recording.fetch_allocations(RUN)
        ]
        assert found == [
            (inside, own, 1 << 20, inside, 2, "in the same graph"),
            (giver, given, 2 << 20, taker, 0, "in another graph"),
            (leaver, left, 3 << 20, None, None, "by cuMemFreeAsync"),
        ]

    def test_graph_memory_is_sampled(self, record: Record) -> None:
        samples = record("memory").fetch_graph_memory(RUN)
        assert samples
        assert {s.device_id for s in samples} == {0}
        last = samples[-1]
        assert last.reserved_high_bytes >= last.reserved_bytes >= 0
        assert last.used_high_bytes >= 3 << 20
        assert last.reserved_high_bytes >= last.used_high_bytes
        assert all(s.used_bytes <= s.used_high_bytes for s in samples)

    def test_graphs_without_allocations_are_not_queried(self, record: Record) -> None:
        assert record("shapes").fetch_graph_memory(RUN) == []


class TestDevices:
    """A graph that spans two devices."""

    def test_nodes_keep_the_device_they_run_on(self, backend: Backend) -> None:
        outcome = backend.run("two_devices", environment={"FAKE_DEVICES": "2"})
        if backend.is_real and outcome.returncode != 0 and "returned 101" in outcome.stderr:
            pytest.skip("one GPU only")  # CUDA_ERROR_INVALID_DEVICE
        assert outcome.returncode == 0, outcome.stderr
        with outcome.recording() as recording:
            (graph,) = top_graphs(recording)
            nodes = recording.fetch_nodes(graph.graph_id)
            assert [n.device_id for n in nodes[:4]] == [0, 0, 1, 1]
            assert nodes[4].device_id in (0, 1)
            assert {d.device_id for d in recording.fetch_devices(RUN)} == {0, 1}
            ids = launch_ids(recording, graph)
            counts = span_counts(recording, graph)
            own = graph.graph_id
            assert {counts[i, own, n] for i in ids for n in range(4)} == {1}
            # CUPTI reports a copy between two GPUs once, or once for each of them (H200).
            assert all(counts[i, own, 4] in (1, 2) for i in ids)


class TestLaterCupti:
    """Records of a CUPTI newer than 13.0; only the fake can be one."""

    def test_host_nodes_have_times_from_cupti_13_1_on(self, fake: Backend) -> None:
        outcome = fake.run("captured", environment={"FAKE_CUPTI_VERSION": "130100"})
        assert outcome.returncode == 0, outcome.stderr
        with outcome.recording() as recording:
            (graph,) = top_graphs(recording)
            host = recording.fetch_nodes(graph.graph_id)[-1]
            assert host.type == NodeType.HOST
            assert (host.not_timed_reason, host.exec_node_id) == (None, host.node_id)
            ids = launch_ids(recording, graph)
            own = graph.graph_id
            assert span_counts(recording, graph) == {(i, own, n): 1 for i in ids for n in range(5)}

    def test_host_nodes_before_that_say_why_not(self, fake: Backend) -> None:
        with fake.run("captured").recording() as recording:
            (graph,) = top_graphs(recording)
            host = recording.fetch_nodes(graph.graph_id)[-1]
            assert host.not_timed_reason == "CUPTI reports host nodes only from version 13.1"
