"""Work outside graphs: names, kernel functions and calls."""

from __future__ import annotations

from spool_writing import KERNEL_NAME, FoldRecords, buffer, copy, kernel, memset

from gviz.recording import rows
from gviz.spool.records import table
from gviz.spool.records.format import RecordType

OTHER_NAME = 0x7100


def call(correlation: int, start: int) -> tuple[int, bytes]:
    """Return a call of 10 ns."""
    return RecordType.CALL, table.CALL.pack(1, correlation, start, start + 10, 5, 0)


def operations(fold: FoldRecords, *records: tuple[int, bytes]) -> list[rows.StreamOperation]:
    """Return the operations of a spool in which two kernels, a copy and a memset ran."""
    work = [
        kernel(start=100, end=110, correlation=1, name=OTHER_NAME, registers=8),
        copy(start=200, end=210, correlation=2, bytes_=64),
        kernel(start=300, end=310, correlation=3, name=KERNEL_NAME, registers=16),
        kernel(start=400, end=410, correlation=4, name=OTHER_NAME, registers=32),
        memset(start=500, end=510, bytes_=4),
    ]
    name = (RecordType.STRING, OTHER_NAME.to_bytes(8, "little") + b"_Z5otherv")
    found = fold([name, *records, (RecordType.BUFFER, buffer(work))])
    return found.fetch_run_stream_operations(1)


def test_kernels_are_numbered_in_order_of_time(fold_records: FoldRecords) -> None:
    found = operations(fold_records)
    assert [(op.name, op.function_id) for op in found] == [
        ("other", 1), ("MEMCPY DtoD", None), ("work", 2), ("other", 1), ("MEMSET", None),
    ]  # fmt: skip


def test_kernel_has_the_resources_of_its_first_record(fold_records: FoldRecords) -> None:
    name = (RecordType.STRING, OTHER_NAME.to_bytes(8, "little") + b"_Z5otherv")
    work = [
        kernel(start=start, end=start + 5, name=OTHER_NAME, registers=registers)
        for start, registers in ((200, 32), (100, 8))
    ]
    recording = fold_records([name, (RecordType.BUFFER, buffer(work))])
    assert recording.fetch_functions(1)[1].registers == 8


def test_work_has_the_last_call_of_its_correlation_id(fold_records: FoldRecords) -> None:
    found = operations(fold_records, call(3, 70), call(2, 50), call(9, 80), call(3, 90))
    assert [(op.host_start_ns, op.host_end_ns, op.thread_id) for op in found] == [
        (None, None, None), (50, 60, 5), (90, 100, 5), (None, None, None), (None, None, None),
    ]  # fmt: skip
