"""The writer: a process without CUDA that follows a spool and folds it into a recording."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


class WriterProcess:
    """A helper process that folds a spool while the program runs.

    It ends when the spool is closed, or when this process does: then it folds what there is
    and marks the run aborted, also where the spool could not be closed (the disk is full). It
    sees neither the program's environment for CUDA nor its standard streams, except stderr for a
    failure.
    """

    def __init__(self, spool: Path, output: Path, *, overwrite: bool) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "gviz.spool.processes.follow", str(spool), str(output)]
            + ["--watched", str(os.getpid())]
            + (["--overwrite"] if overwrite else []),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env=_environment(),
            # Ctrl-C goes to the whole group: the writer must outlive it.
            start_new_session=True,
        )

    def wait(self) -> None:
        """Wait until the recording is at its place."""
        # A line and not only the pipe's end: a forked child may hold the pipe open.
        self._process.communicate(b"end\n")
        if self._process.returncode != 0:
            print("gviz: the recording was not written; the spool is kept", file=sys.stderr)


def _environment() -> dict[str, str]:
    hidden = ("CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "LD_PRELOAD")
    return {k: v for k, v in os.environ.items() if k not in hidden}
