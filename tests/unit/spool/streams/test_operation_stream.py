"""Work outside graphs that events timed: how much is kept, what is taken off its times."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gviz.cuda import NodeType
from gviz.spool.records import table
from gviz.spool.records.event_records import CalibrationRecord
from gviz.spool.records.format import OUTSIDE_GRAPHS, RecordType
from gviz.spool.records.graph_records import FunctionRecord
from gviz.spool.records.reader import Record
from gviz.spool.streams.contents import Contents
from gviz.spool.streams.operation_stream import OperationStream
from gviz.stats import UNKNOWN

KERNEL, COPY = (8, NodeType.KERNEL, 3, 0), (9, NodeType.MEMCPY, 0xFFFFFFFF, 0)
FUNCTION = FunctionRecord(0x70, 24, 1024, 0, 512, "_Z4workv")
BIAS = CalibrationRecord(
    device_id=0, type=OUTSIDE_GRAPHS, bias_ns=1001, early_bias_ns=1001, spread_ns=10, raw_ns=2001,
    chain_ns=1000, samples=64, early_samples=0,
)  # fmt: skip


def work(start: int, end: int, *, late: bool = False, what: tuple[int, ...] = KERNEL) -> bytes:
    is_kernel = what[1] == NodeType.KERNEL
    shape = ((4, 2, 1), (32, 1, 1), 128) if is_kernel else ((0, 0, 0), (0, 0, 0), 0)
    rest = (0, int(late), 0x70, -1) if is_kernel else (1, int(late), 0, 64)
    return table.OPERATION.pack(*what, *shape, *rest, start, end)


def array(*operations: bytes) -> npt.NDArray[np.void]:
    return np.frombuffer(b"".join(operations), table.OPERATION.dtype)


def test_what_is_beyond_the_limit_is_counted() -> None:
    stream = OperationStream(3)
    for _ in range(2):
        stream.add(array(work(1, 2), work(3, 4, late=True)))
    assert (len(stream), stream.left_out, stream.at_most) == (3, 1, 1)


def test_bias_is_taken_off_where_it_counts() -> None:
    stream = OperationStream(10)
    stream.add(array(work(10_000, 15_000), work(20_000, 25_000, late=True), work(30_000, 30_100)))
    found = stream.activities({0x70: FUNCTION}, [BIAS])
    # Half before the work, the rest after it; of work that begins after its call only that.
    assert found["start_ns"].tolist() == [10_500, 20_000, 30_500]
    assert found["end_ns"].tolist() == [14_499, 24_499, 30_500]


def test_bias_of_another_device_is_not_taken_off() -> None:
    stream = OperationStream(10)
    stream.add(array(work(10_000, 15_000)))
    found = stream.activities({}, [BIAS._replace(device_id=1)])
    assert (found["start_ns"][0], found["end_ns"][0]) == (10_000, 15_000)


def test_kernels_and_copies_have_what_they_are_known_by() -> None:
    stream = OperationStream(10)
    stream.add(array(work(3, 4, what=COPY), work(1, 2)))
    kernel, copy = stream.activities({0x70: FUNCTION}, [])
    assert kernel["grid"].tolist() == [4, 2, 1]
    assert (kernel["name"], kernel["registers"], kernel["shared_mem_bytes"]) == (0x70, 24, 128)
    assert (kernel["stream_id"], kernel["bytes"], kernel["copy_kind"]) == (3, UNKNOWN, UNKNOWN)
    assert (copy["stream_id"], copy["bytes"], copy["copy_kind"]) == (UNKNOWN, 64, 1)
    assert copy["grid"].tolist() == [UNKNOWN] * 3


def test_impossible_operations_are_left_out_and_counted() -> None:
    head = table.OPERATIONS.pack(2, 0)
    contents = Contents()
    contents.add(Record(RecordType.OPERATIONS, head + work(5, 4) + work(5, 6)))
    assert len(contents.operation_stream) == 1
    assert contents.unreadable == {"operation": 1}
