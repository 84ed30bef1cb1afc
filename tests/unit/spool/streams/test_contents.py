"""Records to contents: each type, unknown ones, and damaged ones."""

from __future__ import annotations

import json

import numpy as np
import pytest
from spool_writing import buffer, kernel, node_record

from gviz.spool.records import table
from gviz.spool.records.format import RecordType
from gviz.spool.records.graph_records import CreatedRecord
from gviz.spool.records.payload import MOST_BYTES
from gviz.spool.records.reader import Record
from gviz.spool.streams.contents import Contents
from gviz.spool.streams.values import MadeReading


def contents(*records: tuple[int, bytes]) -> Contents:
    found = Contents()
    for kind, payload in records:
        found.add(Record(kind, payload))
    return found


def test_unknown_types_are_counted_and_the_rest_is_read() -> None:
    found = contents((900, b"?"), (RecordType.NOTE, b"limit\na sentence"), (0xFFFFFFFF, b""))
    assert found.unknown_records == 2
    assert found.notes == [("limit", "a sentence")]


def test_metadata_records_add_up() -> None:
    found = contents(
        (RecordType.META, json.dumps({"name": "a", "process_id": 1}).encode()),
        (RecordType.META, json.dumps({"libraries": {"torch": "2"}}).encode()),
    )
    assert found.metadata == {"name": "a", "process_id": 1, "libraries": {"torch": "2"}}
    assert not found.ended
    assert contents((RecordType.END, b"")).ended


def values_starting_at(*starts: int) -> bytes:
    """Return a record of values that were read there."""
    values = np.zeros(len(starts), table.PROBED_VALUE.dtype)
    values["start"] = starts
    named: dict[str, object] = dict.fromkeys((field.name for field in table.VALUES.fields), 0)
    return table.VALUES.pack(**named | {"values": len(starts), "tail": values.tobytes()})


#: What cannot be read of each type that has a fixed part or a text in a language.
DAMAGED = [
    (RecordType.META, b"{"),
    (RecordType.META, b"\xff\xfe{}\x80"),
    (RecordType.META, b"3"),
    (RecordType.STACK, b"[1, ["),
    (RecordType.STACK, b"[1]"),
    (RecordType.STACK, b"7"),
    (RecordType.COUNTER, b"name\nseven\nns\nmeasured"),
    (RecordType.COUNTER, b"name"),
    (RecordType.DEVICE, b"short"),
    (RecordType.WINDOW, bytes(table.WINDOW.size + 1)),
    (RecordType.BUFFER, b""),
    (RecordType.BUFFER, table.BUFFER.pack(1, 216)),
    (RecordType.BUFFER, table.BUFFER.pack(1, 8) + bytes(8) + (10).to_bytes(8, "little")),
    (RecordType.CALL, bytes(3)),
    (RecordType.LIFE, bytes(3)),
    (RecordType.LAUNCH, bytes(table.LAUNCH.size - 1)),
    (RecordType.LAUNCH_TIME, b""),
    (RecordType.GRAPH, bytes(4)),
    (RecordType.NODE, bytes(table.NODE.size - 4)),
    (RecordType.EDGES, table.EDGES.pack(1, 1000)),
    (RecordType.FUNCTION, bytes(8)),
    (RecordType.CREATED, bytes(8)),
    (RecordType.CLONED, bytes(8)),
    (RecordType.NVTX_PATH, bytes(4)),
    (RecordType.NVTX_RANGE, bytes(4)),
    (RecordType.VALUES, values_starting_at(0, MOST_BYTES + 1)),
]


@pytest.mark.parametrize(("kind", "payload"), DAMAGED)
def test_damaged_record_is_counted_by_its_type(kind: RecordType, payload: bytes) -> None:
    found = contents((kind, payload), (RecordType.END, b""))
    assert found.unreadable == {kind.name.lower().replace("_", " "): 1}
    assert found.ended


def test_values_keep_where_they_start() -> None:
    found = contents((RecordType.VALUES, values_starting_at(0, MOST_BYTES)))
    (reading,) = found.readings
    assert isinstance(reading, MadeReading)
    assert reading.values["start"].tolist() == [0, MOST_BYTES]


def test_text_that_is_no_utf8_is_kept_as_well_as_it_can_be() -> None:
    found = contents((RecordType.STRING, (77).to_bytes(8, "little") + b"_Z\xff"))
    assert found.strings == {77: "_Z�"}


def test_node_keeps_its_arguments() -> None:
    kind, head = node_record(
        5, 3, 0, function=11, grid=(2, 3, 4), shared_mem_bytes=64, max_blocks=8, priority=-1,
        cooperative=1, argument_count=2,
    )  # fmt: skip
    arguments = table.ARGUMENT.pack(4, 8, 1, 0, 0) + b"abcd" + bytes(4)
    arguments += table.ARGUMENT.pack(8, 8, 9, 0x7000, 512) + b"12345678"
    graph = table.GRAPH.pack(5, 6, 0, 0, 0, 1, 0)
    found = contents((RecordType.GRAPH, graph), (kind, head + arguments))
    (walk,) = found.walks
    (node,) = walk.nodes
    assert (walk.graph_id, walk.exec_id, node.node_id, node.function) == (5, 6, 3, 11)
    assert (node.grid, node.block, node.shared_mem_bytes) == ((2, 3, 4), (32, 1, 1), 64)
    assert (node.max_blocks, node.priority, node.cooperative) == (8, -1, 1)
    assert [a.value for a in node.arguments] == [b"abcd", b"12345678"]
    assert [a.start for a in node.arguments] == [1, 9]
    assert (node.arguments[1].allocation, node.arguments[1].allocation_bytes) == (0x7000, 512)


def test_edges_are_columns_from_to_type_and_ports() -> None:
    graph = table.GRAPH.pack(5, 6, 0, 0, 0, 2, 1)
    edge = (1).to_bytes(4, "little") + (2).to_bytes(4, "little") + bytes([2, 0, 1, 0])
    found = contents((RecordType.GRAPH, graph), (RecordType.EDGES, table.EDGES.pack(5, 1) + edge))
    assert found.walks[0].edges.tolist() == [[1, 2, 1, 2, 0]]


def test_nodes_of_a_graph_that_was_not_announced_are_left_out() -> None:
    found = contents(node_record(9, 0, 0), (RecordType.EDGES, table.EDGES.pack(9, 0)))
    assert found.walks == []


def test_creation_is_found_by_graph_and_node() -> None:
    record = table.CREATED.pack(5 << 32 | 3, 1_000, 77, 13, 2, -1, 0)
    found = contents((RecordType.CREATED, record))
    assert found.created == {5 << 32 | 3: CreatedRecord(5 << 32 | 3, 1_000, 77, 13, 2, -1, 0)}


def test_activities_of_several_buffers_are_ordered_by_start() -> None:
    later = buffer([kernel(start=30, end=40), kernel(start=10, end=20)])
    earlier = buffer([kernel(start=20, end=25)])
    reported = contents((RecordType.BUFFER, later), (RecordType.BUFFER, earlier))
    reported.finish()
    found = reported.activity_stream.operations()
    assert found["start_ns"].tolist() == [10, 20, 30]


def test_nothing_recorded_is_an_empty_array() -> None:
    reported = Contents()
    reported.finish()
    for found in (reported.activity_stream.take_spans(), reported.activity_stream.operations()):
        assert len(found) == 0
        assert found["start_ns"].dtype == np.int64
