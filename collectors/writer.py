"""Writers: processes without CUDA that follow a spool and fold it into a recording."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path
from typing import IO

from gviz.system import own_command, own_environment, say
from gviz.text import duration

#: A writer that has neither computed nor read nor written anything for so long is taken for one
#: that never will: it was stopped, or its disk does not answer.
_STILL_SECONDS = 30.0
#: One that works on for so long, and a second for each megabyte of the spool (it folds twenty in
#: that time), never ends either: a library of its may turn in circles.
_LONGEST_SECONDS = 600.0
_SLOWEST_BYTES_A_SECOND = 1e6
_POLL_SECONDS = 0.05
#: Fields of /proc/PID/stat that rise while a process works (man 5 proc): minflt, cminflt, majflt,
#: cmajflt, utime, stime, cutime, cstime, counted from field 3 on.
_WORK = slice(7, 15)


class _Writer:
    """A process of gviz's own that is told when there is nothing more to come.

    It sees neither the program's environment for CUDA and Python nor its standard streams, except
    stderr for its sentence.
    """

    def __init__(
        self, module: str, arguments: list[str], spool: Path, output: Path, lock: int | None = None
    ) -> None:
        self._spool = spool
        self._output = output
        self._process = subprocess.Popen(
            own_command(module, str(spool), str(output), *arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            # Where ours is closed, what the writer opens must not become its own.
            stderr=subprocess.DEVNULL if sys.__stderr__ is None else None,
            env=_environment(),
            # Ctrl-C goes to the whole group: the writer must outlive it.
            start_new_session=True,
            pass_fds=() if lock is None else (lock,),
        )

    def finish(self, last_line: str) -> None:
        """Send the writer its last line, and wait until it ends or works no more.

        Never raises for what happens to the writer; a sentence on stderr says it.
        """
        # A line and not only the pipe's end: a forked child may hold the pipe open.
        stdin: IO[bytes] | None = self._process.stdin
        assert stdin is not None
        with contextlib.suppress(OSError):
            stdin.write(f"{last_line}\n".encode())
            stdin.close()
        stuck = self._await_end()
        if stuck:
            self._process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(1)
            self._say_failure(f"its writer, process {self._process.pid}, {stuck} and was ended")
        elif self._process.returncode < 0:
            self._say_failure(f"its writer was ended by signal {-self._process.returncode}")

    def _await_end(self) -> str:
        """Wait while the writer works; return what it does instead of ending, or ""."""
        before, still, awaited = "", 0.0, 0.0
        longest = _LONGEST_SECONDS
        # Steps are counted and no clock is read: it goes on where all of us stand still.
        while still < _STILL_SECONDS:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_POLL_SECONDS)
                return ""
            now = _work_of(self._process.pid)
            still = still + _POLL_SECONDS if now == before else 0.0
            before = now
            awaited += _POLL_SECONDS
            if awaited > longest:
                # Not asked for before: a disk that does not answer would hold the program up.
                longest = _LONGEST_SECONDS + _size_of(self._spool) / _SLOWEST_BYTES_A_SECOND
                if awaited > longest:
                    return f"worked for {duration(longest * 1e9)}"
        return f"did nothing for {_STILL_SECONDS:g} s"

    def _say_failure(self, why: str) -> None:
        say(f"gviz: {self._output} was not written: {why}; 'gviz info {self._spool}' makes the "
            "recording of what is left there")  # fmt: skip


class WriterProcess(_Writer):
    """The writer of ``gviz.profile``, which folds the spool of the process that started it.

    It ends when the spool is closed, or when this process does: then it folds what there is
    and marks the run aborted, also where the spool could not be closed (the disk is full).
    """

    def __init__(self, spool: Path, output: Path, *, overwrite: bool) -> None:
        arguments = ["--watched", str(os.getpid()), *(["--overwrite"] if overwrite else [])]
        super().__init__("gviz.spool.processes.follow", arguments, spool, output)

    def wait(self) -> None:
        """Wait until the recording is at its place, or cannot be written."""
        self.finish("end")


class JobWriter(_Writer):
    """The writer of ``gviz run``, which folds the spools of all processes of a program.

    Nothing that happens to it changes how the program ends. Where ``gviz run`` is killed before
    the program has ended, it ends and leaves the spools as they are.

    Parameters
    ----------
    lock
        Open file that says that the spool is attended (:func:`gviz.spool.attend`).
    """

    def __init__(self, spool: Path, output: Path, *, overwrite: bool, lock: int) -> None:
        arguments = ["--overwrite"] if overwrite else []
        super().__init__("gviz.spool.processes.follow_job", arguments, spool, output, lock)

    def wait(self, process_id: int, exit_code: int) -> None:
        """Have the recording written, now that the program has ended, and wait for it.

        Parameters
        ----------
        process_id, exit_code
            Of the program; above 128: ended by the signal of the rest.
        """
        self.finish(f"{process_id} {exit_code}")


def _environment() -> dict[str, str]:
    hidden = ("CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "LD_PRELOAD")
    return {k: v for k, v in own_environment().items() if k not in hidden}


def _size_of(folder: Path) -> int:
    """Return the bytes of the files below a folder that are still there."""
    size = 0
    for file in folder.rglob("*"):
        with contextlib.suppress(OSError):
            size += file.stat().st_size
    return size


def _work_of(process_id: int) -> str:
    """Return figures that change while a process works."""
    try:
        stat = Path(f"/proc/{process_id}/stat").read_text(errors="replace")
        fields = stat.rpartition(")")[2].split()[_WORK]
        return " ".join(fields) + Path(f"/proc/{process_id}/io").read_text()
    except OSError:  # it ends, or the system does not say
        return ""
