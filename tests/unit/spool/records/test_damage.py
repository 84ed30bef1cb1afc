"""Records that no collector writes: refused in a sentence, or left out where the rest is whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from spool_writing import (
    FoldRecords,
    buffer,
    graph_records,
    launch_record,
    node_record,
    work,
    write_spool,
)

from gviz.errors import RecordingError
from gviz.spool.folding.recording_fold import fold, read_contents
from gviz.spool.records import table
from gviz.spool.records.format import RecordType

KERNEL = 0
FRAME = ["x.py", 1, "f", None]


def meta(**reported: object) -> tuple[int, bytes]:
    return RecordType.META, json.dumps(reported).encode()


def alternation(**changes: object) -> tuple[RecordType, bytes]:
    reported = {"name": "x", "state": "plain", "graph": [[1, 2]], "eager": [[3, 4]]} | changes
    return RecordType.ALTERNATION, json.dumps(reported).encode()


def stack(*reported: object) -> tuple[int, bytes]:
    return RecordType.STACK, json.dumps(reported).encode()


def autograd(*reported: object) -> tuple[int, bytes]:
    return RecordType.AUTOGRAD, json.dumps(reported).encode()


@pytest.mark.parametrize(
    "record",
    [
        meta(process_id="12"),
        meta(process_id=1 << 70),
        meta(rank=0.5),
        meta(name=["x"]),
        meta(libraries=[]),
        meta(libraries={"torch": 2}),
        (RecordType.META, b"[1, 2]"),
        (RecordType.META, b"[" * 100_000),
        stack(1, 5),
        stack("1", [FRAME]),
        stack(1 << 63, [FRAME]),
        stack(1, [["x.py", 1, "f"]]),
        stack(1, [["x.py", "1", "f", None]]),
        stack(1, [[5, 1, "f", None]]),
        autograd(1, 2, None),
        autograd("1", 2, None, 3),
        autograd(1, 1 << 31, None, 3),
        autograd(1, 2, 5, 3),
        autograd(1, 2, None, -1),
        autograd(1, 2, None, 1 << 63),
        (RecordType.ALTERNATION, b"[]"),
        alternation(name=5),
        alternation(state="recording"),
        alternation(graph=[[1, 2], [3, 4]]),
        alternation(graph=[["x", 2]]),
        alternation(graph=[{}], eager=[{}]),
        alternation(graph=[[1e300, 2]]),
        alternation(graph=[], eager=[]),
        (RecordType.COUNTER, b"lost\nnan\nrecords\nmeasured"),
        (RecordType.COUNTER, b"lost\n1e999\nrecords\nmeasured"),
        (RecordType.WINDOW, table.WINDOW.pack(2**63, 1, 1)),
        (RecordType.CALL, table.CALL.pack(1, 1, 2**64 - 1, 5, 1, 0)),
        (RecordType.NVTX_RANGE, table.NVTX_RANGE.pack(1, 1, 5, 2**63)),
        (RecordType.LAUNCH_TIME, table.LAUNCH_TIME.pack(1, 2**63)),
        (RecordType.BUFFER, buffer([work(5, 0, 1, 2**62)])),
        (RecordType.UPDATES, table.UPDATES.pack(5, 1, 1, 0, 0, 1, 1, 3, 2**62, 5, 1)),
        (RecordType.UPDATES, table.UPDATES.pack(5, 1, 1, 0, 0, 1, 1, 3, 5, 5, 2**63)),
        (RecordType.UPDATE_FAILED, table.UPDATE_FAILED.pack(5, 3, 1, 1, 2**62, 5, 1, 0, 0, 0, 0)),
        (
            RecordType.INSTANTIATE_FAILED,
            table.INSTANTIATE_FAILED.pack(3, 1, 1, 0, 2**62, 5, 0, 1, 0, 0),
        ),
        (RecordType.CAPTURE_FAILED, table.CAPTURE_FAILED.pack(1, 3, 1, 1, 0, 0, 5, 2**62, 1, 1)),
        (
            RecordType.CAPTURE_ERROR,
            table.CAPTURE_ERROR.pack(1, 3, 1, 1, 0, 0, 5, 2**62, 1, 0, 1, 1, 1, 0, 0),
        ),
        (RecordType.LIFE, table.LIFE.pack(1, 1, 5, 6, 1, 0, 0, 0, 2**63, 0, 0)),
        node_record(1, 9, 1, source=2**63),
        node_record(1, 9, 1, destination=2**64 - 1),
        (RecordType.GRAPH_MEMORY, table.GRAPH_MEMORY.pack(2**62, 0, 1, 1, 1, 1)),
        (RecordType.GRAPH_MEMORY, table.GRAPH_MEMORY.pack(5, 0, 2**62, 1, 1, 1)),
        (RecordType.DEVICE_MEMORY, table.DEVICE_MEMORY.pack(5, 1, 2**62, 1)),
        (RecordType.DEVICE, table.DEVICE.pack(0, 9, 0, -1, 2048, 1, b"")),
        (RecordType.DEVICE, table.DEVICE.pack(0, 9, 0, 132, 2048, 2**62, b"")),
        (RecordType.NODE_TIMES, table.NODE_TIMES.pack(1, 5, 0, 1, 0, 2**62, 1)),
        (
            RecordType.NODE_TIMES,
            table.NODE_TIMES.pack(1, 5, 1, 1, 0, 5, 1) + table.NODE_TIME.pack(3, 1, 5, 2**62),
        ),
        *(
            (
                RecordType.NODE_TIMES,
                table.NODE_TIMES.pack(1, 5, 2, 1, 0, 5, 1)
                + b"".join(table.NODE_TIME.pack(3, 1, *times) for times in both),
            )
            for both in ([(5, 1), (2**62, 1)], [(5, 2**62), (5, 1)])
        ),
    ],
    ids=lambda record: f"{RecordType(record[0]).name} {record[1][:24]!r}",
)
def test_record_that_cannot_be_is_left_out_and_counted(
    fold_records: FoldRecords, record: tuple[int, bytes]
) -> None:
    name = RecordType(record[0]).name.lower().replace("_", " ")
    kind = "node time" if record[0] == RecordType.BUFFER else name
    recording = fold_records([*graph_records(3, 5, [KERNEL]), record, launch_record(5, 1, 1_000)])
    assert len(recording.fetch_graphs()) == 1
    (note,) = [note for note in recording.fetch_notes(1) if "unreadable" in note.text]
    assert note.text == f"the spool was damaged: 1 {kind} unreadable, left out"


@pytest.mark.parametrize("text", [b'"\\ud800"', b'"\\uD800"', b'"\xed\xa0\x80"', b'"\xff"'])
def test_text_that_has_no_encoding_is_stored_all_the_same(
    fold_records: FoldRecords, text: bytes
) -> None:
    recording = fold_records([(RecordType.META, b'{"command": ' + text + b', "libraries": null}')])
    (run,) = recording.fetch_runs()
    assert run.command


def nvtx_path(number: int, parent: int, text: bytes = b"\nrange") -> tuple[int, bytes]:
    return RecordType.NVTX_PATH, table.NVTX_PATH.pack(number, parent) + text


def test_ranges_without_a_record_or_inside_themselves_are_left_out(
    fold_records: FoldRecords,
) -> None:
    recording = fold_records(
        [
            nvtx_path(0, 0),
            nvtx_path(1, 1),
            nvtx_path(2, 3),
            nvtx_path(3, 2),
            nvtx_path(4, 99),
            (RecordType.NVTX_RANGE, table.NVTX_RANGE.pack(3, 1, 5, 6)),
            (RecordType.NVTX_RANGE, table.NVTX_RANGE.pack(77, 1, 5, 6)),
        ]
    )
    paths = recording.fetch_nvtx_paths(1)
    assert {number: path.parent_id for number, path in paths.items()} == {
        1: None,
        2: None,
        3: 2,
        4: None,
    }
    assert [found.nvtx_path_id for found in recording.fetch_nvtx_ranges(1)] == [3]


def test_level_that_is_reported_twice_of_an_executable_is_one(fold_records: FoldRecords) -> None:
    level = graph_records(3, 5, [KERNEL, KERNEL], [(0, 1)])
    recording = fold_records([*level, level[0], launch_record(5, 1, 1_000)])
    assert len(recording.fetch_graphs()) == 1


def test_graph_with_a_cycle_takes_no_stream_operations(fold_records: FoldRecords) -> None:
    operations = buffer([work(0, 0, at, 1_000 + 100 * at) for at in range(1, 5)])
    recording = fold_records(
        [
            *graph_records(3, 5, [KERNEL, KERNEL], [(0, 1), (1, 0)]),
            (RecordType.BUFFER, operations),
        ]
    )
    assert recording.count_launches(1, "stream") == (0, 0)


CHILD_GRAPH = 4


@pytest.mark.parametrize(
    "parents",
    [{7: 7}, {7: 8, 8: 7}, {3: 3}, {3: 7, 7: 3}, {7 + at: 6 + at for at in range(1, 2_000)}],
    ids=["itself", "two", "the top", "the top and one", "too deep"],
)
def test_levels_that_contain_themselves_are_left_out(
    fold_records: FoldRecords, parents: dict[int, int]
) -> None:
    records = graph_records(3, 5, [CHILD_GRAPH], parent=(parents.get(3, 0), 0))
    for level, parent in parents.items():
        if level != 3:
            records += graph_records(level, 5, [CHILD_GRAPH], parent=(parent, 0))
    recording = fold_records([*records, *graph_records(9000, 6, [KERNEL])])
    assert 9000 in {graph.cuda_graph_id for graph in recording.fetch_graphs()}
    assert any("graph" in n.text and "unreadable" in n.text for n in recording.fetch_notes(1))


def test_node_and_edge_that_are_there_twice_are_one(fold_records: FoldRecords) -> None:
    records = graph_records(3, 5, [KERNEL, KERNEL], [(0, 1), (0, 1)])
    node = next(record for record in records if record[0] == RecordType.NODE)
    recording = fold_records([*records, node])
    (graph,) = recording.fetch_graphs()
    assert len(recording.fetch_nodes(graph.graph_id)) == 2
    (note,) = [note for note in recording.fetch_notes(1) if "unreadable" in note.text]
    assert note.text == "the spool was damaged: 1 edge unreadable, left out"


def test_update_times_whose_sum_is_out_of_range_are_refused(tmp_path: Path) -> None:
    update = RecordType.UPDATES, table.UPDATES.pack(5, 1, 1, 0, 0, 1, 1, 3, 5, 5, 2**60)
    spool = write_spool(tmp_path / "x.gviz-spool", [*graph_records(3, 5, [KERNEL]), *[update] * 3])
    contents = read_contents(spool)
    with pytest.raises(RecordingError, match=r"graph_update\.total_ns holds \d+, which cannot be"):
        fold(contents, spool, tmp_path / "x.gviz")
