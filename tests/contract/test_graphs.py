"""Recorded graphs of known programs: nothing missing, invented or moved.

The same class runs on the fake driver everywhere and on a real GPU with ``-m gpu``.
"""

from __future__ import annotations

import zlib
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from contract.backend import Backend
from contract.cases import GRAPH_SHAPES, NODE_KINDS
from contract.recorded import (
    RUN,
    Record,
    bodies,
    edges,
    launch_ids,
    shape_of,
    span_counts,
    top_graphs,
)

from gviz.dag.contradicted import TOLERANCE_NS
from gviz.formats.dot.model import UNKNOWN_TYPE
from gviz.formats.dot.parse import parse_dot

pytestmark = [pytest.mark.quick, pytest.mark.installed]


class TestGraphs:
    """Nodes, edges, parameters and spans."""

    # -- shapes ----------------------------------------------------------------------------

    def test_shapes_have_their_nodes_and_edges(self, record: Record) -> None:
        recording = record("shapes")
        graphs = top_graphs(recording)
        assert len(graphs) == len(GRAPH_SHAPES)
        for graph, shape in zip(graphs, GRAPH_SHAPES.values(), strict=True):
            nodes = recording.fetch_nodes(graph.graph_id)
            assert [n.node_id for n in nodes] == list(range(shape.node_count))
            assert [n.grid_x for n in nodes] == [i + 1 for i in range(shape.node_count)]
            assert {n.name for n in nodes} <= {"spin"}
            assert edges(recording, graph) == set(shape.edges)
            assert graph.origin == "explicit"

    def test_shapes_have_one_span_a_node_a_launch(self, record: Record, backend: Backend) -> None:
        recording = record("shapes")
        launches = backend.run("shapes").facts["launches"]
        for graph, shape in zip(top_graphs(recording), GRAPH_SHAPES.values(), strict=True):
            ids = launch_ids(recording, graph)
            assert len(ids) == launches
            own = graph.graph_id
            expected = {(i, own, n): 1 for i in ids for n in range(shape.node_count)}
            assert span_counts(recording, graph) == expected

    def test_spans_keep_dependencies_in_order(self, record: Record) -> None:
        recording = record("shapes")
        for graph, shape in zip(top_graphs(recording), GRAPH_SHAPES.values(), strict=True):
            for launch_id in launch_ids(recording, graph):
                spans = recording.fetch_spans(launch_id)
                start = dict(zip(spans.node_id.tolist(), spans.start_ns.tolist(), strict=True))
                length = dict(zip(spans.node_id.tolist(), spans.duration_ns.tolist(), strict=True))
                for a, b in shape.edges:
                    assert start[a] + length[a] <= start[b] + TOLERANCE_NS
                assert min(start.values(), default=0) == 0

    def test_equal_shapes_share_a_topology_and_others_do_not(self, record: Record) -> None:
        recording = record("shapes")
        found = [g.topology_id for g in top_graphs(recording)]
        assert len(set(found)) == len(GRAPH_SHAPES)
        updated = record("updated")
        assert len({g.topology_id for g in top_graphs(updated)}) == 1

    def test_dot_of_the_driver_agrees_with_the_nodes(self, record: Record) -> None:
        recording = record("shapes")
        for graph in top_graphs(recording):
            assert graph.dot is not None
            (level,) = parse_dot(zlib.decompress(graph.dot).decode())
            nodes = recording.fetch_nodes(graph.graph_id)
            assert [n.node_id for n in level.nodes] == [n.node_id for n in nodes]
            assert {(e.from_node, e.to_node) for e in level.edges} == edges(recording, graph)

    @pytest.mark.parametrize("program", ["captured", "kinds"])
    def test_dot_of_the_driver_agrees_about_copies_and_sets(
        self, record: Record, kinds: str, program: str
    ) -> None:
        recording = record(kinds if program == "kinds" else program)
        seen = 0
        for graph in top_graphs(recording):
            assert graph.dot is not None
            level, *_ = parse_dot(zlib.decompress(graph.dot).decode())
            for dot, node in zip(level.nodes, recording.fetch_nodes(graph.graph_id), strict=True):
                unknown = NODE_KINDS["unknown"].type
                assert dot.type == (UNKNOWN_TYPE if node.type == unknown else node.type)
                if dot.memcpy is not None:
                    copied = dot.memcpy
                    assert copied.bytes == node.bytes
                    assert copied.source_address == node.source_address
                    assert copied.destination_address == node.destination_address
                    seen += 1
                if dot.memset is not None:
                    assert (dot.memset.bytes, dot.memset.value) == (node.bytes, node.memset_value)
                    seen += 1
        assert seen == 2

    # -- kinds -----------------------------------------------------------------------------

    @pytest.fixture
    def kinds(self, backend: Backend) -> str:
        """The program of kinds that this driver can run."""
        return "real_kinds" if backend.is_real else "fake_kinds"

    @pytest.mark.parametrize("name", NODE_KINDS)
    def test_kind_has_its_number_and_parameters(
        self, record: Record, backend: Backend, kinds: str, name: str
    ) -> None:
        facts = backend.run(kinds).facts["kinds"]
        if backend.is_real and not NODE_KINDS[name].real:
            assert name not in facts
            return
        recording = record(kinds)
        graph = top_graphs(recording)[list(facts).index(name)]
        kind = NODE_KINDS[name]
        (node,) = [
            n
            for n in recording.fetch_nodes(graph.graph_id)
            if n.type == kind.type and n.node_id > 0
        ]
        expected: dict[str, Any] = dict(facts[name])
        if "grid" in expected:
            assert shape_of(node) == (expected.pop("grid"), expected.pop("block"))
        arguments = recording.fetch_arguments(graph.graph_id, node.node_id)
        assert [a.value.hex() for a in arguments] == expected.pop("arguments", [])
        reported = {
            p.name: p.value for p in recording.fetch_node_parameters(graph.graph_id, node.node_id)
        }
        wanted = expected.pop("parameters", {})
        assert {name: reported.get(name) for name in wanted} == wanted
        assert {key: getattr(node, key) for key in expected} == expected
        assert (node.not_timed_reason is None) == kind.timed
        assert (node.exec_node_id is not None) == kind.timed

    @pytest.mark.parametrize("name", NODE_KINDS)
    def test_kind_has_spans_only_if_it_is_timed(
        self, record: Record, backend: Backend, kinds: str, name: str
    ) -> None:
        outcome = backend.run(kinds).facts
        if backend.is_real and not NODE_KINDS[name].real:
            assert name not in outcome["kinds"]
            return
        recording = record(kinds)
        graph = top_graphs(recording)[list(outcome["kinds"]).index(name)]
        levels = [graph, *bodies(recording, graph)]
        timed = {
            (n.graph_id, n.node_id)
            for level in levels
            for n in recording.fetch_nodes(level.graph_id)
            if n.exec_node_id is not None
        }
        ids = launch_ids(recording, graph)
        assert len(ids) == outcome["launches"]
        assert span_counts(recording, graph) == {(i, *n): 1 for i in ids for n in timed}

    # -- nesting ---------------------------------------------------------------------------

    def test_child_graphs_stand_under_their_nodes(self, record: Record) -> None:
        recording = record("children")
        (graph,) = [g for g in top_graphs(recording) if g.origin != "body"]
        levels = {g.graph_id: g for g in bodies(recording, graph)}
        assert len(levels) == 3
        grids = {
            g.graph_id: [n.grid_x for n in recording.fetch_nodes(g.graph_id)]
            for g in (graph, *levels.values())
        }
        assert sorted(grids.values(), key=str) == sorted(
            [[1, None, None, 2], [3, None, 4], [5], [6]], key=str
        )
        for level in levels.values():
            assert level.origin == "body"
            assert level.parent_graph_id is not None
            parents = recording.fetch_nodes(level.parent_graph_id)
            (parent,) = [n for n in parents if n.node_id == level.parent_node_id]
            assert parent.type == NODE_KINDS["child_graph"].type

    def test_child_graph_nodes_get_the_spans_of_their_kernels(self, record: Record) -> None:
        recording = record("children")
        (graph,) = top_graphs(recording)
        nodes = [
            n
            for level in (graph, *bodies(recording, graph))
            for n in recording.fetch_nodes(level.graph_id)
        ]
        # In a chain, order of start is order of grids: 1, then 3, 5, 4 inside, then 6, then 2.
        order = {(n.graph_id, n.node_id): n.grid_x for n in nodes}
        for launch_id in launch_ids(recording, graph):
            spans = recording.fetch_spans(launch_id)
            at = np.argsort(spans.start_ns)
            by_start = zip(spans.graph_id[at].tolist(), spans.node_id[at].tolist(), strict=True)
            assert [order[key] for key in by_start] == [1, 3, 5, 4, 6, 2]

    def test_launch_into_a_capture_is_no_launch(self, record: Record, backend: Backend) -> None:
        recording = record("captured_launch")
        facts = backend.run("captured_launch").facts
        assert (facts["launch"], facts["end"]) == (900, 901), "as without gviz"
        (graph,) = top_graphs(recording)
        assert len(launch_ids(recording, graph)) == facts["launches"]
        assert set(span_counts(recording, graph).values()) == {1}

    def test_branch_of_a_switch_gets_its_spans(self, record: Record, backend: Backend) -> None:
        recording = record("branches")
        (graph,) = top_graphs(recording)
        nodes = {
            (n.graph_id, n.node_id): n
            for level in (graph, *bodies(recording, graph))
            for n in recording.fetch_nodes(level.graph_id)
        }
        launches = backend.run("branches").facts["launches"]
        spans = recording.fetch_graph_spans(graph.graph_id)
        keys = zip(spans.graph_id.tolist(), spans.node_id.tolist(), strict=True)
        found = Counter(nodes[key].grid_x for key in keys)
        assert found == {1: launches, 12: launches}

    # -- captures --------------------------------------------------------------------------

    def test_captured_stream_becomes_a_chain(self, record: Record, backend: Backend) -> None:
        recording = record("captured")
        facts = backend.run("captured").facts
        (graph,) = top_graphs(recording)
        nodes = recording.fetch_nodes(graph.graph_id)
        assert [n.name for n in nodes] == ["MEMSET", "axpy", "axpy", "MEMCPY DtoH", "HOST"]
        assert edges(recording, graph) == set(pairwise(range(5)))
        for kernel in nodes[1:3]:
            assert shape_of(kernel) == ([8, 1, 1], [128, 1, 1])
            arguments = recording.fetch_arguments(graph.graph_id, kernel.node_id)
            assert [a.value.hex() for a in arguments] == facts["arguments"]
            assert [a.allocation_address for a in arguments] == [None, None, facts["x"], facts["y"]]
            assert [a.allocation_bytes for a in arguments][2:] == [facts["bytes"]] * 2
        assert (nodes[0].bytes, nodes[0].destination_address) == (facts["bytes"], facts["y"])
        assert (nodes[3].bytes, nodes[3].source_address) == (facts["bytes"], facts["y"])
        assert nodes[3].destination_address == facts["out"]

    def test_capture_has_its_time_and_mode(self, record: Record) -> None:
        (graph,) = top_graphs(record("captured"))
        assert graph.origin == "capture"
        assert graph.capture_mode == 1
        assert graph.capture_start_ns is not None
        assert graph.capture_end_ns is not None
        assert graph.capture_start_ns < graph.capture_end_ns

    def test_captured_nodes_know_their_stream(self, record: Record) -> None:
        recording = record("fork_join")
        (graph,) = top_graphs(recording)
        streams = [n.capture_stream_id for n in recording.fetch_nodes(graph.graph_id)]
        assert streams[0] == streams[1] == streams[3]
        assert streams[2] not in (streams[0], None)

    def test_captured_nodes_know_their_python_lines(self, record: Record) -> None:
        recording = record("captured")
        (graph,) = top_graphs(recording)
        for node in recording.fetch_nodes(graph.graph_id):
            assert node.stack_id is not None, node.stack_reason
            functions = [f.function.split(".")[-1] for f in recording.fetch_stack(node.stack_id)]
            assert "captured" in functions

    def test_fork_and_join_keep_their_edges_and_overlap(
        self, record: Record, backend: Backend
    ) -> None:
        recording = record("fork_join")
        (graph,) = top_graphs(recording)
        assert edges(recording, graph) == {(0, 1), (0, 2), (1, 3), (2, 3)}
        ids = launch_ids(recording, graph)
        assert len(ids) == backend.run("fork_join").facts["launches"]
        for launch_id in ids:
            spans = recording.fetch_spans(launch_id)
            assert spans.node_id.tolist() == [0, 1, 2, 3]
            assert spans.stream_id[1] != spans.stream_id[2]
            end = spans.start_ns + spans.duration_ns
            assert max(spans.start_ns[1:3]) < min(end[1:3])

    def test_broken_captures_leave_no_graph(self, record: Record, backend: Backend) -> None:
        recording = record("failed_capture")
        facts = backend.run("failed_capture").facts
        assert facts["codes"] == backend.run("failed_capture", "none").facts["codes"]
        (graph,) = top_graphs(recording)
        assert len(launch_ids(recording, graph)) == facts["launches"]
        failed = [
            c.result
            for c in recording.fetch_api_calls(RUN)
            if c.name.startswith("cuStreamEndCapture") and c.result != 0
        ]
        assert failed == [code for name, code in facts["codes"].items() if name.startswith("end")
                          or name == "unjoined"]  # fmt: skip
