"""The spools of a job: which process still writes, how they become one recording."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from ended_processes import started, tells_ends
from spool_writing import SpoolWriter, graph_records, name_records

from gviz.errors import SpoolError
from gviz.recording.reader import Recording
from gviz.spool.processes import left_over
from gviz.spool.processes.all_processes import JobSpools
from gviz.spool.processes.left_over import add_left_over, fold_left_over
from gviz.spool.processes.owner import OwnerEnd, SpoolOwner
from gviz.spool.records.format import RecordType
from gviz.system.progress import Progress

#: Above what Linux gives out (PID_MAX_LIMIT, 2^22): no process of this machine.
A, B, C = 5_000_010, 5_000_020, 5_000_030


@pytest.fixture
def running() -> Iterator[int]:
    """A process that runs until the test ends."""
    command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    child = subprocess.Popen(command, stdin=subprocess.PIPE)
    yield child.pid
    child.communicate()


def start_ticks(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19])


def ended_process() -> int:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def write(
    directory: Path,
    process: int,
    *,
    started: int = 1,
    start: int = 0,
    ended: bool = True,
    cuda: bool = True,
    **reported: object,
) -> SpoolWriter:
    """Write a process's spool with a graph, as the native library does."""
    directory.parent.mkdir(exist_ok=True)
    if directory.exists():  # the job's directory: the first process writes at its top
        aside = directory.with_name("aside")
        writer = SpoolWriter(aside)
        writer.path.rename(directory / writer.path.name)
        aside.rmdir()
        writer.directory = directory
    else:
        writer = SpoolWriter(directory)
    meta = {"name": "train", "process_id": process, "host": socket.gethostname()}
    meta |= {"started_ns": started, **reported}
    writer.append(RecordType.META, json.dumps(meta).encode())
    if cuda:
        for kind, payload in [*name_records(), *graph_records(1, 2, [0])]:
            writer.append(kind, payload)
    if ended:
        writer.append(RecordType.END, b"")
    writer.give_to(process, start)
    return writer


def read(job: Path) -> JobSpools:
    found = JobSpools(job)
    found.read()
    return found


def names(output: Path) -> list[str]:
    with Recording(output) as recording:
        return [run.name for run in recording.fetch_runs()]


@pytest.fixture
def job(tmp_path: Path) -> Path:
    directory = tmp_path / "x.gviz-spool"
    directory.mkdir()
    return directory


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "x.gviz"


def test_of_a_job_without_a_process_there_is_no_snapshot(job: Path, output: Path) -> None:
    assert read(job).snapshot(output) is False
    assert not output.exists()


class TestOwner:
    def test_running_process_is_known_by_its_start(self, running: int) -> None:
        assert SpoolOwner(running, start_ticks(running)).is_running()
        assert SpoolOwner(running).is_running()

    def test_other_process_of_the_same_number_is_another(self, running: int) -> None:
        assert not SpoolOwner(running, start_ticks(running) - 1).is_running()

    def test_ended_process_is_not_running(self) -> None:
        assert not SpoolOwner(ended_process()).is_running()

    @pytest.mark.parametrize(
        ("code", "expected"),
        [("os._exit(7)", 7), ("pass", 0), ("os.kill(os.getpid(), 9)", 128 + signal.SIGKILL)],
    )
    def test_end_of_another_process_is_known(self, code: str, expected: int) -> None:
        child = started(code)
        owner = SpoolOwner(child.pid, start_ticks(child.pid))
        end = OwnerEnd(owner)
        assert end.exit_code() is None  # it runs
        child.stdin.close()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert end.exit_code() == expected  # nobody has waited for it
        child.wait()
        assert end.exit_code() == (expected if tells_ends() else None)
        assert OwnerEnd(owner).exit_code() is None  # seen too late

    def test_end_of_a_number_used_again_is_not_taken(self) -> None:
        child = started("os._exit(7)")
        end = OwnerEnd(SpoolOwner(child.pid, start_ticks(child.pid) - 1))
        child.communicate()
        assert end.exit_code() is None

    def test_spool_of_a_number_used_again_is_folded(
        self, job: Path, output: Path, running: int
    ) -> None:
        write(job / "a", running, start=start_ticks(running) - 1, ended=False)
        fold_left_over(job)
        assert names(output) == ["train"]

    def test_spool_of_a_running_process_is_refused(self, job: Path, running: int) -> None:
        write(job / "a", running, start=start_ticks(running), ended=False)
        with pytest.raises(SpoolError, match=f"process {running}, which is still running"):
            fold_left_over(job)

    def test_process_that_replaced_itself_is_over(self, job: Path, running: int) -> None:
        ticks = start_ticks(running)
        write(job / "a", running, start=ticks, ended=False, started=1)
        write(job / "b", running, start=ticks, ended=False, started=2)
        assert [p.directory.name for p in read(job).growing()] == ["b"]


