"""A recording that is still being made, shown as it grows."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

from gviz.app.files.kept import Kept
from gviz.app.files.open_recording import GoneError, OpenRecording
from gviz.app.files.scratch import Scratch
from gviz.errors import SpoolError
from gviz.spool import SPOOL_SUFFIX, Answer, SnapshotProcess

#: Between two snapshots at least; and so many times as long as the last one took, so that
#: looking at a long run does not keep a core busy beside it.
_LEAST_PAUSE_S = 1.0
_PAUSE_RATIO = 4.0
#: How long closing waits for a snapshot under way.
_CLOSE_SECONDS = 5.0

_WAITING = (
    "Recording has begun; the program has not reported anything yet. It appears here by itself."
)
_NOTHING = (
    "The program ended and left no recording: no process initialised CUDA where gviz could see it."
)
#: Snapshots kept for pages that show them and have not heard of the next yet.
_KEPT_SNAPSHOTS = 4


class LiveRecording(OpenRecording):
    """Snapshots of a spool, then the recording it becomes.

    State: WAITING (no snapshot yet) -> GROWING -> OVER (nothing more will come) -> FINISHED (the
    recording is in its place and is shown instead of the last snapshot). A process beside this
    one makes the snapshots (:mod:`gviz.spool.processes.snapshot`), and only while somebody looks:
    :meth:`poll`.

    Parameters
    ----------
    key
        As of :class:`OpenRecording`.
    spool
        The directory of the spools.
    kept
        As of :class:`OpenRecording`.
    scratch
        Where snapshots are put.
    """

    def __init__(self, key: str, spool: Path, kept: Kept, scratch: Scratch) -> None:
        self.spool = spool
        self._output = spool.with_name(spool.name.removesuffix(SPOOL_SUFFIX))
        self._output_before = _identity(self._output)
        self._scratch = scratch
        self._state = "WAITING"
        self._failure = ""
        self._wanted = threading.Event()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        #: Snapshots by version, the latest last.
        self._snapshots: dict[str, Path] = {}
        super().__init__(key, scratch.new_path(".gviz"), kept)
        self.name = self._output.name

    def _check(self) -> None:
        """Nothing is there to be opened yet."""

    @property
    def place(self) -> str:
        """Return the place where the recording is, or will be."""
        return str(self._output)

    @property
    def is_live(self) -> bool:
        """Return whether more may come."""
        return self._state in ("WAITING", "GROWING")

    @property
    def is_followed(self) -> bool:
        """Return whether the finished recording is still to come, or more before it."""
        return self._state != "FINISHED"

    @property
    def waiting(self) -> str:
        """Return the reason why there is nothing to show yet; "" when there is."""
        if self._state == "FINISHED" or self._snapshots:
            return ""
        return self._failure or (_WAITING if self.is_live else _NOTHING)

    @property
    def version(self) -> str:
        """As of the file; another one while there is none."""
        return self._state if self.waiting else super().version

    def poll(self) -> None:
        """Have a new snapshot made if there is more, and none is being made."""
        if self._state == "FINISHED" or self._closed.is_set():
            return
        found = _identity(self._output)
        if found is not None and found != self._output_before:
            self.path = self._output
            self._state = "FINISHED"
            self._stop()
        elif self._state != "OVER":
            self._wanted.set()
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, daemon=True)
                self._thread.start()

    # -- the process that makes snapshots --------------------------------------------------

    def _work(self) -> None:
        """Ask for a snapshot whenever one is wanted, until nothing more will come."""
        fresh = self._scratch.new_path(".gviz")
        with SnapshotProcess(self.spool, fresh) as process:
            while self.is_live and not self._closed.is_set():
                self._wanted.wait()
                self._wanted.clear()
                if self._closed.is_set():
                    break
                began = time.monotonic()
                self._take(_answer_of(process), fresh)
                took = time.monotonic() - began
                self._closed.wait(max(_LEAST_PAUSE_S, _PAUSE_RATIO * took))

    def _take(self, answer: Answer, fresh: Path) -> None:
        """Take a new snapshot in, and release the oldest."""
        self._failure = answer.failure
        if self._state == "FINISHED":
            return
        if answer.written:
            path = fresh.rename(self._scratch.new_path(".gviz"))
            self._snapshots = {**self._snapshots, self._version_of(path): path}
            self.path = path
            for version in list(self._snapshots)[:-_KEPT_SNAPSHOTS]:
                self._snapshots.pop(version).unlink(missing_ok=True)
        if answer.is_over:
            self._state = "OVER"
        elif answer.written:
            self._state = "GROWING"

    def _versions(self) -> set[str]:
        return set(self._snapshots)

    def _find(self, version: str | None) -> Path:
        """Return the snapshot of a version: a page may show one that is not the latest."""
        if self.waiting and version == self._state:
            return self.path
        found = self._snapshots.get(version or "")
        return super()._find(version) if found is None else found

    def _version_of(self, path: Path) -> str:
        try:
            return super()._version_of(path)
        except GoneError:
            if path == self.path:
                raise
            raise self._changed() from None  # a snapshot that made room

    def _stop(self) -> None:
        self._closed.set()
        self._wanted.set()

    def close(self) -> None:
        """End the process that makes snapshots."""
        self._stop()
        if self._thread is not None:
            self._thread.join(_CLOSE_SECONDS)


def _answer_of(process: SnapshotProcess) -> Answer:
    """Return what a request came to; one without an answer is the last."""
    try:
        return process.request()
    except SpoolError as error:
        return Answer(is_over=True, failure=str(error))


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what distinguishes a file from one that replaces it; None: there is no file."""
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns
