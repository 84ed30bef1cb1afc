"""Recordings of programs that still run, and which spools are left over."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from live_spool import NODES, LiveProgram

from gviz.cli.recording_path import find_recording, find_source
from gviz.errors import SpoolError
from gviz.recording.reader import Recording
from gviz.spool.processes import snapshot_process
from gviz.spool.processes.all_processes import JobSpools
from gviz.spool.processes.attended import attend, is_attended
from gviz.spool.processes.left_over import StillRunningError
from gviz.spool.processes.snapshot import Snapshots

_TIMEOUT_S = 120


@pytest.fixture
def program(tmp_path: Path) -> LiveProgram:
    return LiveProgram(tmp_path / "x.gviz")


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "snapshot.gviz"


def reported(output: Path) -> tuple[str, int, int]:
    """Return state of the run, its graphs, and the launches of the first."""
    with Recording(output) as recording:
        (run,) = recording.fetch_runs()
        graphs = recording.fetch_graphs()
        launches = len(recording.fetch_launches(1)) if graphs else 0
        return run.state, len(graphs), launches


def test_snapshots_follow_the_program(program: LiveProgram, output: Path) -> None:
    snapshots = Snapshots(program.spool, output)
    assert snapshots.take().written
    assert reported(output) == ("recording", 0, 0)
    program.instantiate()
    program.launch(2)
    assert snapshots.take().written
    assert reported(output) == ("recording", 1, 2)
    program.launch(3)
    answer = snapshots.take()
    assert (answer.written, answer.is_over) == (True, False)
    assert reported(output) == ("recording", 1, 5)
    program.end()
    answer = snapshots.take()
    assert (answer.written, answer.is_over) == (True, True)
    assert reported(output) == ("completed", 1, 5)


def test_snapshot_is_what_the_recording_becomes(program: LiveProgram, output: Path) -> None:
    program.instantiate()
    snapshots = Snapshots(program.spool, output)
    for _ in range(3):
        program.launch(2)
        snapshots.take()
    program.end()
    snapshots.take()
    job = JobSpools(program.spool)
    job.read()
    job.write(program.recording)
    with Recording(output) as early, Recording(program.recording) as final:
        assert early.fetch_graphs() == final.fetch_graphs()
        assert early.fetch_nodes(1) == final.fetch_nodes(1)
        assert early.fetch_launches(1) == final.fetch_launches(1)
        assert early.fetch_statistics(1) == final.fetch_statistics(1)
        assert early.fetch_notes(1) == final.fetch_notes(1)
        assert early.fetch_measurements(1) == final.fetch_measurements(1)
        assert len(early.fetch_graph_spans(1)) == 6 * NODES


def test_nothing_new_is_not_written_again(program: LiveProgram, output: Path) -> None:
    snapshots = Snapshots(program.spool, output)
    snapshots.take()
    before = output.stat().st_mtime_ns
    answer = snapshots.take()
    assert (answer.written, answer.is_over) == (False, False)
    assert output.stat().st_mtime_ns == before


def test_spool_is_left_as_it_is(program: LiveProgram, output: Path) -> None:
    program.instantiate()
    program.launch()
    before = {p.name: p.read_bytes() for p in program.spool.iterdir()}
    Snapshots(program.spool, output).take()
    assert {p.name: p.read_bytes() for p in program.spool.iterdir()} == before
    assert [p.name for p in output.parent.iterdir() if p != program.spool] == [output.name]


def test_growing_run_says_so_and_does_not_complain_of_a_lost_end(
    program: LiveProgram, output: Path
) -> None:
    program.instantiate()
    program.launch()
    Snapshots(program.spool, output).take()
    with Recording(output) as recording:
        notes = [n.text for n in recording.fetch_notes(1)]
        measured = {m.name for m in recording.fetch_measurements(1)}
    assert any("still being recorded" in text for text in notes)
    assert not any("without closing" in text for text in notes)
    assert "lost_tail_ns" not in measured


def test_empty_spool_has_no_snapshot_and_ends_when_nobody_attends(
    tmp_path: Path, output: Path
) -> None:
    spool = tmp_path / "y.gviz-spool"
    spool.mkdir()
    snapshots = Snapshots(spool, output)
    with Attending(spool):
        answer = snapshots.take()
        assert (answer.written, answer.is_over, answer.failure) == (False, False, "")
    assert snapshots.take().is_over
    assert not output.exists()


def test_damaged_spool_is_a_sentence(program: LiveProgram, output: Path) -> None:
    with (program.spool / "000000.segment").open("r+b") as file:
        file.write(b"GARBAGE!" * 100)
    answer = Snapshots(program.spool, output).take()
    assert not answer.written


# -- as a process ------------------------------------------------------------------------


@pytest.fixture
def process(program: LiveProgram, output: Path) -> Iterator[subprocess.Popen[str]]:
    command = [
        sys.executable,
        "-P",
        "-m",
        "gviz.spool.processes.snapshot",
        str(program.spool),
        str(output),
    ]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        yield running


def request(process: subprocess.Popen[str]) -> dict[str, object]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    found: dict[str, object] = json.loads(process.stdout.readline())
    return found


def test_process_answers_line_by_line_and_ends_with_its_input(
    process: subprocess.Popen[str], program: LiveProgram, output: Path
) -> None:
    assert request(process) == {"written": True, "is_over": False, "failure": ""}
    program.instantiate()
    assert request(process)["written"]
    assert reported(output)[1] == 1
    out, err = process.communicate(timeout=_TIMEOUT_S)
    assert (process.returncode, out, err) == (0, "", "")


def test_process_says_when_the_spool_was_taken_away(
    process: subprocess.Popen[str], program: LiveProgram
) -> None:
    request(process)
    for segment in program.spool.iterdir():
        segment.unlink()
    program.spool.rmdir()
    answer = request(process)
    assert answer["is_over"]
    assert not answer["written"]
    _, err = process.communicate(timeout=_TIMEOUT_S)
    assert err == ""


# -- which spools are left over ----------------------------------------------------------


class Attending:
    """Another process that attends a spool."""

    def __init__(self, spool: Path) -> None:
        text = (
            "import sys, pathlib; from gviz.spool.processes.attended import attend\n"
            "with attend(pathlib.Path(sys.argv[1])): print('here', flush=True); sys.stdin.read()"
        )
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", text, str(spool)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> subprocess.Popen[str]:
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "here\n"
        return self._process

    def __exit__(self, *_: object) -> None:
        self._process.communicate()


def test_spool_is_attended_by_another_process_until_it_ends(tmp_path: Path) -> None:
    assert not is_attended(tmp_path)
    with Attending(tmp_path) as other:
        assert is_attended(tmp_path)
        other.kill()
        other.wait()
        assert not is_attended(tmp_path)
    assert not is_attended(tmp_path / "absent")


def test_attending_releases_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), attend(tmp_path):
        raise ZeroDivisionError
    assert not is_attended(tmp_path)


def test_running_program_is_viewed_but_not_folded(program: LiveProgram) -> None:
    program.instantiate()
    for path in (program.spool, program.recording):
        with pytest.raises(StillRunningError, match="still running") as caught:
            find_recording(path)
        assert f"'gviz view {program.spool}' shows what there is so far" in str(caught.value)
        assert find_source(path) == program.spool
    assert program.spool.is_dir()


def test_program_that_has_not_used_cuda_yet_is_viewed(tmp_path: Path) -> None:
    spool = tmp_path / "x.gviz-spool"
    spool.mkdir()
    with Attending(spool):
        with pytest.raises(StillRunningError, match="waits for its program to use CUDA"):
            find_recording(spool)
        assert find_source(tmp_path / "x.gviz") == spool
    with pytest.raises(SpoolError, match="holds no records"):
        find_source(spool)


def test_ended_program_that_is_being_folded_is_not_folded_twice(program: LiveProgram) -> None:
    program.end()
    with Attending(program.spool):
        assert find_source(program.recording) == program.spool
    assert find_source(program.recording) == program.recording
    assert not program.spool.exists()


@pytest.mark.parametrize(
    ("code", "patience_s", "failure"),
    [
        ("import time; time.sleep(60)", 0.2, "came within 200 ms: look whether its disk answers"),
        ("input()", 60.0, "has ended: open it again"),
    ],
    ids=["hangs", "ends"],
)
def test_process_that_makes_no_snapshot_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, patience_s: float, failure: str
) -> None:
    monkeypatch.setattr(snapshot_process, "own_command", lambda *_: [sys.executable, "-c", code])
    with (
        snapshot_process.SnapshotProcess(tmp_path / "x.gviz-spool", tmp_path / "x") as process,
        pytest.raises(SpoolError, match=failure),
    ):
        process.request(patience_s)
    assert process._process.returncode is not None


def test_process_that_hangs_is_not_awaited_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import time; time.sleep(60)"
    monkeypatch.setattr(snapshot_process, "own_command", lambda *_: [sys.executable, "-c", code])
    monkeypatch.setattr(snapshot_process, "_END_S", 0.2)
    with snapshot_process.SnapshotProcess(tmp_path / "x.gviz-spool", tmp_path / "x") as process:
        pass
    assert process._process.wait(10) == -signal.SIGKILL