class TestRecording:
    def test_ranks_are_runs_in_order_and_the_launcher_is_none(
        self, job: Path, output: Path
    ) -> None:
        write(job, A, cuda=False)
        write(job / "30-1", C, rank=1, started=2)
        write(job / "20-1", B, rank=0, started=3)
        assert read(job).write(output)
        assert names(output) == ["train rank 0", "train rank 1"]
        assert not job.exists()

    def test_children_without_rank_are_named_by_process(self, job: Path, output: Path) -> None:
        write(job, A)
        write(job / "30-1", C, started=2)
        assert read(job).write(output, main=A, exit_code=3)
        assert names(output) == ["train", f"train pid {C}"]
        with Recording(output) as recording:
            assert [run.exit_code for run in recording.fetch_runs()] == [3, None]
            assert [len(recording.fetch_graphs(i)) for i in (1, 2)] == [1, 1]

    def test_children_of_a_rank_are_distinguished(self, job: Path, output: Path) -> None:
        write(job / "30-1", C, rank=0, started=1)
        write(job / "31-1", B, rank=0, started=2)
        assert read(job).write(output)
        assert names(output) == [f"train rank 0 pid {C}", f"train rank 0 pid {B}"]

    def test_only_child_keeps_the_name(self, job: Path, output: Path) -> None:
        write(job / "30-1", C)
        assert read(job).write(output)
        assert names(output) == ["train"]

    def test_program_without_cuda_is_one_run_that_says_so(self, job: Path, output: Path) -> None:
        write(job, A, cuda=False)
        assert read(job).write(output)
        with Recording(output) as recording:
            assert any("did not initialise" in n.text for n in recording.fetch_notes(1))

    def test_job_without_spools_writes_nothing(self, job: Path, output: Path) -> None:
        found = read(job)
        assert not found.write(output)
        found.discard()
        assert not output.exists()
        assert not job.exists()

    def test_spool_of_another_format_among_others_is_noted_and_kept(
        self, job: Path, output: Path
    ) -> None:
        write(job, A)
        other = write(job / "30-1", C, ended=False).path
        data = bytearray(other.read_bytes())
        data[8:12] = (99).to_bytes(4, "little")  # the format's version
        other.write_bytes(data)
        assert read(job).write(output)
        assert names(output) == ["train"]
        with Recording(output) as recording:
            assert any(f"process {C} is not in" in n.text for n in recording.fetch_notes(1))
        assert (job / "30-1").exists()

    def test_running_process_is_left_and_added_later(self, job: Path, output: Path) -> None:
        command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
        child = subprocess.Popen(command, stdin=subprocess.PIPE)
        ticks = start_ticks(child.pid)
        write(job, A)
        write(job / "late", child.pid, start=ticks, ended=False, started=2)
        assert read(job).write(output)
        assert names(output) == ["train"]
        assert os.listdir(job / "late") == ["000000.segment"]
        add_left_over(output)
        assert names(output) == ["train"]
        child.communicate()
        add_left_over(output)
        assert names(output) == ["train", f"train pid {child.pid}"]
        assert not job.exists()

    def test_process_that_has_just_begun_is_not_taken_away(
        self, job: Path, output: Path, running: int
    ) -> None:
        write(job, A)
        found = read(job)
        (job / "late").mkdir()  # after the last look
        new = job / f"{running}-1"
        new.mkdir()
        (new / "000000.segment").write_bytes(bytes(1 << 12))  # no header yet
        assert found.write(output)
        assert sorted(os.listdir(job)) == sorted(["late", "recorded", new.name])
        assert [p.directory for p in read(job).growing()] == [new]

    def test_left_over_beside_another_recording_is_not_added_to_it(
        self, job: Path, output: Path
    ) -> None:
        write(job / "30-1", C)
        output.write_text("precious")
        add_left_over(output)
        assert output.read_text() == "precious"
        assert (job / "30-1").exists()

    @pytest.mark.parametrize("name", ["000000.segment", "graph_1.dot"])
    def test_pipe_in_a_spool_keeps_no_reader(self, job: Path, name: str) -> None:
        write(job, A)
        (job / name).unlink(missing_ok=True)
        os.mkfifo(job / name)
        with pytest.raises(SpoolError, match=f"{name} is a pipe or a device"):
            fold_left_over(job)

    def test_progress_of_a_left_over_only_grows(self, job: Path, output: Path) -> None:
        write(job, A)
        shares: list[float] = []
        fold_left_over(job, Progress(lambda share, _: shares.append(share)))
        assert output.exists()
        assert shares == sorted(shares)
        assert shares[0] == 0.0

    def test_spools_that_appear_between_two_reads_are_read(self, job: Path) -> None:
        write(job, A)
        found = read(job)
        write(job / "30-1", C, started=2)
        found.read()
        assert len(found.processes) == 2


@pytest.mark.parametrize("is_written", [True, False])
def test_spool_whose_writer_ends_while_it_is_read_is_no_fault(
    job: Path, output: Path, monkeypatch: pytest.MonkeyPatch, is_written: bool
) -> None:
    write(job, ended_process())

    def end_writer(spool: Path) -> bool:
        if is_written:
            read(spool).write(output)
        else:
            shutil.rmtree(spool)
        return False

    monkeypatch.setattr(left_over, "is_attended", end_writer)
    if is_written:
        assert fold_left_over(job) == output
        assert names(output) == ["train"]
    else:
        with pytest.raises(SpoolError, match="was removed while it was read"):
            fold_left_over(job)
