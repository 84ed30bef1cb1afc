"""Faults from the records and files of the black box."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
from spool_writing import graph_records

from gviz.cuda.node_type import NodeType
from gviz.recording.reader import Recording
from gviz.spool.folding import fold
from gviz.spool.folding.black_box.addresses import HeldBlocks, Place
from gviz.spool.records import table
from gviz.spool.records.enums import FaultKind
from gviz.spool.records.format import CORE_DUMP_FILE, CRUMBS_FILE, RecordType
from gviz.spool.records.memory_records import BlockRecord
from gviz.spool.records.reader import Record
from gviz.spool.streams import Contents

GRAPH, EXEC = 5, 9
CHAIN = graph_records(GRAPH, EXEC, [NodeType.KERNEL] * 4, [(0, 1), (1, 2), (2, 3)])


def crumbs(first: int, *nodes: int, exec_id: int = EXEC) -> tuple[int, bytes]:
    tail = b"".join(table.CRUMB.pack(GRAPH, node) for node in nodes)
    return RecordType.CRUMBS, table.CRUMBS.pack(GRAPH, exec_id, first, len(nodes), tail)


def fault(kind: FaultKind, result: int) -> tuple[int, bytes]:
    return RecordType.FAULT, table.FAULT.pack(77, kind, result, EXEC, 0)


def fold_with(
    folder: Path, words: list[int], *records: tuple[int, bytes], ended: bool = True
) -> Recording:
    spool = folder / "x.gviz-spool"
    spool.mkdir(exist_ok=True)
    np.array(words, "<u4").tofile(spool / CRUMBS_FILE)
    contents = Contents(ended=ended, metadata={"process_id": 12, "name": "x"})
    for kind, payload in (*CHAIN, *records):
        contents.add(Record(kind, payload))
    return Recording(fold(contents, spool, folder / "x.gviz"))


def roles_of(recording: Recording) -> list[tuple[str, int]]:
    return [(one.role, one.node_id) for one in recording.fetch_fault_nodes(1)]


def test_error_names_the_nodes_between_two_crumbs(tmp_path: Path) -> None:
    records = (crumbs(2, 0, 2), fault(FaultKind.ERROR, 700))
    with fold_with(tmp_path, [9, 9, 0, 1, 0], *records) as recording:
        (row,) = recording.fetch_faults(1)
        assert roles_of(recording) == [("running", 1), ("running", 2), ("last", 0), ("next", 2)]
    assert (row.kind, row.result, row.time_ns, row.graph_id) == ("error", 700, 77, 1)
    assert (row.crumbs, row.crumbs_left) == (2, 1)


def test_crumbs_in_memory_stay_until_their_spool_is_removed(tmp_path: Path) -> None:
    memory = Path("/dev/shm", f"gviz-crumbs-{os.getpid()}-{time.monotonic_ns()}")
    memory.write_bytes(bytes(12))
    spool = tmp_path / "x.gviz-spool"
    spool.mkdir()
    (spool / CRUMBS_FILE).symlink_to(memory)
    try:
        fold_with(tmp_path, [0, 1, 0], crumbs(0, 0, 2), fault(FaultKind.ERROR, 700)).close()
        assert memory.exists(), "a recording that could not be written is made again"
    finally:
        memory.unlink(missing_ok=True)


def test_launch_that_ended_is_no_fault(tmp_path: Path) -> None:
    with fold_with(tmp_path, [1, 1, 1], crumbs(0, 0, 2), ended=False) as recording:
        assert recording.fetch_faults(1) == []


def test_launch_that_runs_at_an_end_in_order_is_no_fault(tmp_path: Path) -> None:
    with fold_with(tmp_path, [0, 1, 0], crumbs(0, 0, 2)) as recording:
        assert recording.fetch_faults(1) == []


def test_launch_that_runs_at_another_end_is_cut_off(tmp_path: Path) -> None:
    with fold_with(tmp_path, [0, 0, 0], crumbs(0, 1, 2), ended=False) as recording:
        (row,) = recording.fetch_faults(1)
        assert roles_of(recording) == [("running", 0), ("running", 1), ("next", 1)]
    assert (row.kind, row.result) == ("cut off", None)


def test_words_belong_to_the_executable_that_had_them_last(tmp_path: Path) -> None:
    records = (crumbs(0, 0, 1), crumbs(1, 2, exec_id=99), fault(FaultKind.ERROR, 719))
    with fold_with(tmp_path, [0, 0, 0], *records) as recording:
        (row,) = recording.fetch_faults(1)
    assert (row.kind, row.graph_id, row.crumbs) == ("error", None, 0)


def test_core_dump_lies_beside_the_recording_for_its_owner(tmp_path: Path) -> None:
    (tmp_path / "x.gviz-spool").mkdir()
    (tmp_path / "x.gviz-spool" / CORE_DUMP_FILE).write_bytes(b"dump")
    with fold_with(tmp_path, []) as recording:
        (row,) = recording.fetch_faults(1)
    kept = tmp_path / "x.12.nvcudmp"
    assert (row.kind, row.core_dump, row.kernel) == ("core dump", str(kept), None)
    assert kept.read_bytes() == b"dump"
    assert kept.stat().st_mode & 0o777 == 0o600


def test_empty_core_dump_is_none(tmp_path: Path) -> None:
    (tmp_path / "x.gviz-spool").mkdir()
    (tmp_path / "x.gviz-spool" / CORE_DUMP_FILE).touch()
    with fold_with(tmp_path, []) as recording:
        assert recording.fetch_faults(1) == []
    assert not list(tmp_path.glob("*.nvcudmp"))


def block(time_ns: int, address: int, size: int, *, freed: bool = False) -> BlockRecord:
    return BlockRecord(time_ns, address, size, int(freed))


def test_address_lies_in_a_block_or_where_one_was() -> None:
    blocks = HeldBlocks(
        [
            block(1, 1000, 100),
            block(2, 2000, 100),
            block(3, 2000, 1, freed=True),
            block(4, 3000, 10),
            block(5, 3000, 1, freed=True),
            block(6, 3000, 50),
        ]
    )
    assert blocks.place_of(1099) == Place("allocated", 1000, 100)
    assert blocks.place_of(1100) == Place("unknown")
    assert blocks.place_of(2050) == Place("freed", 2000, 100, 3)
    assert blocks.place_of(3005) == Place("allocated", 3000, 50)
