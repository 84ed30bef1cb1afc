"""A recording that grows: what the library shows of it, from nothing to the finished file."""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from app_tree import texts
from live_spool import LiveProgram
from shown_pages import render_page

from gviz.app.components.addresses import Addresses
from gviz.app.files.library import Library
from gviz.app.files.live_recording import LiveRecording
from gviz.app.files.open_recording import ChangedError
from gviz.app.server.state import file_state
from gviz.errors import RecordingError
from gviz.spool.processes import snapshot_process
from gviz.spool.processes.all_processes import JobSpools

_PATIENCE_S = 60.0


@pytest.fixture
def program(tmp_path: Path) -> LiveProgram:
    return LiveProgram(tmp_path / "x.gviz")


@pytest.fixture
def library(program: LiveProgram) -> Iterator[Library]:
    library = Library([program.spool])
    yield library
    library.close()


@pytest.fixture
def live(library: Library) -> LiveRecording:
    (opened,) = library.files()
    assert isinstance(opened, LiveRecording)
    return opened


def wait(live: LiveRecording, question: Callable[[], Any], what: str) -> None:
    """Look as pages do, until a question has a true answer."""
    end = time.monotonic() + _PATIENCE_S
    while not question():
        assert time.monotonic() < end, f"{what} did not happen"
        file_state(live)
        time.sleep(0.05)


def graph_count(live: LiveRecording) -> int:
    return 0 if live.waiting else len(live.recording.fetch_graphs())


def fold(program: LiveProgram) -> None:
    """Fold as gviz run does once its program has ended."""
    job = JobSpools(program.spool)
    job.read()
    job.write(program.recording)


def processes_with(argument: str) -> list[str]:
    """Return the processes of this machine that were given an argument."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            if argument in entry.read_text(errors="replace").split("\0"):
                found.append(entry.parent.name)
    return found


def page(library: Library, path: str = "/", search: str = "") -> str:
    return texts(render_page(library, Addresses("/"), path, search)[0])


def test_nothing_is_made_before_somebody_looks(live: LiveRecording, library: Library) -> None:
    assert live.is_live
    assert "Recording has begun" in live.waiting
    assert not live.path.exists()
    assert live._thread is None
    shown = page(library)
    assert "recording" in shown
    assert "Recording has begun" in shown
    for place, search in (("/graph", "?file=x&graph=1"), ("/run", "?file=x&run=1")):
        assert "Recording has begun" in page(library, place, search)


def test_live_recording_grows_and_becomes_the_file(
    live: LiveRecording, program: LiveProgram, library: Library
) -> None:
    wait(live, lambda: not live.waiting, "a first snapshot")
    first = live.version
    assert "0 graphs" not in page(library)
    assert "No CUDA graph was instantiated yet" in page(library)
    program.instantiate()
    program.launch(2)
    wait(live, lambda: graph_count(live) == 1, "a graph")
    assert live.version != first
    assert "1 being recorded" in page(library)
    assert "recording" in page(library, "/graph", "?file=x&graph=1")
    program.end()
    wait(live, lambda: not live.is_live, "the end")
    assert live.path != program.recording
    assert "completed" in page(library)
    fold(program)
    wait(live, lambda: live.path == program.recording, "the recording in its place")
    assert graph_count(live) == 1
    assert "being recorded" not in page(library)


@pytest.mark.thorough
def test_aborted_program_is_shown_as_such(
    tmp_path: Path, program: LiveProgram, library: Library, live: LiveRecording
) -> None:
    program.instantiate()
    wait(live, lambda: graph_count(live) == 1, "a graph")
    program.abort()
    wait(live, lambda: not live.is_live, "the end")
    assert "aborted" in page(library)
    assert "without closing the recording" in page(library, "/run", "?file=x&run=1")


@pytest.mark.thorough
def test_values_derived_of_an_earlier_snapshot_are_not_shown(
    live: LiveRecording, program: LiveProgram
) -> None:
    program.instantiate()
    wait(live, lambda: graph_count(live) == 1, "a graph")

    def count() -> int:
        return live.derive(("launches",), lambda: live.recording.count_launches(1)[0])

    assert count() == 0
    program.launch(4)
    wait(live, lambda: count() == 4, "launches")


@pytest.mark.thorough
def test_page_of_an_earlier_snapshot_is_answered_from_it(
    live: LiveRecording, program: LiveProgram
) -> None:
    program.instantiate()
    wait(live, lambda: graph_count(live) == 1, "a graph")
    versions = [live.version]
    for count in (1, 2, 3, 4, 5):
        program.launch()
        wait(live, lambda count=count: launch_count(live) == count, "a launch")  # type: ignore[misc]
        versions.append(live.version)
    for count, version in list(enumerate(versions))[-4:]:
        with live.at(version):
            assert live.version == version
            assert launch_count(live) == count
            assert live.derive(("launches",), lambda: launch_count(live)) == count
    assert launch_count(live) == 5
    with pytest.raises(ChangedError), live.at(versions[0]):
        pass
    assert len(list(live.path.parent.glob("*.gviz"))) == 4


def launch_count(live: LiveRecording) -> int:
    return live.recording.count_launches(1)[0]


def test_program_that_leaves_nothing_says_so(
    live: LiveRecording, program: LiveProgram, library: Library
) -> None:
    shutil.rmtree(program.spool)
    wait(live, lambda: not live.is_live, "the end")
    assert "no spool" in live.waiting
    assert "no spool" in page(library)
    with pytest.raises(RecordingError, match="no spool"):
        _ = live.recording


def test_old_recording_of_the_same_name_is_not_taken_for_the_new(
    tmp_path: Path, small_recording: Path
) -> None:
    recording = Path(shutil.copy(small_recording, tmp_path / "x.gviz"))
    program = LiveProgram(recording)
    library = Library([program.spool])
    try:
        (live,) = library.files()
        assert isinstance(live, LiveRecording)
        wait(live, lambda: not live.waiting, "a snapshot")
        assert live.path != recording
        assert live.recording.fetch_runs()[0].name == "live program"
    finally:
        library.close()


def test_closing_ends_the_process_and_removes_the_snapshots(
    live: LiveRecording, library: Library
) -> None:
    wait(live, lambda: not live.waiting, "a snapshot")
    folder = live.path.parent
    assert len(processes_with(str(live.spool))) == 1
    library.close()
    assert not processes_with(str(live.spool))
    assert not folder.exists()
    live.poll()
    assert live._thread is not None
    assert not live._thread.is_alive()


def test_reader_that_ends_is_said_to_where_the_recording_would_be(
    live: LiveRecording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        snapshot_process, "own_command", lambda *_: [sys.executable, "-c", "input()"]
    )
    wait(live, lambda: not live.is_live, "its end")
    assert live.waiting == f"what reads {live.spool} has ended: open it again"
