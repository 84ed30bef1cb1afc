"""Raw activity buffers to arrays, against records built field by field."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from spool_writing import (
    buffer,
    copy,
    kernel,
    memset,
    peer_copy,
)

from gviz.cuda.node_type import CopyKind, NodeType
from gviz.runs import ACTIVITY, Activities, node_key
from gviz.spool.records.activity import KERNEL, MEMCPY, MEMCPY_PEER, MEMSET, decode_buffer
from gviz.stats import UNKNOWN

#: Above 32 bits, as graph node ids and times are.
NODE = 41 << 32 | 7
START = 1_790_000_000_123_456_789


def graph_node(found: Activities) -> Activities:
    """Return CUPTI's graphNodeId of records."""
    return node_key(found["exec_id"], found["node_id"])


def test_kernel_fields_are_where_cupti_puts_them() -> None:
    record = kernel(
        node=NODE, start=START, end=START + 1_500, correlation=0xFFFF_FFF0, stream=13, device=3,
        grid=(2_147_483_647, 65_535, 2), block=(1024, 4, 3), static=49_152, dynamic=166_912,
        registers=255, name=0x7FFF_1234_5678,
    )  # fmt: skip
    (found,) = decode_buffer(buffer([record]))
    assert found["type"] == NodeType.KERNEL
    assert (found["start_ns"], found["end_ns"]) == (START, START + 1_500)
    assert (graph_node(found), found["name"]) == (NODE, 0x7FFF_1234_5678)
    assert (found["correlation_id"], found["stream_id"]) == (0xFFFF_FFF0, 13)
    assert found["device_id"] == 3
    assert found["grid"].tolist() == [2_147_483_647, 65_535, 2]
    assert found["block"].tolist() == [1024, 4, 3]
    assert (found["static_shared_mem_bytes"], found["shared_mem_bytes"]) == (49_152, 166_912)
    assert found["registers"] == 255
    assert (found["bytes"], found["copy_kind"]) == (UNKNOWN, UNKNOWN)


@pytest.mark.parametrize(
    ("make", "kind", "copy_kind"),
    [
        (copy, NodeType.MEMCPY, CopyKind.DTOD),
        (peer_copy, NodeType.MEMCPY, CopyKind.PTOP),
        (memset, NodeType.MEMSET, UNKNOWN),
    ],
)
def test_transfer_fields_are_where_cupti_puts_them(
    make: type, kind: NodeType, copy_kind: int
) -> None:
    record = make(
        node=NODE, start=START, end=START + 9, correlation=5, stream=21, device=6, bytes_=1 << 35
    )
    (found,) = decode_buffer(buffer([record]))
    assert (found["type"], found["copy_kind"]) == (kind, copy_kind)
    assert (found["start_ns"], found["end_ns"]) == (START, START + 9)
    assert (graph_node(found), found["bytes"]) == (NODE, 1 << 35)
    assert (found["correlation_id"], found["stream_id"], found["device_id"]) == (5, 21, 6)
    assert found["grid"].tolist() == found["block"].tolist() == [UNKNOWN] * 3
    assert (found["name"], found["registers"]) == (UNKNOWN, UNKNOWN)


def test_record_outside_graphs_has_no_executable_and_no_node() -> None:
    found = decode_buffer(buffer([kernel(start=1, end=2), kernel(node=1 << 32, start=1, end=2)]))
    assert found["exec_id"].tolist() == [UNKNOWN, 1]
    assert found["node_id"].tolist() == [UNKNOWN, 0]


def test_direction_that_cupti_does_not_know_is_unknown() -> None:
    found = decode_buffer(buffer([copy(start=1, end=2, copy_kind=CopyKind.UNKNOWN)]))
    assert found["copy_kind"].tolist() == [UNKNOWN]


@pytest.mark.parametrize("extra", [0, 8, 32, 128], ids="{} bytes more".format)
def test_kinds_mixed_in_one_buffer_of_any_record_size(extra: int) -> None:
    # Later CUPTI releases append fields: a record is found by its offset, not by a stride.
    makers = (
        (kernel, KERNEL.size),
        (copy, MEMCPY.size),
        (memset, MEMSET.size),
        (peer_copy, MEMCPY_PEER.size),
    )
    records = []
    for n in range(1, 42):
        make, size = makers[n % 4]
        records.append(make(node=n, start=n, end=n + 1, size=size + extra))
    found = decode_buffer(buffer(records))
    assert sorted(found["node_id"].tolist()) == list(range(1, 42))
    assert (found["start_ns"] == found["node_id"]).all()
    types = np.array([NodeType.KERNEL, NodeType.MEMCPY, NodeType.MEMSET, NodeType.MEMCPY])
    assert (found["type"] == types[found["node_id"] % 4]).all()


@pytest.mark.parametrize("count", [1, 2, 3])
def test_offsets_are_padded_to_eight_bytes(count: int) -> None:
    payload = buffer([kernel(start=i, end=i) for i in range(count)])
    assert len(payload) % 8 == 0
    assert decode_buffer(payload)["start_ns"].tolist() == list(range(count))


def test_records_of_other_kinds_are_left_out() -> None:
    other = struct.pack("<I", 38) + bytes(52)  # SYNCHRONIZATION
    found = decode_buffer(buffer([other, kernel(start=1, end=2), other]))
    assert found["start_ns"].tolist() == [1]


def test_host_node_of_a_later_cupti_is_read() -> None:
    # CUpti_ActivityGraphHostNode: kind, stream, context, device, correlation, graph, node, ...
    record = struct.pack("<6IQIIQQ", 56, 7, 1, 2, 99, 5, 5 << 32 | 3, 10, 11, 1000, 1500)
    (found,) = decode_buffer(buffer([record]))
    assert (found["type"], found["stream_id"], found["device_id"]) == (NodeType.HOST, 7, 2)
    assert (found["correlation_id"], graph_node(found)) == (99, 5 << 32 | 3)
    assert (found["start_ns"], found["end_ns"]) == (1000, 1500)


@pytest.mark.parametrize("records", [[], [struct.pack("<I", 38) + bytes(4)]])
def test_buffer_without_timed_work_is_empty(records: list[bytes]) -> None:
    found = decode_buffer(buffer(records))
    assert found.dtype == ACTIVITY
    assert len(found) == 0


def test_array_is_no_view_of_the_buffer() -> None:
    found = decode_buffer(buffer([kernel(start=5, end=6)]))
    assert found.flags.writeable
    assert found.flags.owndata
