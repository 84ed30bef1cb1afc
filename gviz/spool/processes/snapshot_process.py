"""The process beside a viewer that makes snapshots of a spool, as what asks it sees it."""

from __future__ import annotations

import contextlib
import json
import select
import subprocess
from pathlib import Path

from gviz.errors import SpoolError
from gviz.spool.processes.snapshot import Answer
from gviz.system import own_command, own_environment
from gviz.text import duration

#: How long a snapshot is waited for: of a long run it takes half a minute.
_PATIENCE_S = 300.0
#: How long its end is waited for, once its input has ended.
_END_S = 5.0


class SnapshotProcess:
    """A process that makes snapshots (:mod:`gviz.spool.processes.snapshot`); RUNNING -> ENDED.

    Parameters
    ----------
    spool
        The job's directory.
    output
        Where each snapshot goes, in one step.
    """

    def __init__(self, spool: Path, output: Path) -> None:
        self._spool = spool
        self._process = subprocess.Popen(
            own_command("gviz.spool.processes.snapshot", str(spool), str(output)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=own_environment(),
            # Ctrl-C in the terminal is for who asks, which then ends it in order.
            start_new_session=True,
        )

    def __enter__(self) -> SnapshotProcess:
        """Return the process, which ends with the block."""
        return self

    def __exit__(self, *error: object) -> None:
        """End it."""
        self.close()

    def close(self) -> None:
        """End it, also where a call of its never returns."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            # A call for a disk that does not answer outlives this, too.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_S)
        self._process.stdout.close()

    def request(self, patience_s: float = _PATIENCE_S) -> Answer:
        """Return what came of a request for a snapshot.

        Raises
        ------
        SpoolError
            If there is no answer within ``patience_s`` seconds, or none will come: then the
            process is ended.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write("\n")
            self._process.stdin.flush()
            # Each answer is one line, and nothing of the one before is left.
            answers, _, _ = select.select([self._process.stdout], [], [], patience_s)
            line = self._process.stdout.readline() if answers else None
        except BrokenPipeError:
            line = ""
        if line:
            return Answer(**json.loads(line))
        self._process.kill()
        if line is None:
            raise SpoolError(
                f"no snapshot of {self._spool} came within {duration(1e9 * patience_s)}: look "
                "whether its disk answers, then open it again"
            )
        raise SpoolError(f"what reads {self._spool} has ended: open it again")
