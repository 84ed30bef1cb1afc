"""The process that forks one for each work, from outside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from contract.faults.steering import Fault, Shim

#: What a work ends with that refused in a sentence, or by an error of the system.
REFUSED = 1
_TESTS = Path(__file__).resolve().parent.parent.parent


class Forked:
    """The process of forked.py.

    Parameters
    ----------
    shim
        What makes calls fail.
    folder
        Where its errors go.
    environment
        Of the backend.
    """

    def __init__(self, shim: Shim, folder: Path, environment: Mapping[str, str]) -> None:
        self.shim = shim
        self.errors = folder / "errors"
        self._said_before = 0
        path = os.pathsep.join([str(_TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
        with self.errors.open("w") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "contract.faults.forked", str(shim.library.parent)],
                env={**os.environ, **environment, **shim.environment(), "PYTHONPATH": path},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                # Faults of another session are told from its own by the session's number, and
                # that of a session begun outside a container reads as 0 inside.
                start_new_session=True,
            )

    def work(self, what: str, path: Path, fault: Fault | None) -> int:
        """Return the code that a process ended with."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        given = None if fault is None else (fault.call, fault.at, fault.error)
        self._said_before = self.errors.stat().st_size
        self._process.stdin.write(json.dumps([what, str(path), given]) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def said(self) -> str:
        """Return what the last process wrote to standard error, its end where it is long."""
        return self._said_whole()[-6000:]

    def _said_whole(self) -> str:
        with self.errors.open("rb") as errors:
            errors.seek(self._said_before)
            return errors.read().decode(errors="replace")

    def crashed_in(self) -> str:
        """Return the file name of the library whose code ended the last process by SIGSEGV."""
        _, _, stack = self._said_whole().rpartition("crashed in:\n")
        libraries = [Path(line.partition("(")[0]).name for line in stack.splitlines()]
        # Before it: the handler, and the C library's return from a signal.
        return next(name for name in libraries if not name.startswith(("shim.so", "libc.so")))

    def close(self) -> None:
        """End it."""
        self._process.communicate()
