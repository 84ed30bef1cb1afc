"""The process that samples GPUs, as the writer that started it sees it."""

from __future__ import annotations

import contextlib
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from gviz.spool.records import GPU_STATES
from gviz.spool.streams import Contents
from gviz.system import own_command, own_environment

if TYPE_CHECKING:
    import subprocess

#: How long its end is waited for: a call that never returns outlives even a kill.
_END_S = 1.0


class GpuSampler:
    """Has the GPUs of a program sampled (:mod:`gviz.spool.processes.gpu_states`).

    IDLE until a GPU is used -> SAMPLING -> ENDED.

    Parameters
    ----------
    spool
        Directory of the program's first process, which gets the file.
    """

    def __init__(self, spool: Path) -> None:
        self._file = spool / GPU_STATES
        self._process: subprocess.Popen[bytes] | None = None
        self._watched: set[str] = set()

    def __enter__(self) -> GpuSampler:
        """Return the sampler, which ends with the block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it."""
        self.close()

    def watch(self, contents: Contents) -> None:
        """Have the GPUs sampled that a process uses by now."""
        self._say_if_ended()
        for bus_id in {device.pci_bus_id for device in contents.devices} - self._watched:
            self._watched.add(bus_id)
            try:
                self._process = self._process or self._start()
                assert self._process.stdin is not None
                self._process.stdin.write(f"{bus_id}\n".encode())
            except BrokenPipeError:
                self._say_if_ended()
            except OSError as error:
                self._say(f"no process was to be had that samples it ({error.strerror or error})")

    def close(self) -> None:
        """End the process."""
        if self._process is None:
            return
        import subprocess

        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_S)

    def _say_if_ended(self) -> None:
        """Say that the process ended where it has not said why itself."""
        code = None if self._process is None else self._process.poll()
        with contextlib.suppress(OSError):
            if code is not None and self._file.stat().st_size == 0:
                self._say(f"the process that samples it ended with code {code}")

    def _say(self, failure: str) -> None:
        from gviz.spool.processes.gpu_states import write_failure

        with contextlib.suppress(OSError):  # the recording has nobody who looked
            write_failure(self._file, failure)

    def _start(self) -> subprocess.Popen[bytes]:
        import subprocess  # not while a program begins that has used no GPU yet

        self._file.touch()  # says that somebody looked, were the run over before the first sample
        return subprocess.Popen(
            own_command("gviz.spool.processes.gpu_states", str(self._file)),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=own_environment(),
            bufsize=0,
        )
