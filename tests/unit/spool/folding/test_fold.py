"""Folding the spool that a killed program left, and what a recording says of its run."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from spool_writing import SpoolWriter, graph_records, write_spool

from gviz.errors import RecordingError, SpoolError
from gviz.recording.reader import Recording
from gviz.spool.folding.recording_fold import fold, read_contents
from gviz.spool.processes.left_over import fold_left_over
from gviz.spool.records import format as f
from gviz.spool.records import table
from gviz.spool.records.ending import LEFT_WITH, mark_terminated
from gviz.spool.records.format import RecordType


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    """A spool that its program did not close."""
    return write_spool(tmp_path / "run.gviz-spool", graph_records(1, 2, [0]), ended=False)


def test_left_over_spool_becomes_an_aborted_recording_and_is_removed(spool: Path) -> None:
    output = fold_left_over(spool)
    assert output == spool.parent / "run.gviz"
    assert not spool.exists()
    with Recording(output) as recording:
        (run,) = recording.fetch_runs()
        assert (run.state, run.name, run.ended_ns) == ("aborted", "test", None)
        assert len(recording.fetch_graphs()) == 1
        assert any("without closing" in note.text for note in recording.fetch_notes(1))


@pytest.mark.parametrize(
    ("left_with", "is_terminated", "state", "kind"),
    [
        (0, False, "completed", "limit"),
        (7, False, "aborted", "warning"),
        (None, True, "completed", "limit"),
    ],
)
def test_process_that_ended_well_without_closing_is_not_aborted(
    tmp_path: Path, left_with: int | None, is_terminated: bool, state: str, kind: str
) -> None:
    spool = tmp_path / "run.gviz-spool" / "4711-12"
    spool.parent.mkdir()
    records = graph_records(1, 2, [0])
    if left_with is not None:
        records.append((RecordType.META, json.dumps({LEFT_WITH: left_with}).encode()))
    write_spool(spool, records, ended=False)
    if is_terminated:
        mark_terminated(spool.parent, 47)
        mark_terminated(spool.parent, 4711)
    fold(read_contents(spool), spool, tmp_path / "run.gviz")
    with Recording(tmp_path / "run.gviz") as recording:
        assert recording.fetch_runs()[0].state == state
        (note,) = (n for n in recording.fetch_notes(1) if "without closing" in n.text)
        assert note.kind == kind


def test_left_over_spool_is_found_by_the_recordings_name(spool: Path) -> None:
    assert fold_left_over(spool.parent / "run.gviz").exists()


def test_closed_spool_becomes_a_completed_recording(tmp_path: Path) -> None:
    write_spool(tmp_path / "run.gviz-spool", [])
    with Recording(fold_left_over(tmp_path / "run.gviz")) as recording:
        assert recording.fetch_runs()[0].state == "completed"


def test_spool_is_kept_when_requested(spool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GVIZ_KEEP_SPOOL", "1")
    fold_left_over(spool)
    assert spool.exists()


def test_nothing_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SpoolError, match=r"there is no spool .*run\.gviz-spool"):
        fold_left_over(tmp_path / "run.gviz")


def test_directory_of_another_name_is_no_spool(tmp_path: Path) -> None:
    with pytest.raises(SpoolError, match="does not end in -spool"):
        fold_left_over(tmp_path)


def test_spool_without_records_is_an_error(tmp_path: Path) -> None:
    SpoolWriter(tmp_path / "run.gviz-spool")
    with pytest.raises(SpoolError, match="holds no records of gviz; remove it"):
        fold_left_over(tmp_path / "run.gviz")
    assert (tmp_path / "run.gviz-spool").exists()


def test_existing_recording_is_not_replaced(spool: Path) -> None:
    (spool.parent / "run.gviz").write_text("precious")
    with pytest.raises(RecordingError, match="exists"):
        fold_left_over(spool)
    assert (spool.parent / "run.gviz").read_text() == "precious"
    assert spool.exists()


def test_damaged_spool_gives_a_recording_that_says_so(tmp_path: Path) -> None:
    spool = write_spool(tmp_path / "run.gviz-spool", [(RecordType.LAUNCH, b"short")])
    with Recording(fold_left_over(spool)) as recording:
        notes = [note.text for note in recording.fetch_notes(1)]
    assert "the spool was damaged: 1 launch unreadable, left out" in notes


def spool_of(tmp_path: Path, process_id: int, host: str, *, ended: bool) -> Path:
    writer = SpoolWriter(tmp_path / "run.gviz-spool")
    meta = {"name": "test", "process_id": process_id, "host": host}
    writer.append(RecordType.META, json.dumps(meta).encode())
    if ended:
        writer.append(RecordType.END, b"")
    return writer.directory


def test_spool_of_a_running_program_is_left_alone(tmp_path: Path) -> None:
    spool = spool_of(tmp_path, os.getpid(), socket.gethostname(), ended=False)
    with pytest.raises(SpoolError, match=f"process {os.getpid()}, which is still running"):
        fold_left_over(spool)
    assert spool.exists()


@pytest.mark.parametrize("where", ["closed", "elsewhere", "ended"])
def test_process_that_no_longer_appends_does_not_hinder(tmp_path: Path, where: str) -> None:
    process, host = os.getpid(), socket.gethostname()
    if where == "elsewhere":  # the same number on another machine is another process
        host = "elsewhere.invalid"
    if where == "ended":
        child = subprocess.Popen([sys.executable, "-c", ""])
        child.wait()
        process = child.pid
    fold_left_over(spool_of(tmp_path, process, host, ended=where == "closed"))
    assert (tmp_path / "run.gviz").exists()


def test_zombie_is_not_running(tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.read()  # its end: the child is about to end
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    try:
        fold_left_over(spool_of(tmp_path, child.pid, socket.gethostname(), ended=False))
    finally:
        child.communicate()
    assert (tmp_path / "run.gviz").exists()


# -- what a recording says of its run -----------------------------------------------------------


def folded(tmp_path: Path, *records: tuple[int, bytes]) -> Recording:
    spool = write_spool(tmp_path / "run.gviz-spool", records)
    return Recording(fold(read_contents(spool), spool, tmp_path / "run.gviz"))


def test_windows_are_numbered_and_the_last_may_be_open(tmp_path: Path) -> None:
    times = [(100, 1, 1), (200, 0, 0), (300, 1, 2)]
    with folded(
        tmp_path, *((RecordType.WINDOW, table.WINDOW.pack(*t)) for t in times)
    ) as recording:
        windows = recording.fetch_windows(1)
    assert [(w.window_id, w.start_ns, w.end_ns, w.reason) for w in windows] == [
        (0, 100, 200, "eager"),
        (1, 300, None, "launches"),
    ]


def test_probe_of_the_hooks_is_no_range(tmp_path: Path) -> None:
    records = [
        (RecordType.NVTX_PATH, table.NVTX_PATH.pack(1, 0) + f"\n{f.PROBE_TEXT}".encode()),
        (RecordType.NVTX_PATH, table.NVTX_PATH.pack(2, 0) + b"domain\nouter"),
        (RecordType.NVTX_PATH, table.NVTX_PATH.pack(3, 2) + b"domain\ninner"),
        (RecordType.NVTX_RANGE, table.NVTX_RANGE.pack(1, 7, 1, 2)),
        (RecordType.NVTX_RANGE, table.NVTX_RANGE.pack(3, 7, 10, 20)),
    ]
    with folded(tmp_path, *records) as recording:
        paths = recording.fetch_nvtx_paths(1)
        (span,) = recording.fetch_nvtx_ranges(1)
    assert {i: (p.parent_id, p.domain, p.text) for i, p in paths.items()} == {
        2: (None, "domain", "outer"),
        3: (2, "domain", "inner"),
    }
    assert (span.nvtx_path_id, span.start_ns, span.end_ns) == (3, 10, 20)


def test_device_is_stored_as_the_driver_names_it(tmp_path: Path) -> None:
    device = table.DEVICE.pack(0, 9, 0, 132, 2048, 80 << 30, b"0000:1b:00.0") + b"NVIDIA H100"
    with folded(tmp_path, (RecordType.DEVICE, device)) as recording:
        (row,) = recording.fetch_devices(1)
    assert (row.name, row.compute_capability, row.multiprocessor_count) == (
        "NVIDIA H100",
        "9.0",
        132,
    )
    assert (row.pci_bus_id, row.memory_bytes) == ("0000:1b:00.0", 80 << 30)


def test_program_without_cuda_is_reported_so(tmp_path: Path) -> None:
    with folded(tmp_path) as recording:
        (run,) = recording.fetch_runs()
        assert run.collector is None
        assert any("did not initialise CUDA" in n.text for n in recording.fetch_notes(1))
