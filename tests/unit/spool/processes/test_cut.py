"""A spool cut at any byte: nothing crashes, and what is before the cut is kept."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from spool_writing import buffer, graph_records, launch_record, work, write_spool

from gviz.recording.reader import Recording
from gviz.spool.folding.recording_fold import read_contents
from gviz.spool.processes.left_over import fold_left_over
from gviz.spool.records import format as f
from gviz.spool.records import table
from gviz.spool.records.format import RecordType
from gviz.spool.records.reader import Record, SpoolReader

EXEC = 5
RECORDS = [
    (RecordType.DEVICE, table.DEVICE.pack(0, 9, 0, 132, 2048, 80 << 30, b"0000:01:00.0") + b"GPU"),
    *graph_records(1, EXEC, [0, 0, 2], [(0, 1), (1, 2)]),
    launch_record(EXEC, 77, 1000),
    (RecordType.BUFFER, buffer([work(EXEC, 0, 77, 1100), work(EXEC, 1, 77, 1200)])),
    launch_record(EXEC, 78, 2000),
    (RecordType.BUFFER, buffer([work(EXEC, 0, 78, 2100), work(EXEC, 1, 78, 2200)])),
    (RecordType.NOTE, b"limit\nthe last"),
]


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    return write_spool(tmp_path / "run.gviz-spool", RECORDS)


def _cut(spool: Path, folder: Path, size: int) -> Path:
    copy = folder / f"{size}.gviz-spool"
    copy.mkdir()
    content = (spool / "000000.segment").read_bytes()
    (copy / "000000.segment").write_bytes(content[:size])
    return copy


def _ends(spool: Path) -> list[tuple[int, Record]]:
    """Return each record with the size of file that holds it whole."""
    at, found = table.SEGMENT_HEADER.size, []
    for record in SpoolReader(spool).records():
        at += table.RECORD_HEADER.size + len(record.payload)
        found.append((at, record))
        at = (at + 7) & ~7
    return found


def test_every_cut_keeps_the_whole_records_before_it(spool: Path, tmp_path: Path) -> None:
    ends = _ends(spool)
    size = (spool / "000000.segment").stat().st_size
    assert ends[-1][0] <= size
    for cut in range(size + 1):
        copy = _cut(spool, tmp_path, cut)
        kept = list(SpoolReader(copy).records())
        assert kept == [record for end, record in ends if end <= cut], f"cut at {cut}"
        shutil.rmtree(copy)


def test_every_cut_folds(spool: Path, tmp_path: Path) -> None:
    size = (spool / "000000.segment").stat().st_size
    ends = _ends(spool)
    first = ends[0][0]
    beside = sorted({cut for end, _ in ends for cut in (end - 1, end, end + 1)})
    for cut in [c for c in beside if first <= c <= size]:
        output = fold_left_over(_cut(spool, tmp_path, cut))
        whole = [record.type for end, record in ends if end <= cut]
        with Recording(output) as recording:
            (run,) = recording.fetch_runs()
            assert run.state == ("completed" if RecordType.END in whole else "aborted")
            assert len(recording.fetch_devices(1)) == whole.count(RecordType.DEVICE)
            graphs = recording.fetch_graphs()
            assert len(graphs) >= min(1, whole.count(RecordType.GRAPH))
            for graph in graphs:
                launches = recording.fetch_launches(graph.graph_id)
                assert len(launches) >= whole.count(RecordType.LAUNCH)
        output.unlink()


def test_cut_segment_before_another_is_no_crash(tmp_path: Path) -> None:
    directory = tmp_path / "run.gviz-spool"
    records = [(RecordType.NOTE, b"limit\n" + bytes([65 + i]) * 40) for i in range(9)]
    write_spool(directory, records)
    content = (directory / "000000.segment").read_bytes()
    header = table.SEGMENT_HEADER.pack(f.MAGIC, f.VERSION, 1, len(content), len(content), 1)
    (directory / "000001.segment").write_bytes(header + content[table.SEGMENT_HEADER.size :])
    for cut in range(len(content) - 200, len(content)):
        (directory / "000000.segment").write_bytes(content[:cut])
        contents = read_contents(directory)
        assert len(contents.notes) >= 9 + 4
        assert contents.ended


def test_texts_that_are_no_unicode_can_be_stored(tmp_path: Path) -> None:
    spool = write_spool(
        tmp_path / "run.gviz-spool",
        [
            (RecordType.META, b'{"command": "./a \\udcff.py", "libraries": {"\\udc80": "1"}}'),
            (RecordType.STACK, b'[1, [["/tmp/\\udcfe.py", 3, "f", null]]]'),
            (RecordType.NVTX_PATH, table.NVTX_PATH.pack(1, 0) + b"\xff\n\xfe\x00"),
            (RecordType.NOTE, b"limit\n\xff"),
            (RecordType.META, b'{"name": "smile \\ud83d\\ude00"}'),
        ],
    )
    with Recording(fold_left_over(spool)) as recording:
        (run,) = recording.fetch_runs()
        assert run.command == "./a \\udcff.py"
        assert run.name == "smile \N{GRINNING FACE}"
        assert recording.fetch_libraries(1)[0].name == "\\udc80"
        assert recording.fetch_stack(1)[0].file == "/tmp/\\udcfe.py"
        assert [p.text for p in recording.fetch_nvtx_paths(1).values()] == [
            "\N{REPLACEMENT CHARACTER}\0"
        ]
