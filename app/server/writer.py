"""A command that writes a file for a page: one at a time, stopped when nobody waits for it."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Sequence

from gviz.errors import RecordingError
from gviz.system import own_environment

#: Each takes a processor for seconds: those that are requested meanwhile wait.
_ONE_AT_A_TIME = threading.Lock()
#: From the request on. A graph of 100,000 nodes takes some minutes of one processor.
MOST_SECONDS = 900.0
#: Between two looks at whether somebody still waits.
_LOOK_SECONDS = 0.25
#: What the command line puts before an error.
_FAILED = "gviz: "


def run_writer(command: Sequence[str], is_gone: Callable[[], bool]) -> None:
    """Run a command of gviz that writes a file, after those that were requested before.

    Parameters
    ----------
    command
        See :func:`gviz.system.own_command`.
    is_gone
        Whether the page that wants the file is gone.

    Raises
    ------
    RecordingError
        If the command fails, has not ended in :data:`MOST_SECONDS`, or nobody waits for it: it is
        stopped then.
    """
    patience = _Patience(is_gone)
    while not _ONE_AT_A_TIME.acquire(timeout=_LOOK_SECONDS):
        patience.check()
    try:
        _run(command, patience)
    finally:
        _ONE_AT_A_TIME.release()


class _Patience:
    """Wait for a command: while a reader is there, and for some time. Single use."""

    def __init__(self, is_gone: Callable[[], bool]) -> None:
        self._is_gone = is_gone
        self._end = time.monotonic() + MOST_SECONDS

    def check(self) -> None:
        """Raise RecordingError when that is over."""
        if self._is_gone():
            raise RecordingError("the page that wanted the file is gone: it is not written")
        if time.monotonic() > self._end:
            raise RecordingError(
                f"the file was not written in {MOST_SECONDS / 60:g} minutes: save fewer launches, "
                "or write it without the server, 'gviz export --html FILE'"
            )


def _run(command: Sequence[str], patience: _Patience) -> None:
    with subprocess.Popen(
        command,
        env=own_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            reported = _wait(process, patience)
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        raise RecordingError(_reason(reported))


def _wait(process: subprocess.Popen[str], patience: _Patience) -> str:
    """Return what a process reports, once it has ended."""
    while True:
        try:
            return process.communicate(timeout=_LOOK_SECONDS)[1]
        except subprocess.TimeoutExpired:
            patience.check()


def _reason(reported: str) -> str:
    """Return the sentence with which a command failed."""
    lines = [line for line in reported.splitlines() if line.startswith(_FAILED)]
    return lines[-1].removeprefix(_FAILED) if lines else "the file could not be written"
