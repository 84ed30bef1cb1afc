"""Allocations of graphs, parameters of nodes and samples of graph memory, folded."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from spool_writing import FoldRecords, graph_records, node_record

from gviz.cuda.node_type import NodeType
from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.report.info.recording_document import info_document
from gviz.report.renderers.text_form import render_text
from gviz.report.summary import summarize
from gviz.spool.records import table
from gviz.spool.records.format import RecordType
from gviz.text import byte_size

ALLOC, FREE, HOST = NodeType.MEM_ALLOC, NodeType.MEM_FREE, NodeType.HOST
MIB = 1 << 20
Record = tuple[int, bytes]
Fold = Callable[[list[Record]], Recording]


@pytest.fixture
def folded(fold_records: FoldRecords) -> Fold:
    """Fold records."""
    return fold_records


def memory_graph(graph: int, *nodes: tuple[int, int]) -> list[Record]:
    """Return the walk of a graph of alloc and free nodes: (type, address) each."""
    found: list[Record] = [
        (RecordType.GRAPH, table.GRAPH.pack(graph, graph + 100, 0, 0, 0, len(nodes), 0))
    ]
    for node, (kind, address) in enumerate(nodes):
        size = MIB if kind == ALLOC else 0
        found.append(node_record(graph, node, kind, bytes=size, destination=address))
    return found


def parameter(graph: int, node: int, name: str, value: str) -> Record:
    return RecordType.PARAMETER, table.PARAMETER.pack(graph, node) + f"{name}\n{value}".encode()


def ends(recording: Recording) -> list[tuple[int, int | None, int | None, str]]:
    return [
        (a.node_id, a.free_graph_id, a.free_node_id, a.freed)
        for a in recording.fetch_allocations(1)
    ]


def test_allocation_is_freed_in_its_own_graph_before_another(folded: Fold) -> None:
    recording = folded(
        [*memory_graph(1, (FREE, 0x100)), *memory_graph(2, (ALLOC, 0x100), (FREE, 0x100))]
    )
    assert ends(recording) == [(0, 2, 1, "in the same graph")]


def test_allocation_is_freed_in_another_graph(folded: Fold) -> None:
    recording = folded([*memory_graph(1, (ALLOC, 0x100)), *memory_graph(2, (FREE, 0x100))])
    assert ends(recording) == [(0, 2, 0, "in another graph")]


def test_allocation_is_freed_by_a_call(folded: Fold) -> None:
    name = (RecordType.CALL_NAME, (600).to_bytes(4, "little") + b"cuMemFreeAsync")
    freed = (RecordType.FREED, table.FREED.pack(5, 0x100, 600, 1))
    recording = folded([*memory_graph(1, (ALLOC, 0x100), (ALLOC, 0x200)), name, freed])
    assert ends(recording) == [
        (0, None, None, "by cuMemFreeAsync"),
        (1, None, None, "not while gviz watched"),
    ]


def test_samples_of_graph_memory_are_kept_by_device_and_time(folded: Fold) -> None:
    samples = [(10, 0, 1, 2, 3, 4), (20, 0, 0, 2, 3, 4), (15, 1, 5, 6, 7, 8)]
    recording = folded([(RecordType.GRAPH_MEMORY, table.GRAPH_MEMORY.pack(*s)) for s in samples])
    assert recording.fetch_graph_memory(1) == [
        rows.GraphMemory(
            run_id=1,
            device_id=device,
            time_ns=time,
            used_bytes=used,
            used_high_bytes=high,
            reserved_bytes=reserved,
            reserved_high_bytes=most,
        )
        for time, device, used, high, reserved, most in samples
    ]


def test_parameters_keep_their_order_and_text(folded: Fold) -> None:
    reported = [("function", "0x7f00"), ("symbol", "on_step"), ("user data", "0x0")]
    recording = folded(
        [*graph_records(1, 2, [HOST]), *(parameter(1, 0, name, value) for name, value in reported)]
    )
    found = recording.fetch_node_parameters(1, 0)
    assert [(p.name, p.value) for p in found] == reported


def test_info_says_what_is_allocated_and_reported(folded: Fold) -> None:
    recording = folded(
        [
            *memory_graph(1, (ALLOC, 0x100), (FREE, 0x100)),
            *graph_records(7, 8, [HOST] * 10),
            *(parameter(7, i, "symbol", f"on_step_{i}") for i in range(10)),
            (RecordType.GRAPH_MEMORY, table.GRAPH_MEMORY.pack(10, 0, 0, MIB, 2 * MIB, 2 * MIB)),
        ]
    )
    text = render_text(info_document(summarize(recording)), 200)
    assert f"1 allocation, {byte_size(MIB)}: 1 freed in the same graph" in text
    assert "Node 0: symbol on_step_0" in text
    assert "And 2 more nodes with parameters (--json)" in text
    used = f"used {byte_size(0)} (most {byte_size(MIB)})"
    assert f"Graph memory of GPU 0: {used}, reserved {byte_size(2 * MIB)}" in text
