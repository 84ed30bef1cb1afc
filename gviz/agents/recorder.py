"""The recorder: runs a command that a client names, under ``gviz run``, after it was shown.

Only a server that was started with ``--allow-record`` has one: who may ask it may run programs.
"""

from __future__ import annotations

import os
import re
import secrets
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from pathlib import Path
from typing import IO

from gviz.dataclass import dataclass
from gviz.errors import CollectorError, UsageError
from gviz.system import say

#: Seconds that a command may take, and takes at most where nothing is said.
MOST_SECONDS, SECONDS = 3_600.0, 300.0
#: Characters of a command: it is shown whole.
_COMMAND = 2_000
#: Commands that were shown and wait to be confirmed.
_WAITING = 16
#: Bytes of the program's output that are kept: the last ones.
_KEPT = 4_000
#: Seconds from the request to end until the recording is written.
_GRACE = 60.0
_NAME = re.compile(r"[A-Za-z0-9_][\w.-]{0,99}", re.ASCII)


@dataclass(frozen=True, slots=True)
class RecordingPlan:
    """A command to run, for so long at most, and the recording that it makes."""

    command: tuple[str, ...]
    seconds: float
    output: Path

    @property
    def command_text(self) -> str:
        """The command line that is run."""
        shown = ["gviz", "run", "-o", str(self.output), *self.command]
        return shlex.join(shown)


@dataclass(frozen=True, slots=True)
class RecordedProgram:
    """The end of a program: ``exit_code`` is that of ``gviz run``; ``lines`` its last output."""

    plan: RecordingPlan
    exit_code: int
    took_ns: int
    is_overdue: bool
    lines: tuple[str, ...]


class Recorder:
    """Runs commands, one at a time, each after it was shown.

    Parameters
    ----------
    folder
        Where recordings go; commands are run where the server was started.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._waiting: OrderedDict[str, RecordingPlan] = OrderedDict()
        self._busy = threading.Lock()

    def plan(
        self, command: tuple[str, ...], name: str, seconds: float
    ) -> tuple[str, RecordingPlan]:
        """Return a plan, and the word that confirms it, once.

        Raises
        ------
        UsageError
            If there can be no such recording.
        """
        if not 0 < seconds <= MOST_SECONDS:
            raise UsageError(f"seconds must be above 0 and at most {MOST_SECONDS:g}")
        if _NAME.fullmatch(name) is None:
            raise UsageError("name must be letters, digits, _, - and . only: it names a file here")
        if command[0].startswith("-"):
            raise UsageError("program must not begin with -; it is a script, or a command")
        output = self._folder / (name if name.endswith(".gviz") else f"{name}.gviz")
        if output.exists():
            raise UsageError(f"there is a recording {output.name} already; choose another name")
        plan = RecordingPlan(command, seconds, output)
        if len(plan.command_text) > _COMMAND or not plan.command_text.isprintable():
            raise UsageError(
                f"a command has one line of at most {_COMMAND:,} characters that can be shown; "
                "put more into a script"
            )
        word = secrets.token_hex(4)
        self._waiting[word] = plan
        while len(self._waiting) > _WAITING:
            self._waiting.popitem(last=False)
        return word, plan

    def record(self, word: str) -> RecordedProgram:
        """Run a command that was shown, until it ends or its time is over.

        Raises
        ------
        UsageError
            If the word confirms nothing, or another command is being run.
        CollectorError
            If ``gviz run`` cannot be started.
        """
        if not self._busy.acquire(blocking=False):
            raise UsageError("another recording is being made; ask again when it has ended")
        try:
            plan = self._waiting.pop(word, None)
            if plan is None:
                raise UsageError(
                    "confirm is not a word of an answer, or was used; ask with program and name"
                )
            say(f"gviz mcp: runs {plan.command_text}, for {plan.seconds:g} s at most")
            return _run(plan)
        finally:
            self._busy.release()


def _run(plan: RecordingPlan) -> RecordedProgram:
    # As a user types it, with the environment that programs expect.
    command = [sys.executable, "-P", "-m", "gviz", "run", "-o", str(plan.output), *plan.command]
    began = time.monotonic_ns()
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        raise CollectorError(f"gviz run cannot be started: {error.strerror}") from error
    assert process.stdout is not None
    tail = _Tail(process.stdout)
    is_overdue = False
    try:
        process.wait(plan.seconds)
    except subprocess.TimeoutExpired:
        is_overdue = True
        _end(process)
    took_ns = time.monotonic_ns() - began
    return RecordedProgram(plan, process.returncode, took_ns, is_overdue, tail.lines())


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program: gviz run hands the signal on, and writes what it has recorded."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class _Tail:
    """The last of a program's output; the rest is read and dropped, however much it is."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._kept = stream, b""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while content := os.read(self._stream.fileno(), 1 << 16):
            self._kept = (self._kept + content)[-_KEPT:]
        self._stream.close()

    def lines(self) -> tuple[str, ...]:
        """Return its lines, when the program has ended; children of it may go on writing."""
        self._thread.join(1.0)
        return tuple(self._kept.decode(errors="replace").splitlines())
