"""The writer process: when it ends, and what it leaves."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from spool_writing import SpoolWriter, graph_records, name_records

from gviz.errors import RecordingError
from gviz.recording.reader import Recording
from gviz.spool.processes.follow import follow
from gviz.spool.records.format import RecordType

_TIMEOUT_S = 120


@pytest.fixture
def writer(tmp_path: Path) -> SpoolWriter:
    writer = SpoolWriter(tmp_path / "run.gviz-spool")
    writer.append(RecordType.META, b'{"name": "test"}')
    return writer


def state(output: Path) -> tuple[str, int]:
    with Recording(output) as recording:
        return recording.fetch_runs()[0].state, len(recording.fetch_graphs())


def append_graph(writer: SpoolWriter) -> None:
    for kind, payload in [*name_records(), *graph_records(1, 2, [0])]:
        writer.append(kind, payload)


def never() -> bool:
    return False


def test_closed_spool_ends_the_following(writer: SpoolWriter, tmp_path: Path) -> None:
    append_graph(writer)
    writer.append(RecordType.END, b"")
    output = tmp_path / "run.gviz"
    follow(writer.directory, output, overwrite=False, watched=os.getppid(), end_requested=never)
    assert state(output) == ("completed", 1)
    assert not writer.directory.exists()


@pytest.mark.parametrize("ending", ["closed", "gone", "end_requested"])
def test_following_reads_what_is_appended_until_the_end(
    writer: SpoolWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    """The program's work between two looks happens here in the pause between them."""
    pauses: list[float] = []
    parent = os.getppid()

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:
            append_graph(writer)
        if len(pauses) == 3 and ending == "closed":
            writer.append(RecordType.END, b"")

    monkeypatch.setattr(time, "sleep", pause)
    monkeypatch.setattr(
        os, "getppid", lambda: parent + 1 if len(pauses) >= 3 and ending == "gone" else parent
    )
    output = tmp_path / "run.gviz"
    follow(
        writer.directory,
        output,
        overwrite=False,
        watched=parent,
        end_requested=lambda: len(pauses) >= 3 and ending == "end_requested",
    )
    assert state(output) == ("completed" if ending == "closed" else "aborted", 1)
    assert len(pauses) == 3


def test_existing_recording_is_kept_and_so_is_the_spool(
    writer: SpoolWriter, tmp_path: Path
) -> None:
    writer.append(RecordType.END, b"")
    output = tmp_path / "run.gviz"
    output.write_text("precious")
    with pytest.raises(RecordingError, match="exists"):
        follow(writer.directory, output, overwrite=False, watched=os.getppid(), end_requested=never)
    assert writer.directory.exists()


# -- as a process -----------------------------------------------------------------------------


def start(spool: Path, output: Path, watched: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-P", "-m", "gviz.spool.processes.follow", str(spool), str(output)]
    return subprocess.Popen(
        [*command, "--watched", str(watched)],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_process_whose_parent_is_gone_before_it_looks_ends(
    writer: SpoolWriter, tmp_path: Path
) -> None:
    append_graph(writer)
    # The process watched is not the parent of this one: to it, the watched one has ended.
    process = start(writer.directory, tmp_path / "run.gviz", watched=os.getppid())
    try:
        # Not communicate(), which would end its standard input.
        assert process.wait(_TIMEOUT_S) == 0
    finally:
        process.communicate()
    assert state(tmp_path / "run.gviz") == ("aborted", 1)


def test_process_that_is_reported_ends_although_the_spool_is_open(
    writer: SpoolWriter, tmp_path: Path
) -> None:
    process = start(writer.directory, tmp_path / "run.gviz", watched=os.getpid())
    _, stderr = process.communicate("end\n", _TIMEOUT_S)
    assert (process.returncode, stderr) == (0, "")
    assert state(tmp_path / "run.gviz") == ("aborted", 0)


@pytest.mark.parametrize(
    ("text", "mode", "says"),
    [('mode = "0640"', 0o640, ""), ("mode = 7", 0o600, "[files] may hold mode"), (None, 0o600, "")],
)
def test_process_takes_permissions_from_the_configuration_file(
    writer: SpoolWriter,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str | None,
    mode: int,
    says: str,
) -> None:
    monkeypatch.delenv("GVIZ_MODE", raising=False)
    monkeypatch.chdir(tmp_path)
    if text is not None:
        Path("gviz.toml").write_text(f"[files]\n{text}\n")
    process = start(writer.directory, tmp_path / "run.gviz", watched=os.getpid())
    _, stderr = process.communicate("end\n", _TIMEOUT_S)
    assert process.returncode == 0
    assert bool(stderr) == bool(says)
    assert says in stderr
    assert stat.S_IMODE((tmp_path / "run.gviz").stat().st_mode) == mode


def test_process_says_why_it_cannot_write_in_one_sentence(
    writer: SpoolWriter, tmp_path: Path
) -> None:
    (tmp_path / "run.gviz").write_text("precious")
    process = start(writer.directory, tmp_path / "run.gviz", watched=os.getpid())
    _, stderr = process.communicate("end\n", _TIMEOUT_S)
    assert process.returncode == 1
    assert stderr.startswith(f"gviz: {tmp_path / 'run.gviz'} exists")
    assert len(stderr.splitlines()) == 1
    assert writer.directory.exists()


# The tables alone, empty, take 130 kB.
@pytest.mark.parametrize("limit", [16_384, 131_072], ids=["making tables", "writing rows"])
def test_full_disk_is_one_sentence_and_keeps_the_spool(
    writer: SpoolWriter, tmp_path: Path, limit: int
) -> None:
    append_graph(writer)
    writer.append(RecordType.END, b"")
    output = tmp_path / "run.gviz"
    # A limit on the size of files stands for a full disk.
    small = f"import resource as r; r.setrlimit(r.RLIMIT_FSIZE, ({limit}, {limit}))"
    text = f"{small}; from gviz.spool.processes.follow import main; raise SystemExit(main())"
    watched = ("--watched", str(os.getpid()))
    done = subprocess.run(
        [sys.executable, "-P", "-c", text, str(writer.directory), str(output), *watched],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"gviz: cannot write {output}: ")
    assert len(done.stderr.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["run.gviz-spool"]
