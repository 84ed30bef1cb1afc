"""Walks to graphs, nodes and executables."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
from spool_writing import FoldRecords, graph_records, node_record

from gviz.cuda.node_type import NodeType
from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.runs import blank_rows
from gviz.spool.folding.graphs import FoldedGraph
from gviz.spool.records import format as f
from gviz.spool.records import table
from gviz.spool.records.enums import STACK_REASONS
from gviz.spool.records.format import RecordType

KERNEL, CHILD, CONDITIONAL, EMPTY = (
    NodeType.KERNEL,
    NodeType.GRAPH,
    NodeType.CONDITIONAL,
    NodeType.EMPTY,
)
Fold = Callable[[list[tuple[int, bytes]]], Recording]


@pytest.fixture
def folded(fold_records: FoldRecords) -> Fold:
    """Fold records."""
    return fold_records


def exec_ids(recording: Recording, graph: rows.Graph) -> list[int | None]:
    return [node.exec_node_id for node in recording.fetch_nodes(graph.graph_id)]


def test_nodes_of_nested_bodies_are_numbered_on_in_order_of_creation(folded: Fold) -> None:
    recording = folded([
        *graph_records(1, 2, [KERNEL, CHILD, CONDITIONAL], [(0, 1), (1, 2)]),
        *graph_records(5, 2, [KERNEL, CHILD], parent=(1, 1)),
        *graph_records(7, 2, [KERNEL], parent=(5, 1)),
        *graph_records(9, 2, [KERNEL, EMPTY, KERNEL], parent=(1, 2)),
    ])  # fmt: skip
    top, first, inner, second = recording.fetch_graphs()
    # Nodes that get no record have a number too, but no use for it.
    assert exec_ids(recording, top) == [0, None, None]
    assert exec_ids(recording, first) == [3, None]
    assert exec_ids(recording, inner) == [5]
    assert exec_ids(recording, second) == [6, None, 8]
    parents = [(g.origin, g.parent_graph_id, g.parent_node_id) for g in (first, inner, second)]
    assert parents == [
        ("body", top.graph_id, 1),
        ("body", first.graph_id, 1),
        ("body", top.graph_id, 2),
    ]
    assert (top.origin, top.name) == ("explicit", "graph 1")


def test_template_instantiated_twice_is_one_graph_with_two_executables(folded: Fold) -> None:
    recording = folded(
        [*graph_records(1, 2, [KERNEL, KERNEL]), *graph_records(1, 3, [KERNEL, KERNEL])]
    )
    (graph,) = recording.fetch_graphs()
    assert [e.cuda_exec_id for e in recording.fetch_graph_execs(graph.graph_id)] == [2, 3]


def test_template_changed_between_instantiations_is_another_graph(folded: Fold) -> None:
    recording = folded([*graph_records(1, 2, [KERNEL]), *graph_records(1, 3, [KERNEL, EMPTY])])
    assert [len(recording.fetch_nodes(g.graph_id)) for g in recording.fetch_graphs()] == [1, 2]


def test_equal_graphs_share_a_topology(folded: Fold) -> None:
    chain = [(0, 1)]
    recording = folded([
        *graph_records(1, 2, [KERNEL, KERNEL], chain),
        *graph_records(3, 4, [KERNEL, KERNEL], chain),
        *graph_records(5, 6, [KERNEL, KERNEL]),
    ])  # fmt: skip
    first, second, third = recording.fetch_graphs()
    assert first.topology_id == second.topology_id != third.topology_id
    assert first.topology_id is not None
    edges = recording.fetch_edges(first.topology_id)
    assert (edges.from_node.tolist(), edges.to_node.tolist()) == ([0], [1])


def test_creation_shows_stream_range_and_stack_or_why_not(folded: Fold) -> None:
    stack = b'[4, [["<string>", 7, "main", "launch()"]]]'
    no_frames = -1
    recording = folded([
        (RecordType.STACK, stack),
        (RecordType.NVTX_PATH, table.NVTX_PATH.pack(1, 0) + b"\nouter"),
        (RecordType.CREATED, table.CREATED.pack(1 << 32 | 0, 500, 77, 13, 1, 4, 0)),
        (
            RecordType.CREATED,
            table.CREATED.pack(1 << 32 | 1, 600, 77, f.NO_STREAM, 0, no_frames, 0),
        ),
        *graph_records(1, 2, [KERNEL] * 3),
    ])  # fmt: skip
    first, second, third = recording.fetch_nodes(1)
    assert (first.created_ns, first.created_thread_id, first.capture_stream_id) == (500, 77, 13)
    assert (first.nvtx_path_id, first.stack_reason) == (1, None)
    assert first.stack_id is not None
    (place,) = recording.fetch_stack(first.stack_id)
    assert (place.file, place.line, place.source) == ("<string>", 7, "launch()")
    assert (second.capture_stream_id, second.nvtx_path_id, second.stack_id) == (None, None, None)
    assert second.stack_reason == STACK_REASONS[no_frames]
    assert third.created_ns is None
    assert third.stack_reason is not None


def test_creation_shows_the_operation_of_autograd(folded: Fold) -> None:
    no_frames, accumulates = -1, "torch::autograd::AccumulateGrad"
    operations = [
        (5, 4, None, 12), (6, no_frames, "MulBackward0", 12), (7, no_frames, accumulates, None),
    ]  # fmt: skip
    created = [
        table.CREATED.pack(1 << 32 | node, 500 + node, 77, 13, 0, stack, 0)
        for node, stack in enumerate((5, 6, 7, 4))
    ]
    recording = folded([
        (RecordType.STACK, b'[4, [["<string>", 7, "main", "launch()"]]]'),
        *((RecordType.AUTOGRAD, json.dumps(operation).encode()) for operation in operations),
        *((RecordType.CREATED, record) for record in created),
        *graph_records(1, 2, [KERNEL] * 4),
    ])  # fmt: skip
    forward, backward, adds, plain = recording.fetch_nodes(1)
    assert (forward.autograd_name, forward.sequence_nr) == (None, 12)
    assert forward.stack_id == plain.stack_id is not None
    assert (backward.autograd_name, backward.sequence_nr) == ("MulBackward0", 12)
    assert (backward.stack_id, backward.stack_reason) == (None, STACK_REASONS[no_frames])
    assert (adds.autograd_name, adds.sequence_nr) == (accumulates, None)
    assert (plain.autograd_name, plain.sequence_nr) == (None, None)


def test_kernel_without_a_known_function_is_named_by_its_kind(folded: Fold) -> None:
    recording = folded([
        (RecordType.GRAPH, table.GRAPH.pack(1, 2, 0, 0, 0, 1, 0)),
        node_record(1, 0, KERNEL, function=0xDEAD),
    ])  # fmt: skip
    (node,) = recording.fetch_nodes(1)
    assert (node.name, node.function_id) == ("KERNEL", None)


def test_spool_kept_without_its_dot_files_is_folded(folded: Fold) -> None:
    dot = (RecordType.DOT, (1).to_bytes(4, "little"))
    recording = folded([*graph_records(1, 2, [KERNEL]), dot])
    assert recording.fetch_graph(1).dot is None


def test_life_of_an_executable_is_its_own_successful_calls(folded: Fold) -> None:
    instantiate, upload, destroy = 513, 580, 516
    names = ((instantiate, "cuGraphInstantiateWithFlags"), (upload, "cuGraphUpload"),
             (destroy, "cuGraphExecDestroy"))  # fmt: skip

    def life(call: int, graph_exec: int, start: int, result: int = 0) -> tuple[int, bytes]:
        values = (call, 1, start, start + 5, 1, result, 0, graph_exec, 4, 0, 0)
        return RecordType.LIFE, table.LIFE.pack(*values)

    recording = folded([
        *((RecordType.CALL_NAME, call.to_bytes(4, "little") + name.encode())
          for call, name in names),
        *graph_records(1, 2, [KERNEL]),
        *graph_records(3, 4, [KERNEL]),
        life(instantiate, 2, 100), life(instantiate, 4, 200), life(upload, 2, 300, result=1),
        life(upload, 4, 400), life(upload, 4, 500), life(destroy, 2, 600),
    ])  # fmt: skip
    (first,), (second,) = (recording.fetch_graph_execs(graph_id) for graph_id in (1, 2))
    assert (first.instantiate_start_ns, first.instantiate_end_ns, first.flags) == (100, 105, 4)
    assert (first.upload_start_ns, first.destroyed_ns) == (None, 605)
    assert (second.instantiate_start_ns, second.destroyed_ns) == (200, None)
    assert (second.upload_start_ns, second.upload_end_ns) == (400, 405)
    assert [call.result for call in recording.fetch_api_calls(1)] == [0, 0, 1, 0, 0, 0]


def test_node_that_a_graph_lacks_is_not_found() -> None:
    nodes = blank_rows(rows.Node, 2)
    nodes["node_id"] = [3, 5]
    nothing = np.zeros(0, np.int64)
    graph = FoldedGraph(rows.Graph(graph_id=1, run_id=1, origin="explicit", name="a"),
                        nodes, nothing, nothing)  # fmt: skip
    assert [graph.find(node) is not None for node in (1, 3, 4, 5, 6)] == [
        *(False, True, False, True, False)
    ]
